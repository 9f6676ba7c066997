// The Functions tab: the exclusive and inclusive values of each function, and the differences of two selections.

import { shortFunc } from "../data/names.js";
import { createAnswer } from "./answer.js";
import { callData, callsQuestion, chosenMetric, leastMark, shownMetrics, valueOf, valueText } from "../model/calls.js";
import { createCallsBar } from "./callsbar.js";
import { createSortable } from "./sortable.js";
import { differenceText } from "../model/difference.js";
import { functionCosts, weigh } from "../model/callgraph.js";
import { isShown, make, restLater } from "../view/make.js";
import { percentText } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** Returns the columns of the shown metrics. */
function costColumns(app, data) {
  const list = [];
  const metrics = shownMetrics(app);
  metrics.forEach((m, k) => {
    const { name, title } = data().samples.metrics[m];
    for (const side of /** @type {("excl"|"incl")[]} */ (["excl", "incl"])) {
      const value = (r) => valueOf(data(), r[side], m);
      const total = () => valueOf(data(), data().total.incl, m) || 1;
      const mark = (r) => (side === "incl" ? leastMark(data(), r, m) : "");
      list.push({
        key: `${side[0]}.${name}`, title: `${side[0]}.${name}`, hint: `${side === "excl" ? "In the function itself" : "In the function and its callees"}: ${title}`, numeric: true,
        value, text: (r) => mark(r) + valueText(app, m, value(r)), share: (r) => (k === 0 ? value(r) / total() : 0), bar: side === "excl" ? "self" : "total",
      });
      if (k === 0) list.push({ key: `${side}%`, title: "%", hint: "Share of the selection", numeric: true, value, text: (r) => mark(r) + percentText(value(r) / total()) });
    }
  });
  return list;
}

/** Returns the columns of a comparison: before, now, difference. */
function contrastColumns(app, d) {
  const value = (key) => (r) => r[key];
  const slow = d.b.executions !== undefined;
  const each = slow ? "; for one execution" : "";
  const unit = (r) => r.metric ?? chosenMetric(app);
  const text = (key) => (r) => valueText(app, unit(r), r[key]);
  const more = (r) => r.b - r.a;
  return [
    { key: "b", title: slow ? "slow" : "now", hint: d.b.label + each, numeric: true, value: value("b"), text: text("b") },
    { key: "a", title: slow ? "others" : "before", hint: d.a.label + each, numeric: true, value: value("a"), text: text("a") },
    { key: "more", title: "difference", numeric: true, value: more, text: (r) => `${more(r) < 0 ? "-" : "+"}${valueText(app, unit(r), Math.abs(more(r)))}` },
  ];
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createFunctions(app) {
  const bar = createCallsBar(app);
  const none = make("p", { class: "quiet" });
  const sentence = make("p", { class: "said" });
  const notes = make("ul", { class: "quiet" });
  const tables = make("div", { class: "tables" });
  const body = make("div", null, none, sentence, tables, notes);
  const element = make("div", { class: "functions" }, make("div", { class: "bar-of-tools" }, bar.element), body);
  const answer = createAnswer(body, "Summing up…");
  const question = () => callsQuestion(app);
  let data = null;
  let kind = "";
  let filled = []; // the tables
  const look = (r) => app.showFunc(data.samples.funcs[r.func], "callers");
  const nameOf = (r) => shortFunc(data.samples.funcs[r.func]);
  const nameColumn = { key: "name", title: "function", pick: true, value: nameOf };

  /** Describes a place. */
  function placeText(metric, frame) {
    const s = data.samples;
    const line = s.metrics[metric].sampled || s.frameLine[frame] === 0 ? "" : `:${s.frameLine[frame]}`;
    const file = s.files[s.frameFile[frame]];
    return shortFunc(s.funcs[s.frameFunc[frame]]) + (file ? `, ${file}${line}` : "");
  }

  /** Replaces the tables if they are of another kind. */
  function tablesOf(next, makeTables) {
    if (kind === next) return;
    kind = next;
    filled = makeTables();
    tables.replaceChildren(...filled.map((table) => table.element));
  }

  function fillFunctions() {
    tablesOf(shownMetrics(app).join(), () => {
      const columns = [nameColumn, ...costColumns(app, () => data)];
      return [createSortable({ caption: "Functions", columns, by: columns[1].key, id: (r) => r.func, pick: look })];
    });
    filled[0].set([...data.costs.values()]);
  }

  function fillDifference(d) {
    const m = chosenMetric(app);
    const metricName = (metric) => data.samples.metrics[metric].name;
    tablesOf(JSON.stringify([m, d.a.label, d.b.label]), () => {
      const what = { key: "what", title: "what", value: (r) => metricName(r.metric) };
      const columns = contrastColumns(app, d);
      const where = { key: "where", title: "where", pick: true, value: (r) => placeText(r.metric, r.frame) };
      return [
        createSortable({ caption: "By metric", columns: [...columns, what], by: "more" }),
        createSortable({ caption: "By place", columns: [where, ...columns, what], by: "more", limit: 20, id: (r) => `${r.metric}-${r.frame}`, pick: (r) => look({ func: data.samples.frameFunc[r.frame] }) }),
        createSortable({ caption: `Functions, i.${metricName(m)}`, columns: [nameColumn, ...columns], by: "more", limit: 50, id: (r) => r.func, pick: look }),
      ];
    });
    [d.metrics, d.places, functionContrasts(data.samples, d, m)].forEach((rows, k) => filled[k].set(rows));
    const text = differenceText(data.samples, d, { span: (v) => app.span(v), share: percentText, place: placeText });
    sentence.textContent = text || "The selection has no more than what it is compared with.";
  }

  function update() {
    if (!isShown(element)) return;
    app.model.wantSamples();
    answer.asks(question());
    bar.update();
    later();
  }

  function fill() {
    if (!isShown(element)) return;
    answer.answers(question());
    data = callData(app);
    none.hidden = data !== null && (data.costs.size > 0 || data.difference !== null);
    none.textContent = none.hidden ? "" : bar.nothing();
    sentence.textContent = data && !data.difference && app.calls.scope !== "" && app.calls.executions === "compare" ? "The number of executions in the selection is unknown here, so they are not compared. These are the values of the slow ones." : "";
    tables.hidden = !none.hidden;
    notes.replaceChildren(...(data?.samples.notes ?? []).map((text) => make("li", { text })));
    sentence.hidden = true;
    if (!data) return;
    if (data.difference) fillDifference(data.difference);
    else fillFunctions();
    sentence.hidden = sentence.textContent === "";
  }

  const later = restLater(fill);
  return { element, update };
}

/** Returns the inclusive values of functions in both selections. */
function functionContrasts(s, d, m) {
  const parts = s.parts(m);
  const list = new Map();
  for (const side of /** @type {("a"|"b")[]} */ (["a", "b"])) {
    const { choice, executions } = d[side];
    for (const cost of functionCosts(s, weigh(s, choice, parts)).values()) {
      if (!list.has(cost.func)) list.set(cost.func, { func: cost.func, a: 0, b: 0 });
      list.get(cost.func)[side] = cost.incl.reduce((sum, v) => sum + v, 0) / Math.max(1, executions ?? 1);
    }
  }
  return [...list.values()];
}
