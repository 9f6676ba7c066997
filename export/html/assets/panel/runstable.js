// The table of executions, with paging.

import { setPending } from "./answer.js";
import { argumentsText } from "../data/args.js";
import { csvCell, csvQuoted } from "./exportcsv.js";
import { inSlices, oneAtATime } from "../data/slices.js";
import { argsOfRun, cpuQuality, orderSteps, refOfRun } from "../model/runs.js";
import { make, makeButton, nameText, pluralText } from "../view/make.js";
import { momentText } from "../view/ruler.js";
import { Quality } from "../data/kinds.js";
import { createSortable } from "./sortable.js";
import { thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */
/** @import { Runs } from "../model/runs.js" */

/** The number of executions per page. */
const runsPage = 100;

/**
 * Creates the table. set fills it with the executions that keep accepts.
 * @param {App} app
 * @returns {{element: HTMLElement, set(runs: Runs, keep: (k: number) => boolean): void, csv(): Iterable<string>}}
 */
export function createRunsTable(app) {
  /** @type {Runs|null} */ let runs = null;
  let keep = (/** @type {number} */ _k) => true;
  let shown = new Uint32Array(0); // the numbers of all executions in the table, in order
  let page = 0;
  let by = { key: "dur", descending: true };
  /** By column. @type {Map<string, {order: Uint32Array, known: number}>} */
  let orders = new Map();
  const spanOf = (/** @type {number} */ v) => (Number.isNaN(v) ? "-" : app.span(v));
  const parentOf = (/** @type {Runs} */ of, /** @type {number} */ k) => (of.parent[k] === -2 ? "?" : of.parent[k] === -1 ? "" : nameText(app.model.name(of.parent[k])));
  const ns = (key, title, hint, text) => ({ key, title, hint, numeric: true, value: (r) => r[key], text: text ?? ((r) => spanOf(r[key])) });
  const table = createSortable({
    caption: "Executions", by: "dur", limit: runsPage, id: (r) => `${r.row} ${r.start}`, pick: (r) => app.select(r.ref, { reveal: true }),
    sort(key, descending) {
      by = { key, descending };
      page = 0;
      order();
    },
    columns: [
      { ...ns("start", "start", "Click one to select the execution", (r) => momentText(app, r.start, 1e3)), pick: true }, ns("dur", "duration", "From start to end, including the part outside of a range"),
      ns("self", "self", "Time in neither an inner scope nor a wait"), ns("cpu", "CPU", "≤: an upper bound; -: unknown", (r) => (r.quality === Quality.atMost ? "≤ " : "") + spanOf(r.cpu)),
      ns("waited", "waited", "Waits for locks, including those in scopes inside", (r) => (r.waited === 0 ? "" : spanOf(r.waited))),
      { key: "row", title: "row", value: (r) => r.row }, { key: "parent", title: "in", hint: "The enclosing scope", value: (r) => r.parent }, { key: "args", title: "arguments", mono: true, value: (r) => argumentsText(r.args) },
    ],
  });
  const turn = [makeButton("‹ previous", () => turnTo(page - 1)), makeButton("next ›", () => turnTo(page + 1))];
  const where = make("span", { class: "quiet" });
  const element = make("div", null, make("div", { class: "bar-of-tools" }, ...turn, where), table.element);

  /** @param {Runs} of @param {string} key @returns {Float64Array|string[]} */
  function columnOf(of, key) {
    const numbers = { start: of.start, dur: of.dur, self: of.self, cpu: of.cpu, waited: of.waited }[key];
    if (numbers) return numbers;
    const text = { row: (k) => of.rows[of.row[k]].title, parent: (k) => parentOf(of, k), args: (k) => argsOfRun(of, k) }[key] ?? String;
    const list = /** @type {string[]} */ ([]);
    for (let k = 0; k < of.n; k++) list.push(text(k));
    return list;
  }

  /** Sorts the executions by the chosen column. */
  async function order() {
    const of = runs;
    if (!of) return;
    const { key, descending } = by;
    if (!orders.has(key)) setPending(table.element, "Sorting…");
    const sorted = orders.get(key) ?? await run(key, (stale) => inSlices(orderSteps(columnOf(of, key)), stale));
    if (!sorted || of !== runs) return;
    orders.set(key, sorted);
    const list = sorted.order.slice();
    if (descending) list.subarray(0, sorted.known).reverse();
    shown = list.filter(keep);
    setPending(table.element, "");
    fill();
  }

  /** @param {number} to */
  function turnTo(to) {
    page = to;
    fill();
    app.announce(where.textContent);
  }

  function fill() {
    const of = /** @type {Runs} */ (runs);
    const last = Math.max(0, Math.ceil(shown.length / runsPage) - 1);
    page = Math.max(0, Math.min(page, last));
    const from = page * runsPage;
    const rows = Array.from(shown.subarray(from, from + runsPage), (k) => ({
      ref: refOfRun(of, k), quality: cpuQuality(of, k), row: of.rows[of.row[k]].title, parent: parentOf(of, k), args: argsOfRun(of, k),
      start: of.start[k], dur: of.dur[k], self: of.self[k], cpu: of.cpu[k], waited: of.waited[k],
    }));
    turn[0].disabled = page === 0;
    turn[1].disabled = page === last;
    where.textContent = shown.length <= runsPage ? pluralText(shown.length, "execution") : `${thousands(from + 1)} – ${thousands(from + rows.length)} of ${thousands(shown.length)}`;
    table.set(rows);
  }

  const run = oneAtATime(order);
  return {
    element,
    set(of, accepts) {
      if (of !== runs) orders = new Map([["dur", { order: of.order, known: of.n }]]);
      runs = of;
      keep = accepts;
      order();
    },
    *csv() {
      const of = runs;
      yield "start_ns,dur_ns,self_ns,cpu_ns,cpu_max_ns,waited_ns,row,goroutine,parent,args\n";
      if (!of) return;
      const known = (/** @type {number} */ v) => (Number.isNaN(v) ? "" : v);
      for (const k of shown) {
        const { key, title } = of.rows[of.row[k]];
        const most = cpuQuality(of, k) === Quality.atMost;
        const args = argsOfRun(of, k);
        yield `${of.start[k]},${of.dur[k]},${known(of.self[k])},${most ? "" : known(of.cpu[k])},${most ? of.cpu[k] : ""},${known(of.waited[k])},` +
          `${csvCell(title)},${key || ""},${csvCell(of.parent[k] < 0 ? "" : app.model.name(of.parent[k]))},${args ? csvQuoted(args) : ""}\n`;
      }
    },
  };
}
