// The table of goroutines by the function in which they began: their number, and their time by state.

import { shortFunc } from "../data/names.js";
import { stateText } from "../data/states.js";
import { percentText, thousands } from "../view/numbers.js";
import { createSortable } from "./sortable.js";
import { stateSums } from "./statedetails.js";

/** @import { App } from "../app.js" */

/** The states of running, and of waiting for a processor. */
const running = new Set(["cpu", "running", "textfault", "datafault", "stalled"]);
const ready = new Set(["runnable", "preempted"]);
/** The number of states in the column of waits. */
const statesNamed = 3;

/**
 * Goroutines that began in one function. waits: their other time by state.
 * @typedef {{func: string, system: boolean, count: number, running: number, ready: number, waiting: number, waits: Map<string, number>, keys: number[]}} GoroutineSums
 */

/**
 * Sums up the states of goroutines in a range of time by the function in which they began.
 * @param {import("../data/states.js").StateSet} set @param {number} from @param {number} to @param {ReadonlySet<number>|null} keys null: all
 * @returns {Generator<void, GoroutineSums[]>}
 */
export function* goroutineSteps(set, from, to, keys) {
  /** @type {Map<string, GoroutineSums>} */
  const sums = new Map();
  for (const lane of set.lanes.values()) {
    if (keys && !keys.has(lane.key) || lane.last <= from || lane.first >= to) continue;
    yield;
    const func = lane.system ? "" : lane.func;
    const id = `${lane.system} ${func}`;
    let sum = sums.get(id);
    if (!sum) sums.set(id, sum = { func, system: lane.system, count: 0, running: 0, ready: 0, waiting: 0, waits: new Map(), keys: [] });
    sum.count++;
    sum.keys.push(lane.key);
    for (const { state, ns } of stateSums(lane, from, to)) {
      const name = state < 0 ? "unknown" : set.nameOf(state);
      if (running.has(name)) sum.running += ns;
      else if (ready.has(name)) sum.ready += ns;
      else {
        sum.waiting += ns;
        sum.waits.set(name, (sum.waits.get(name) ?? 0) + ns);
      }
    }
  }
  return [...sums.values()];
}

/** @param {App} app @returns {{element: HTMLElement, set(rows: GoroutineSums[]): void}} */
export function createGoroutineTable(app) {
  let most = 1;
  const ns = (/** @type {string} */ key, /** @type {string} */ title, /** @type {string} */ hint, /** @type {object} */ rest = {}) => ({ key, title, hint, numeric: true, value: (r) => r[key], text: (r) => app.span(r[key]), ...rest });
  const reasons = (/** @type {GoroutineSums} */ r) => [...r.waits].sort((a, b) => b[1] - a[1]).slice(0, statesNamed).map(([state, t]) => `${stateText(state)} ${percentText(t / r.waiting)}`).join(", ");
  const table = createSortable({
    caption: "Goroutines by start function", by: "running", id: (r) => `${r.system} ${r.func}`, limit: 20,
    pick: (r) => {
      app.rows.reveal(r.keys[0], 0);
      const group = app.arranged.find((a) => a.kind === "group" && a.rows.some((row) => row.key === r.keys[0]));
      app.showRow(r.keys.length > 1 && group?.kind === "group" ? group.id : `g${r.keys[0]}`);
    },
    columns: [
      { key: "func", title: "start function", pick: true, value: (r) => (r.system ? "(of the runtime)" : shortFunc(r.func) || "(unknown)") },
      { key: "count", title: "count", numeric: true, value: (r) => r.count, text: (r) => thousands(r.count) },
      ns("running", "running", "Time on a CPU", { share: (r) => r.running / most, bar: "total" }), ns("ready", "runnable", "Time waiting for a processor"), ns("waiting", "waiting", "Time in all other states"),
      { key: "reasons", title: "what for", value: reasons },
    ],
  });
  return {
    element: table.element,
    set(rows) {
      table.element.hidden = rows.length === 0;
      most = rows.reduce((m, r) => Math.max(m, r.running), 1);
      table.set(rows);
    },
  };
}
