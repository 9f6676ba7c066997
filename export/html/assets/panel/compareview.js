// The Compare tab: the differences from another trace of the program by name, in waits, in
// states, and in the doctor's findings.

import { createAnswer, setPending } from "./answer.js";
import { colorOf } from "../view/color.js";
import { compareSteps, findingsBetween, pairedBuckets, timesByState } from "../model/compare.js";
import { createSortable } from "./sortable.js";
import { inSlices, oneAtATime } from "../data/slices.js";
import { isShown, make, makeButton, nameText } from "../view/make.js";
import { openPage } from "../model/source.js";
import { stateText } from "../data/states.js";
import { summarySteps } from "../model/stats.js";
import { percentText, thousands } from "../view/numbers.js";

/**
 * @typedef {import("../model/compare.js").NameDifference} NameDifference
 * @typedef {import("../model/model.js").Model} Model
 */
/** @import { App } from "../app.js" */

/** Formats a change: "+58%", "−3%", "3.1×". @param {number} a @param {number} b */
export function changeText(a, b) {
  if (!(a > 0)) return b > 0 ? "new" : "";
  const by = b / a;
  if (by >= 3) return `${by.toFixed(1)}×`;
  return by === 1 ? "0%" : `${by < 1 ? "−" : "+"}${percentText(Math.abs(by - 1))}`;
}

/** Returns a sentence about the change of one name's durations. @param {App} app @param {NameDifference} d */
function nameSentence(app, d) {
  const at = (/** @type {"p50"|"p99"} */ q) => {
    const [a, b] = [d.a[q], d.b[q]];
    return `${app.span(a)} → ${app.span(b)} (${changeText(a, b)})`;
  };
  if (d.verdict === "new" || d.verdict === "gone") return `${nameText(d.name)} is only in ${d.verdict === "new" ? "B" : "A"}.`;
  const test = Number.isNaN(d.effect) ? "" : `; in ${percentText(d.effect)} of all pairs of durations, the one of B is longer`;
  return `${nameText(d.name)}: ${d.verdict}: p50 ${at("p50")}, p99 ${at("p99")}${test}.`;
}

/** @param {App} app */
export function createCompare(app) {
  let perSecond = false;
  /** The versions of the data compared. */
  let drawn = "";
  /** @type {NameDifference[]} */
  let differences = [];
  const one = oneAtATime(() => fill());
  const head = make("h2", { text: "Compare" });
  const file = make("input", { type: "file", accept: ".html,text/html", hidden: true, onchange: () => { if (file.files[0]) take(file.files[0]); } });
  const open = makeButton("Compare with…", () => file.click(), { title: "Choose another page made by scopeview html, or drop it on this one" });
  const rate = makeButton("per second", () => {
    perSecond = !perSecond;
    drawn = "";
    fill();
  }, { title: "Totals per second of the run, because runs differ in length" });
  const note = make("p", { class: "quiet", role: "status" });
  const figure = make("div", { class: "compared" });
  const lengths = () => (perSecond ? [app.model.end / 1e9, (app.other?.end ?? 0) / 1e9] : [1, 1]);
  const total = (/** @type {NameDifference} */ d, /** @type {0|1} */ side) => (side === 0 ? d.a : d.b).total / (lengths()[side] || 1);
  const more = (/** @type {NameDifference} */ d) => total(d, 1) - total(d, 0);
  const quantile = (/** @type {"a"|"b"} */ side, /** @type {"p50"|"p99"|"max"} */ q) => (/** @type {NameDifference} */ d) => (d[side].count > 0 ? d[side][q] : null);
  const ns = (/** @type {string} */ key, /** @type {string} */ title, /** @type {(d: any) => number|null} */ value, /** @type {object} */ rest = {}) => ({
    key, title, numeric: true, value, text: (/** @type {any} */ d) => { const v = value(d); return v === null ? "-" : app.span(v); }, ...rest,
  });
  const count = (/** @type {string} */ key, /** @type {string} */ title, /** @type {(d: any) => number} */ value) => ({ key, title, numeric: true, value, text: (/** @type {any} */ d) => thousands(value(d)) });
  const names = createSortable({
    caption: "Scopes by name", by: "more", id: (d) => d.name, empty: "No scope ended in either trace.",
    pick: (d) => {
      app.compareName(d.name);
      figure.scrollIntoView({ block: "nearest" }); // in a narrow window it is below the table
    },
    columns: [
      { key: "name", title: "name", pick: true, value: (d) => nameText(d.name) },
      { key: "verdict", title: "durations", hint: "A rank test of the durations (Mann–Whitney): slower or faster if p is at most 1/10,000 and at least 56 of 100 pairs agree. At most 20,000 durations are tested. Tail: one p99 is at least 1.5 times the other. Merged: some durations are merged, so no test is possible.", value: (d) => d.verdict },
      ns("more", "B − A", more, { hint: "Time in scopes of that name: B minus A" }),
      { key: "by", title: "by", hint: "The difference, relative to A", numeric: true, value: (d) => (d.a.total > 0 ? total(d, 1) / total(d, 0) : null), text: (d) => changeText(total(d, 0), total(d, 1)) },
      count("countA", "count A", (d) => d.a.count), count("countB", "B", (d) => d.b.count),
      ns("totalA", "total A", (d) => total(d, 0)), ns("totalB", "B", (d) => total(d, 1)),
      ns("meanA", "mean A", (d) => (d.a.count > 0 ? d.a.total / d.a.count : null)), ns("meanB", "B", (d) => (d.b.count > 0 ? d.b.total / d.b.count : null)),
      ns("p50A", "p50 A", quantile("a", "p50")), ns("p50B", "B", quantile("b", "p50")),
      ns("p99A", "p99 A", quantile("a", "p99")), ns("p99B", "B", quantile("b", "p99")), ns("maxA", "max A", quantile("a", "max")), ns("maxB", "B", quantile("b", "max")),
    ],
  });
  const locks = createSortable({
    caption: "Waits for locks", by: "more", id: (l) => l.name, empty: "No waits for locks in either trace.",
    columns: [
      { key: "name", title: "lock", value: (l) => nameText(l.name) }, ns("more", "B − A", (l) => l.b.wait - l.a.wait), count("waitsA", "waits A", (l) => l.a.waits), count("waitsB", "B", (l) => l.b.waits),
      ns("waitA", "waited A", (l) => l.a.wait), ns("waitB", "B", (l) => l.b.wait), ns("holdA", "held A", (l) => l.a.hold), ns("holdB", "B", (l) => l.b.hold),
    ],
  });
  const states = createSortable({
    caption: "States of goroutines", by: "more", id: (s) => s.state,
    columns: [{ key: "state", title: "state", value: (s) => stateText(s.state) }, ns("more", "B − A", (s) => s.b - s.a), ns("a", "A", (s) => s.a), ns("b", "B", (s) => s.b)],
  });
  const findings = make("ul", { class: "evidence" });
  const tables = make("div", { class: "doctor-columns" }, make("div", null, names.element), make("div", { class: "sides" }, figure, make("h3", { text: "Findings of the doctor" }), findings, locks.element, states.element));
  const answer = createAnswer(tables, "Comparing…");
  const element = make("div", { class: "compare" }, make("div", { class: "bar-of-tools" }, head, open, file, rate), note, tables);

  /** @param {File} given */
  async function take(given) {
    note.textContent = `Reading ${given.name}…`;
    try {
      answer.forget();
      app.setOther(await openPage(given.name, await given.text()));
      app.showTab("compare");
      app.announce(`compared with ${given.name}`);
    } catch (err) {
      app.showTab("compare");
      note.textContent = err instanceof Error ? err.message : String(err);
    }
  }
  document.addEventListener("dragover", (e) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); });
  document.addEventListener("drop", (e) => {
    const [given] = e.dataTransfer?.files ?? [];
    if (!given) return;
    e.preventDefault();
    take(given);
  });

  const titleOf = (/** @type {Model} */ m) => `${m.meta.title || m.meta.path || "trace"}, ${app.span(m.end)}`;

  /** @param {Model} other */
  async function compute(other) {
    const { model } = app;
    const key = [model.version, other.version, perSecond].join();
    const question = String(perSecond);
    if (key === drawn) return;
    answer.asks(question);
    if (tables.dataset.pending) note.textContent = `Comparing with ${titleOf(other)}…`;
    const done = await one(key, async (stale) => {
      const exact = [];
      for (const m of [model, other]) exact.push(!m.reduced ? null : m.meta.summary ?? await m.summary(0, m.end, true).catch(() => null));
      const list = await inSlices(compareSteps(model, other, exact), stale);
      const sums = [];
      for (const [k, m] of [model, other].entries()) sums.push(exact[k] ?? await inSlices(summarySteps(m, 0, m.end, true), stale));
      return list && sums.every((s) => s) ? { list, exact, sums: /** @type {import("../model/stats.js").Summary[]} */ (sums) } : undefined;
    });
    if (!done) return;
    drawn = key;
    differences = done.list;
    names.set(differences);
    const each = lengths();
    locks.set(pairs(done.sums.map((s, k) => new Map(s.locks.map((l) => [(k === 0 ? model : other).name(l.name), { waits: l.waits, wait: l.wait / each[k], hold: l.hold / each[k] }]))), { waits: 0, wait: 0, hold: 0 }));
    locks.element.hidden = done.sums.every((s) => s.locks.length === 0);
    const did = [timesByState(model), timesByState(other)];
    states.element.hidden = did.some((d) => d === null);
    if (did[0] && did[1]) states.set(pairs(did.map((d) => /** @type {Map<string, number>} */ (d?.times)), 0).map(({ name, a, b }) => ({ state: name, a: a / each[0], b: b / each[1] })));
    const merged = differences.reduce((sum, d) => sum + d.a.merged + d.b.merged, 0);
    note.textContent = `A is ${titleOf(model)}; B is ${titleOf(other)}.${perSecond ? " Totals are per second." : ""}`
      + (merged > 0 ? ` ${thousands(merged)} scopes are merged in this page${done.exact.every((t, k) => t || ![model, other][k].reduced) ? ": the numbers include them, the histogram does not, and names with merged scopes are not tested" : " and missing from all numbers"}.` : "")
      + (did.some((d) => d && !d.exact) ? " Merged states count as the one with the most time." : "");
    drawFindings(other);
    drawFigure();
    answer.answers(question);
  }

  /** Joins two maps by name. @template T @param {Map<string, T>[]} sides @param {T} none */
  function pairs([a, b], none) { return [...new Set([...a.keys(), ...b.keys()])].map((name) => ({ name, a: a.get(name) ?? none, b: b.get(name) ?? none })); }

  /** @param {Model} other */
  function drawFindings(other) {
    const known = app.model.doctor && other.doctor;
    const list = known ? findingsBetween(app.model.doctor, other.doctor) : [];
    setPending(findings, [app.model, other].some((m) => m.doctorAsked) ? "Examining…" : "");
    findings.replaceChildren(...list.map(({ change, finding, was, is }) => make("li", null, make("b", { text: `${change}: ` }),
      `${finding.verdict}${finding.object ? ` · ${nameText(finding.object)}` : ""}, ${change === "stayed" ? `${percentText(was ?? 0)} → ${percentText(is ?? 0)}` : percentText(is ?? was ?? 0)}`)));
    if (list.length === 0) findings.replaceChildren(make("li", { text: known ? "No findings in either trace." : "Unknown for at least one of the traces." }));
  }

  function drawFigure() {
    const d = differences.find((x) => x.name === app.compared);
    figure.replaceChildren();
    if (!d) return;
    const buckets = pairedBuckets(d.a.sorted, d.b.sorted);
    const most = Math.max(1e-9, ...buckets.flatMap((b) => [b.a / Math.max(1, d.a.sorted.length), b.b / Math.max(1, d.b.sorted.length)]));
    const high = (/** @type {number} */ n, /** @type {number} */ of) => `${((100 * n) / Math.max(1, of) / most).toFixed(1)}%`;
    const bars = buckets.map((b) => {
      const [fillB, lineA] = [make("span", { class: "b" }), make("span", { class: "a" })];
      fillB.style.height = high(b.b, d.b.sorted.length);
      fillB.style.backgroundColor = colorOf(d.name);
      lineA.style.height = high(b.a, d.a.sorted.length);
      return make("span", { class: "bucket", title: `${app.span(b.lo)} – ${app.span(b.hi)}: A ${thousands(b.a)}, B ${thousands(b.b)}` }, fillB, lineA);
    });
    const text = nameSentence(app, d);
    figure.append(make("figure", { class: "distribution" }, make("figcaption", { text }),
      make("div", { class: "plotted", role: "img", "aria-label": `Durations of ${nameText(d.name)} in both traces. ${text}` }, ...bars),
      buckets.length > 0 ? make("div", { class: "scale", "aria-hidden": "true" }, make("span", { text: app.span(buckets[0].lo) }), make("span", { text: "log scale; filled: B, line: A; shares of each one's own count" }), make("span", { text: app.span(buckets[buckets.length - 1].hi) })) : null));
  }

  function fill() {
    if (!isShown(element)) return;
    const { other } = app;
    rate.setAttribute("aria-pressed", String(perSecond));
    tables.hidden = rate.hidden = other === null;
    if (!other) {
      note.textContent ||= "Compare this trace with another one of the same program, such as another build: drop the page that scopeview html made from it here, or choose its file.";
      return;
    }
    if (app.model.home === "live") for (const m of [app.model, other]) if (!m.doctor && !m.doctorProblem) m.askDoctor();
    compute(other);
    drawFigure();
  }

  return { element, update: fill };
}
