// The Source tab: a function's source with the values of each line, wherever it was inlined.

import { shortFunc } from "../data/names.js";
import { createAnswer } from "./answer.js";
import { callData, callsQuestion, chosenMetric, shownMetrics, valueOf, valueText } from "../model/calls.js";
import { createCallsBar } from "./callsbar.js";
import { createFunctionField, lookedAt } from "./callersview.js";
import { lineCosts } from "../model/callgraph.js";
import { isShown, make, restLater } from "../view/make.js";
import { percentText } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** The share of the hottest line's value from which on lines are marked. */
const hotShare = 0.75;

/**
 * Returns the source excerpt that contains most of a function's lines with values; null: the page has none.
 * @param {import("../data/samples.js").Samples} s @param {number} func
 */
export function excerptOf(s, func) {
  const hits = new Map();
  for (let f = 1; f < s.frameFunc.length; f++) {
    if (s.frameFunc[f] !== func) continue;
    for (const x of s.sources) {
      if (x.file === s.frameFile[f] && s.frameLine[f] >= x.from && s.frameLine[f] < x.from + x.lines.length) hits.set(x, (hits.get(x) ?? 0) + 1);
    }
  }
  return [...hits].sort((a, b) => b[1] - a[1] || a[0].lines.length - b[0].lines.length)[0]?.[0] ?? null;
}

/**
 * Returns the compiler's treatment of the calls of a line, as comments before it.
 * @param {import("../data/samples.js").Samples} s @param {number} file @param {number} line
 * @param {string} text of the line
 */
export function commentary(s, file, line, text) {
  const indent = text.slice(0, text.length - text.trimStart().length);
  return s.calls.filter((c) => c.file === file && c.line === line).map((c) => `${indent}// call of ${shortFunc(c.to)}, ${c.text}`);
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createSource(app) {
  const bar = createCallsBar(app);
  const field = createFunctionField(app, "source");
  const title = make("h2");
  const none = make("p", { class: "quiet" });
  const body = make("tbody");
  const head = make("tr");
  const table = make("table", { class: "source" }, make("thead", null, head), body);
  const content = make("div", null, title, none, table);
  const element = make("div", { class: "sources" }, make("div", { class: "bar-of-tools" }, field.element, bar.element), content);
  const answer = createAnswer(content, "Summing up…");
  const question = () => callsQuestion(app) + app.calls.func;

  function update() {
    if (!isShown(element)) return;
    app.model.wantSamples();
    answer.asks(question());
    bar.update();
    field.update();
    later();
  }

  /** Returns a line's mark: "" for a line without code, "0." for one without samples, else its value. */
  function mark(data, cost, side, m, coded) {
    if (!cost) return coded ? "0." : "";
    const v = valueOf(data, cost[side], m);
    return v === 0 ? (data.samples.metrics[m].unit === "nanoseconds" ? "0.000" : "0") : valueText(app, m, v);
  }

  function fill() {
    if (!isShown(element)) return;
    answer.answers(question());
    const data = callData(app);
    const func = data ? lookedAt(app, data) : -1;
    const x = data && func > 0 ? excerptOf(data.samples, func) : null;
    table.hidden = !x;
    none.hidden = x !== null;
    title.textContent = "";
    if (!data || func <= 0) {
      none.textContent = data && app.calls.func ? `${shortFunc(app.calls.func)} has no values here.` : bar.nothing();
      return;
    }
    const { samples: s } = data;
    if (!x) {
      none.textContent = `The source of ${shortFunc(s.funcs[func])} is not in this page, which has the sources that were found for the hottest functions. scopeview source TRACE FUNCTION shows it.`;
      return;
    }
    title.textContent = `${shortFunc(s.funcs[func])}, ${s.files[x.file]}`;
    const metrics = shownMetrics(app);
    const m = chosenMetric(app);
    const total = valueOf(data, data.total.incl, m) || 1;
    const costs = lineCosts(s, data.weights, x.file);
    const code = x.code && new Set(x.code);
    const most = Math.max(...x.lines.map((_, k) => excl(data, costs.get(x.from + k), m)));
    head.replaceChildren(...metrics.flatMap((k) => ["e", "i"].map((side) => make("th", { scope: "col", class: "number", text: `${side}.${s.metrics[k].name}` }))),
      make("th", { scope: "col", class: "number", text: "%" }), make("th", { scope: "col", class: "number", text: "line" }), make("th", { scope: "col", text: "source" }));
    const span = String(2 * metrics.length + 2);
    body.replaceChildren(...x.lines.flatMap((text, k) => {
      const line = x.from + k;
      const cost = costs.get(line);
      const own = excl(data, cost, m);
      const cells = metrics.flatMap((n) => /** @type {("excl"|"incl")[]} */ (["excl", "incl"]).map((side) => make("td", { class: "number", text: mark(data, cost, side, n, code?.has(line)) })));
      const share = own > 0 ? percentText(own / total) : "";
      const before = commentary(s, x.file, line, text).map((comment) => make("tr", { class: "said" }, make("td", { colspan: span }), make("td", { class: "mono quiet", text: comment })));
      return [...before, make("tr", { class: most > 0 && own >= hotShare * most ? "hot" : null }, ...cells, make("td", { class: "number", text: share }), make("td", { class: "number quiet", text: String(line) }), make("td", { class: "mono", text }))];
    }));
    const why = code ? "" : "Which lines have code is unknown here: a line without a value may have code or none.";
    none.hidden = why === "";
    none.textContent = why;
  }

  const excl = (data, cost, m) => (cost ? valueOf(data, cost.excl, m) : 0);
  const later = restLater(fill);
  return { element, update };
}
