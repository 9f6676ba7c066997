// The controls shared by the function tabs: the choice of a metric, of rows and of scopes.

import { choiceText, chosenMetric, keptSide, valueText } from "../model/calls.js";
import { shortFunc, shortText } from "../data/names.js";
import { totalFunc } from "../model/callgraph.js";
import { colorOf } from "../view/color.js";
import { make, makeButton, nameText } from "../view/make.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** States by metric, for metrics with different names. */
const stateOfMetric = /** @type {Record<string, string>} */ ({ user: "cpu", system: "running", "task-clock": "cpu" });

/** Returns the colour of a metric that is not a sum, light enough for dark text. @param {App} app @param {number} m */
function metricColor(app, m) {
  const { name } = app.model.samples?.metrics[m] ?? { name: "" };
  return lighter(app.colors[`state-${stateOfMetric[name] ?? name}`] || colorOf(name));
}

/** @param {string} color #rrggbb */
function lighter(color) {
  const part = (/** @type {number} */ at) => Math.round((parseInt(color.slice(at, at + 2), 16) + 255) / 2);
  return `rgb(${part(1)}, ${part(3)}, ${part(5)})`;
}

/**
 * Returns the composition of a node's time: a background in the colours of on and off CPU, and a text.
 * @param {App} app @param {import("../model/callgraph.js").CallNode} node with the parts of the chosen metric
 */
function mixOf(app, node) {
  const s = app.model.samples;
  if (!s) return { background: "", words: [] };
  const metrics = s.parts(chosenMetric(app));
  const words = [];
  const stops = [];
  let at = 0;
  node.parts.forEach((v, k) => {
    if (v <= 0 || node.value <= 0) return;
    const color = metricColor(app, metrics[k]);
    const to = at + (100 * v) / node.value;
    stops.push(`${color} ${at.toFixed(2)}% ${to.toFixed(2)}%`);
    at = to;
    if (metrics.length > 1) words.push([v, `${s.metrics[metrics[k]].name} ${percentText(v / node.value)}`]);
  });
  words.sort((a, b) => b[0] - a[0]);
  return { background: stops.length === 0 ? "" : `linear-gradient(to right, ${stops.join(", ")})`, words: words.slice(0, 5).map((w) => w[1]) };
}

/**
 * Returns the texts of an icicle of calls.
 * @param {App} app @param {() => import("../model/calls.js").CallData|null} data the data of its tree
 */
export function callWords(app, data) {
  const key = (/** @type {any} */ node) => (node.nameId === totalFunc ? "<Total>" : data()?.samples.funcs[node.nameId] ?? "");
  return {
    key, name: (/** @type {any} */ node) => shortFunc(key(node)), value: (/** @type {number} */ v) => valueText(app, chosenMetric(app), v),
    more: (/** @type {any} */ node) => mixOf(app, node).words, background: (/** @type {any} */ node) => mixOf(app, node).background,
  };
}

/** Creates a select element with a label for screen readers. */
function choice(label, onchange) {
  const select = make("select", { "aria-label": label, onchange: () => onchange(select.value) });
  /** @param {[string, string][]} options @param {string} value */
  const set = (options, value) => {
    const key = JSON.stringify(options);
    if (select.dataset.options !== key) {
      select.dataset.options = key;
      select.replaceChildren(...options.map(([v, text]) => make("option", { value: v, text })));
    }
    select.value = value;
  };
  return { select, set };
}

/** @param {App} app @returns {{element: HTMLElement, update(): void, nothing(): string}} */
export function createCallsBar(app) {
  const metric = choice("Metric", (v) => app.chooseCalls({ metric: v }));
  const scope = choice("Scope", (v) => app.chooseCalls({ scope: v, executions: v === "" ? "all" : app.calls.executions }));
  const executions = choice("Executions of the scope", (v) => app.chooseCalls({ executions: v }));
  const rows = choice("Rows", (v) => app.chooseCalls({ rows: v }));
  const keep = makeButton("compare with this", () => app.chooseCalls({ kept: app.calls.kept ? null : keptSide(app) }), { title: "Keep this selection and compare the next one with it" });
  const note = make("span", { class: "quiet" });
  const element = make("span", { class: "calls-bar" }, metric.select, rows.select, scope.select, executions.select, keep, note);

  function update() {
    const s = app.model.samples;
    element.hidden = !s;
    if (!s) return;
    const { calls, model } = app;
    const has = metricsWithValues(s);
    metric.set(s.metrics.filter((_, k) => has.has(k)).map((m) => [m.name, m.name]), s.metrics[chosenMetric(app)]?.name ?? "");
    metric.select.title = s.metrics[chosenMetric(app)]?.title ?? "";
    const names = new Set([...s.slow.keys()].map((id) => model.meta.names[id]).sort());
    if (calls.scope !== "") names.add(calls.scope); // even if it has no samples
    scope.set([["", "anywhere"], ...[...names].map((n) => /** @type {[string, string]} */ ([n, `in ${shortText(nameText(n))}`]))], calls.scope);
    scope.select.hidden = names.size === 0;
    executions.set([["all", "all executions"], ["slow", "slowest 1%"], ["others", "the others"], ["compare", "slowest 1% against the others"]], calls.executions);
    executions.select.hidden = calls.scope === "";
    rows.set([["all", "all rows"], ["shown", "rows in view"], ["chosen", "the chosen row"]], calls.rows);
    rows.select.hidden = app.by !== "goroutine";
    const slow = calls.scope !== "" && calls.executions === "compare";
    keep.hidden = slow;
    keep.setAttribute("aria-pressed", String(calls.kept !== null));
    note.textContent = model.samplesProblem || (calls.kept && !slow ? `with: ${calls.kept.label}` : slowText());
  }

  /** Returns the number of slow executions. */
  function slowText() {
    const of = app.model.samples?.slow.get(app.model.meta.names.indexOf(app.calls.scope));
    if (!of || app.calls.executions === "all") return "";
    return `slow: ${thousands(of.slow)} of at least ${app.span(of.limit)}; others: ${thousands(of.count - of.slow)}, in the whole trace`;
  }

  /** Returns why nothing is shown. */
  function nothing() {
    if (!app.model.samples && app.model.samplesProblem) return app.model.samplesProblem;
    if (!app.model.samples) return app.model.mayHaveSamples ? "Reading the samples…" : "This trace has no samples. Record with Go's execution trace, scope.Start(path, gotrace.With()), or from outside with scopeview record.";
    return `No values of ${app.model.samples.metrics[chosenMetric(app)]?.name} in the selection: ${choiceText(app)}.`;
  }
  return { element, update, nothing };
}

/** @type {WeakMap<object, Set<number>>} */
const withValues = new WeakMap();

/** Returns which metrics have values. @param {import("../data/samples.js").Samples} s */
function metricsWithValues(s) {
  let has = withValues.get(s);
  if (!has) {
    const base = new Set();
    for (let i = 0; i < s.n; i++) if (s.value[i] > 0) base.add(s.metric[i]);
    has = new Set(s.metrics.map((_, m) => m).filter((m) => s.parts(m).some((part) => base.has(part))));
    withValues.set(s, has);
  }
  return has;
}
