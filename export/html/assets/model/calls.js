// What the tabs of functions look at: a metric, and a selection of rows, time and scopes.

import { functionCosts, totalCost, weigh } from "./callgraph.js";
import { difference } from "./difference.js";

/**
 * @typedef {import("./callgraph.js").Cost} Cost
 * @typedef {import("./callgraph.js").Choice} Choice
 *
 * What is chosen in these tabs.
 * @typedef {Object} CallChoices
 * @property {string} func the function that is looked at; "": none
 * @property {string} metric its name; "": what one looks at first
 * @property {string} scope the name of a scope that it is to have happened in; "": anywhere
 * @property {"all"|"slow"|"others"|"compare"} executions of that scope
 * @property {"all"|"shown"|"chosen"} rows
 * @property {import("./difference.js").Side|null} kept the selection to compare with
 *
 * What a selection had.
 * @typedef {{samples: import("../data/samples.js").Samples, base: number[], weights: import("./callgraph.js").Weights,
 *   costs: Map<number, Cost>, total: Cost, difference: import("./difference.js").Difference|null}} CallData
 */

/** @returns {CallChoices} */
export function newCalls() { return { func: "", metric: "", scope: "", executions: "all", rows: "all", kept: null }; }

/** The metric that is looked at. @param {any} app @returns {number} */
export function chosenMetric(app) {
  const s = app.model.samples;
  const m = s.metricOf(app.calls.metric);
  return m < 0 ? s.preset : m;
}

/** The metrics of tables: the chosen one, and beside times those on and off CPUs. @param {any} app @returns {number[]} */
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

/** Whom the choice of rows leaves; null: all. @param {any} app @returns {((goid: number) => boolean)|null} */
function rowsOf(app) {
  const { calls, choices } = app;
  if (calls.rows === "all" || app.by !== "goroutine") return null;
  if (calls.rows === "chosen") {
    const key = /^g(\d+)$/.exec(app.chosenRow)?.[1];
    return key === undefined ? null : (goid) => goid === Number(key);
  }
  const filter = choices.filter.toLowerCase();
  const keys = new Set();
  for (const a of app.arranged) {
    for (const row of a.kind === "group" ? a.rows : [a.row]) {
      if ((!filter || row.title.toLowerCase().includes(filter)) && !choices.hidden.has(`g${row.key}`)) keys.add(row.key);
    }
  }
  return (goid) => keys.has(goid);
}

/** @param {any} app @param {"all"|"slow"|"others"} executions @returns {Choice} */
export function choiceOf(app, executions) {
  const { from, to } = app.range ?? { from: -Infinity, to: Infinity };
  const scope = app.calls.scope === "" ? -1 : app.model.meta.names.indexOf(app.calls.scope);
  return { from, to, row: rowsOf(app), scope, executions };
}

/** What is selected, in words. @param {any} app */
export function choiceText(app) {
  const { calls } = app;
  const words = { all: "all", shown: "rows in sight", chosen: "the chosen row" };
  const what = [];
  if (calls.rows !== "all" && app.by === "goroutine") what.push(words[calls.rows]);
  if (calls.scope !== "") what.push(`in ${calls.scope}${calls.executions === "slow" ? ", slowest 1%" : calls.executions === "others" ? ", not the slowest 1%" : ""}`);
  if (app.range) what.push(`${app.time(app.range.from)} – ${app.time(app.range.to)}`);
  return what.length === 0 ? "the whole trace" : what.join(", ");
}

/** The two sides that are to be compared; null: nothing is. @param {any} app */
function sides(app) {
  const { calls, model } = app;
  if (calls.scope !== "" && calls.executions === "compare") {
    const of = model.samples.slow.get(model.meta.names.indexOf(calls.scope));
    if (!of) return null;
    return {
      a: { choice: choiceOf(app, "others"), label: "others", executions: of.count - of.slow },
      b: { choice: choiceOf(app, "slow"), label: "slow", executions: of.slow },
    };
  }
  if (!calls.kept) return null;
  return { a: calls.kept, b: { choice: choiceOf(app, calls.executions), label: choiceText(app), executions: 1 } };
}

/** @type {{stamp: string, data: CallData|null}} */
let last = { stamp: "", data: null };

/**
 * What the selection had, in the metrics that are shown; null: there are no samples.
 * @param {any} app
 * @returns {CallData|null}
 */
export function callData(app) {
  const { model, calls } = app;
  const s = model.samples;
  if (!s) return null;
  const keptChoice = calls.kept ? JSON.stringify(calls.kept) : "";
  const stamp = [model.samplesVersion, app.range?.from, app.range?.to, app.by, app.chosenRow, app.choices.filter, [...app.choices.hidden], app.arranged.length,
    calls.metric, calls.scope, calls.executions, calls.rows, keptChoice].join("|");
  if (stamp === last.stamp) return last.data;
  const base = [...new Set(shownMetrics(app).flatMap((m) => s.parts(m)))];
  const weights = weigh(s, choiceOf(app, calls.executions === "compare" ? "slow" : calls.executions), base);
  const both = sides(app);
  const data = { samples: s, base, weights, costs: functionCosts(s, weights), total: totalCost(weights), difference: both && difference(s, both.a, both.b) };
  last = { stamp, data };
  return data;
}

/** What a cost has of a metric that is shown. @param {CallData} data @param {number[]} values excl or incl @param {number} m */
export function valueOf(data, values, m) {
  return data.samples.parts(m).reduce((sum, part) => sum + values[data.base.indexOf(part)], 0);
}

/** So much of a name is shown: C++ has some of 64 KB. */
const longestFunc = 300;

/** A function's name without its package's directories. @param {string} name */
export function shortFunc(name) {
  const generic = name.indexOf("[");
  const slash = name.lastIndexOf("/", generic < 0 ? name.length : generic);
  const short = name.slice(slash + 1);
  return short.length > longestFunc ? `${short.slice(0, longestFunc)}…` : short;
}

/** A value as people read it. @param {any} app @param {number} m @param {number} v */
export function valueText(app, m, v) {
  const { unit } = app.model.samples.metrics[m];
  if (unit === "nanoseconds") return v === 0 ? "0" : app.span(v);
  return Math.round(v).toLocaleString("en");
}
