// The selection of the function tabs: a metric, rows, a range of time and scopes.

import { isScope } from "../data/kinds.js";
import { shortText } from "../data/names.js";
import { areaText, goroutinesOfArea } from "./area.js";
import { functionCosts, totalCost, weigh } from "./callgraph.js";
import { difference } from "./difference.js";
import { RowItems } from "./replay.js";
import { rowFilter } from "./rowexpr.js";

/**
 * @typedef {import("./callgraph.js").Cost} Cost
 * @typedef {import("./callgraph.js").Choice} Choice
 *
 * The choices in these tabs.
 * @typedef {Object} CallChoices
 * @property {string} func the chosen function; "": none
 * @property {string} metric name of the metric; "": the default
 * @property {string} scope name of an enclosing scope; "": any or none
 * @property {"all"|"slow"|"others"|"compare"} executions of that scope
 * @property {"all"|"shown"|"chosen"} rows
 * @property {import("./difference.js").Side|null} kept the selection to compare with
 *
 * The values of a selection.
 * @typedef {{samples: import("../data/samples.js").Samples, base: number[], weights: import("./callgraph.js").Weights,
 *   costs: Map<number, Cost>, total: Cost, difference: import("./difference.js").Difference|null}} CallData difference is null where nothing is compared, or can be
 */

/** @returns {CallChoices} */
export function newCalls() { return { func: "", metric: "", scope: "", executions: "all", rows: "all", kept: null }; }

/** Returns the chosen metric. @param {any} app @returns {number} */
export function chosenMetric(app) {
  const s = app.model.samples;
  const m = s.metricOf(app.calls.metric);
  return m < 0 ? s.preset : m;
}

/**
 * Returns the metrics of tables: the chosen one, and for times also those on and off CPUs.
 * @param {any} app @returns {number[]}
 */
export function shownMetrics(app) {
  const s = app.model.samples;
  const list = [chosenMetric(app)];
  if (s.metrics[list[0]].unit === "nanoseconds") {
    for (const name of ["cpu", "off"]) {
      const m = s.metricOf(name);
      if (m >= 0 && !list.includes(m)) list.push(m);
    }
  }
  return list;
}

/** Returns the goroutine whose row is chosen. @param {any} app @returns {number[]} */
function chosenGoid(app) {
  const key = /^g(\d+)$/.exec(app.chosenRow)?.[1];
  return key === undefined ? [] : [Number(key)];
}

/**
 * Returns the goroutines whose rows are neither hidden nor filtered out, including those in folded groups.
 * @param {any} app @returns {number[]}
 */
function goidsInSight({ model, arranged, choices: { filter, hidden, pinned } }) {
  const kept = rowFilter(model, filter);
  const seen = (row) => !hidden.has(`g${row.key}`) && kept.row(row);
  return arranged.flatMap((a) => (a.kind === "row" ? [a.row] : hidden.has(a.id) ? a.rows.filter((row) => pinned.has(`g${row.key}`)) : a.rows)).filter(seen).map((row) => row.key);
}

/** @param {any} app @param {"all"|"slow"|"others"} executions @returns {Choice} */
function choiceOf(app, executions) {
  const { calls, model, by } = app;
  const { from, to } = app.range ?? { from: -Infinity, to: Infinity };
  const scope = calls.scope === "" ? null : model.meta.names.indexOf(calls.scope);
  const all = app.area ? new Set(goroutinesOfArea(app.area)) : null;
  const rows = calls.rows === "all" || by !== "goroutine" ? all : new Set(calls.rows === "chosen" ? chosenGoid(app) : goidsInSight(app));
  return { from, to, rows, scope, executions };
}

/** Returns the selection; where executions are compared, that of the slow ones. @param {any} app @returns {Choice} */
function choiceNow(app) { return choiceOf(app, app.calls.executions === "compare" ? "slow" : app.calls.executions); }

/** Returns a description of the selection. @param {any} app */
export function choiceText(app) {
  const { calls } = app;
  const what = [];
  if (calls.rows !== "all" && app.by === "goroutine") what.push(calls.rows === "shown" ? "rows in view" : chosenGoid(app).length > 0 ? "the chosen row" : "no row (none is chosen)");
  if (calls.scope !== "") what.push(`scopes ${shortText(calls.scope)}${calls.executions === "all" ? "" : calls.executions === "others" ? ", not the slowest 1%" : ", slowest 1%"}`);
  if (app.range) what.push(`${app.time(app.range.from)} – ${app.time(app.range.to)}${calls.rows === "all" ? areaText(app.area) : ""}`);
  return what.length === 0 ? "the whole trace" : what.join(", ");
}

/** Returns the selection as a side for a comparison. @param {any} app @returns {import("./difference.js").Side} */
export function keptSide(app) { return { choice: choiceNow(app), label: choiceText(app) }; }

/**
 * Returns how many executions of a scope touch a selection, slow and others; null: unknown.
 * Nested executions count as one, as on the Go side.
 * @param {any} model @param {{count: number, slow: number, limit: number}} whole of the trace
 * @param {Choice} choice
 */
function executionsIn(model, whole, { from, to, rows, scope }) {
  if (rows === null && from === -Infinity) return { slow: whole.slow, others: whole.count - whole.slow };
  if (model.reduced) return null;
  const of = { slow: 0, others: 0 };
  for (const row of model.rows("goroutine")) {
    if (row.key === 0 || rows && !rows.has(row.key)) continue;
    let until = -Infinity;
    for (const items = new RowItems(row, from, to); items.next();) {
      const { batch, i } = items;
      const end = batch.start[i] + batch.dur[i];
      if (batch.name[i] !== scope || !isScope(batch.kind[i]) || batch.start[i] < until || batch.start[i] >= to || end <= from) continue;
      of[batch.dur[i] >= whole.limit ? "slow" : "others"]++;
      until = end;
    }
  }
  return of;
}

/** Returns the two sides to compare; null: no comparison is chosen or possible. @param {any} app */
function sides(app) {
  const { calls, model } = app;
  if (calls.scope !== "" && calls.executions === "compare") {
    const b = choiceNow(app);
    const whole = model.samples.slow.get(b.scope);
    const count = whole && executionsIn(model, whole, b);
    return count ? { a: { choice: choiceOf(app, "others"), label: "others", executions: count.others }, b: { choice: b, label: "slow", executions: count.slow } } : null;
  }
  return calls.kept && { a: calls.kept, b: keptSide(app) };
}

/** Returns the selection as a text, which changes with it. @param {any} app */
export function callsQuestion(app) {
  const { func, ...calls } = app.calls; // the sums cover all functions
  return JSON.stringify([calls, choiceNow(app)], (_, v) => (v instanceof Set ? [...v] : v));
}

/** @type {{samples: any, stamp: string, data: CallData|null}} */
let last = { samples: null, stamp: "", data: null };

/**
 * Returns the values of the selection in the shown metrics; null: there are no samples.
 * @param {any} app
 * @returns {CallData|null}
 */
export function callData(app) {
  const s = app.model.samples;
  if (!s) return null;
  const choice = choiceNow(app);
  const stamp = callsQuestion(app);
  if (s === last.samples && stamp === last.stamp) return /** @type {CallData} */ (last.data);
  const both = sides(app);
  const base = [...new Set(shownMetrics(app).flatMap((m) => s.parts(m)))];
  const weights = weigh(s, choice, base);
  const data = { samples: s, base, weights, costs: functionCosts(s, weights), total: totalCost(weights), difference: both && difference(s, both.a, both.b) };
  last = { samples: s, stamp, data };
  return data;
}

/** Returns the weights that add up to a shown metric. @param {CallData} data @param {number} m */
export function weightsOf(data, m) { return data.samples.parts(m).map((part) => data.weights[data.base.indexOf(part)]); }

/**
 * Returns the value of a cost in a shown metric.
 * @param {CallData} data @param {number[]} values excl or incl @param {number} m
 */
export function valueOf(data, values, m) {
  return data.samples.parts(m).reduce((sum, part) => sum + values[data.base.indexOf(part)], 0);
}

/**
 * Returns the mark of an inclusive value: "≥" if truncated stacks may lack the function.
 * @param {CallData} data @param {any} cost @param {number} m
 */
export function leastMark(data, cost, m) {
  return data.samples.parts(m).some((part) => cost.least?.[data.base.indexOf(part)]) ? "≥" : "";
}

/** Formats a value. @param {any} app @param {number} m @param {number} v */
export function valueText(app, m, v) {
  const { unit } = app.model.samples.metrics[m];
  if (unit === "nanoseconds") return v === 0 ? "0" : app.span(v);
  return Math.round(v).toLocaleString("en");
}
