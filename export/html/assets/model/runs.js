// The executions of one name with their durations, self times and waits for locks. They are
// stored as columns, because there may be a million of them.

import { bisect } from "../data/bisect.js";
import { Flag, Kind, isScope } from "../data/kinds.js";
import { firstEnding, firstFrom } from "../data/batch.js";
import { Replay, RowItems, itemsAtOnce } from "./replay.js";
import { sortSteps } from "../data/slices.js";

/**
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("./rowset.js").Row} Row
 *
 * A row at the time of counting: in a growing trace it changes later. from and to are the
 * begin of its first execution and the end of its last, even outside of the range.
 * @typedef {Row & {from: number, to: number}} RunRow
 *
 * Executions by number; times are in ns, NaN where unknown.
 * @typedef {Object} Runs
 * @property {number} nameId
 * @property {number} from begin of the range that they touch
 * @property {number} to
 * @property {number} n
 * @property {RunRow[]} rows
 * @property {Batch[]} batches
 * @property {Uint16Array} which index into batches
 * @property {Uint32Array} index index in that batch
 * @property {Uint32Array} row index into rows
 * @property {Int32Array} parent name id of the enclosing scope; -1: none, -2: unknown
 * @property {Uint8Array} outer 1: not inside another execution; 0: inside one, or unknown
 * @property {Float64Array} start
 * @property {Float64Array} dur
 * @property {Float64Array} cpu an upper bound where the batch's quality says so
 * @property {Float64Array} self
 * @property {Float64Array} waited for locks
 * @property {Uint32Array} order numbers sorted by duration, the shortest first
 * @property {boolean} alone their contents are not loaded
 * @property {number} open number of further ones that have not ended
 * @property {number} across number of further ones across a clock step
 */

/**
 * Collects the executions of a name that touch a range.
 * @param {Row[]} all rows by goroutine
 * @param {number} nameId
 * @param {number} from
 * @param {number} to
 * @param {boolean} alone the rows lack the contents of executions
 * @returns {Generator<void, Runs>}
 */
export function* runSteps(all, nameId, from, to, alone = false) {
  const rows = /** @type {RunRow[]} */ ([]);
  for (const row of all) {
    if (row.first > to || row.last < from) continue;
    yield;
    const copy = rowOfRuns(row, nameId, from, to);
    if (copy.from <= copy.to) rows.push(copy);
  }
  const batches = /** @type {Batch[]} */ ([]);
  const column = () => /** @type {number[]} */ ([]);
  const list = { which: column(), index: column(), row: column(), parent: column(), outer: column(), self: column(), waited: column() };
  const runs = { nameId, from, to, rows, batches, alone, open: 0, across: 0 };
  yield* walkRuns(/** @type {any} */ (runs), {
    left(batch, i) { runs[batch.flags[i] & Flag.unended ? "open" : "across"]++; },
    run(k, batch, i, row, top) {
      let b = batches.lastIndexOf(batch);
      if (b < 0) b = batches.push(batch) - 1;
      const known = rows[row].key !== 0;
      list.which[k] = b;
      list.index[k] = i;
      list.row[k] = row;
      list.parent[k] = !known || alone ? -2 : top === null ? -1 : top.name;
      list.outer[k] = known && (top === null || top.run < 0) ? 1 : 0;
      list.self[k] = list.waited[k] = known && !alone ? 0 : NaN;
    },
    inside(run, batch, i, ns) {
      if (batch.many(i) > 1) list.self[run] = list.waited[run] = NaN; // the kinds of merged items are unknown
      else if (batch.kind[i] === Kind.wait) list.waited[run] += ns;
    },
    own(run, ns) { list.self[run] += ns; },
  });
  const n = list.index.length;
  const which = new Uint16Array(list.which);
  const index = new Uint32Array(list.index);
  const [start, dur, cpu] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  for (let k = 0; k < n; k++) {
    if (k % itemsAtOnce === 0) yield;
    const batch = batches[which[k]];
    start[k] = batch.start[index[k]];
    dur[k] = batch.dur[index[k]];
    cpu[k] = batch.cpu[index[k]];
  }
  const order = yield* sortSteps(countUp(n), (a, b) => dur[a] - dur[b]);
  return {
    ...runs, n, which, index, row: new Uint32Array(list.row), parent: new Int32Array(list.parent), outer: new Uint8Array(list.outer),
    start, dur, cpu, self: new Float64Array(list.self), waited: new Float64Array(list.waited), order,
  };
}

/** Returns the numbers from 0 up to n. @param {number} n */
function countUp(n) {
  const numbers = new Uint32Array(n);
  for (let k = 0; k < n; k++) numbers[k] = k;
  return numbers;
}

/** @returns {RunRow} with an empty [from, to] if it has no execution in the range */
function rowOfRuns(row, nameId, from, to) {
  const lanes = row.lanes.map((lane) => ({ ...lane, parts: lane.parts.slice() }));
  const copy = { ...row, lanes, from: Infinity, to: -Infinity };
  for (const lane of lanes) {
    for (const { batch, from: a, to: b } of lane.open ? [...lane.parts, lane.open] : lane.parts) {
      let first = firstEnding(batch, a, b, from);
      let last = firstFrom(batch.start, first, b, to + 1) - 1;
      while (first <= last && batch.name[first] !== nameId) first++;
      while (first <= last && batch.name[last] !== nameId) last--;
      if (first > last) continue;
      copy.from = Math.min(copy.from, batch.start[first]);
      copy.to = Math.max(copy.to, batch.end(last));
    }
  }
  return copy;
}

/**
 * The innermost running item at the begin of another: its name, whether it is a wait or an
 * execution, and the execution that it is or lies in; -1: none.
 * @typedef {{name: number, sort: number, run: number}} RunTop
 *
 * The visitor.
 * @typedef {Object} RunListener
 * @property {(run: number, batch: Batch, i: number, row: number, top: RunTop|null) => void} run an execution begins; they come by number
 * @property {(run: number, batch: Batch, i: number, ns: number, direct: boolean) => void} inside something in it begins, of which so much lies in it; direct: in nothing else in it
 * @property {((run: number, ns: number) => void)=} own a stretch of its self time
 * @property {((batch: Batch, i: number) => void)=} left an item of the name that does not count, because it is open or across a clock step
 */

/** The kinds of the innermost item, beside its name. */
const topScope = 0, topWait = 1, topRun = 2;

/**
 * Walks the rows of executions, always in the same order, so that they get the same numbers.
 * @param {Runs} runs only their rows, name and range are used
 * @param {RunListener} to
 * @returns {Generator<void, void>}
 */
export function* walkRuns({ rows, nameId, from, to: until }, to) {
  const ends = /** @type {number[]} */ ([]); // ends of executions, and the execution that each lies in
  const around = /** @type {number[]} */ ([]);
  const topOf = (/** @type {number} */ id) => ({ name: Math.floor(id / 4) % 65536, sort: id % 4, run: Math.floor(id / (4 * 65536)) - 1 });
  const replay = new Replay((id, a, b) => {
    if (id % 4 === topRun) to.own?.(Math.floor(id / (4 * 65536)) - 1, b - a);
  }, () => {});
  let seen = 0;
  for (let r = 0; r < rows.length; r++) {
    const known = rows[r].key !== 0; // otherwise the nesting is unknown
    replay.start(-Infinity);
    for (const items = new RowItems(rows[r], rows[r].from, rows[r].to); items.next();) {
      if (++seen % itemsAtOnce === 0) yield;
      const { batch, i } = items;
      const kind = batch.kind[i];
      if (kind === Kind.hold) continue;
      const start = batch.start[i];
      const end = start + batch.dur[i];
      if (known) replay.advanceToItem(start);
      const id = known ? replay.top() : -1;
      const top = id < 0 ? null : topOf(id);
      let run = top === null ? -1 : top.run;
      for (let up = run, direct = top !== null && top.sort === topRun; up >= 0; up = around[up], direct = false) {
        to.inside(up, batch, i, Math.min(end, ends[up]) - start, direct);
      }
      let sort = kind === Kind.wait ? topWait : topScope;
      if (batch.name[i] === nameId && isScope(kind) && batch.many(i) === 1 && end >= from && start <= until) {
        if (batch.flags[i] & (Flag.unended | Flag.across)) to.left?.(batch, i);
        else {
          ends.push(end);
          run = around.push(run) - 1;
          to.run(run, batch, i, r, top);
          sort = topRun;
        }
      }
      if (known) replay.begin(end, ((run + 1) * 65536 + batch.name[i]) * 4 + sort);
    }
    if (known) replay.finish();
  }
}

/** Returns an execution as a selection. @param {Runs} runs @param {number} k */
export function refOfRun({ batches, which, index }, k) { return { batch: batches[which[k]], i: index[k] }; }

/** Returns the quality of an execution's CPU time. @param {Runs} runs @param {number} k */
export function cpuQuality({ batches, which, index }, k) { return batches[which[k]].quality[index[k]]; }

/** Returns an execution's arguments as text. @param {Runs} runs @param {number} k */
export function argsOfRun({ batches, which, index }, k) {
  const batch = batches[which[k]];
  return batch.strings[batch.args[index[k]]] ?? "";
}

/** The maximum number of different texts that are sorted with numeric collation, row 9 before row 10, which is slow. */
const mostWords = 20000;

/**
 * Replaces texts by their ranks; null if there are too many different ones.
 * @param {string[]} texts
 * @returns {Generator<void, Float64Array|null>}
 */
function* rankSteps(texts) {
  const at = new Map();
  const ids = new Float64Array(texts.length);
  for (let k = 0; k < texts.length; k++) {
    if (k % itemsAtOnce === 0) yield;
    let id = at.get(texts[k]);
    if (id === undefined) at.set(texts[k], id = at.size);
    if (at.size > mostWords) return null;
    ids[k] = id;
  }
  const words = new Intl.Collator("en", { numeric: true });
  const sorted = yield* sortSteps([...at.keys()], words.compare);
  const rank = new Float64Array(sorted.length);
  sorted.forEach((text, r) => { rank[at.get(text)] = r; });
  return ids.map((id) => rank[id]);
}

/**
 * Sorts executions by a column, unknown values last.
 * @param {Float64Array|string[]} column by their numbers
 * @returns {Generator<void, {order: Uint32Array, known: number}>} known: number of known values, which come first
 */
export function* orderSteps(column) {
  const numbers = countUp(column.length);
  const values = column instanceof Float64Array ? column : yield* rankSteps(column);
  if (values === null) return { order: yield* sortSteps(numbers, (a, b) => (column[a] < column[b] ? -1 : column[a] > column[b] ? 1 : 0)), known: column.length };
  const order = yield* sortSteps(numbers, (a, b) => {
    const unknown = Number(Number.isNaN(values[a])) - Number(Number.isNaN(values[b]));
    return unknown || Number.isNaN(values[a]) ? unknown : values[a] - values[b];
  });
  let known = order.length;
  while (known > 0 && Number.isNaN(values[order[known - 1]])) known--;
  return { order, known };
}

/**
 * Returns the executions with durations from lo up to hi.
 * @param {Runs} runs @param {{lo: number, hi: number}|null} brush null: all
 */
export function runsBetween({ n, order, dur }, brush) {
  if (brush === null) return order;
  return order.subarray(bisect(0, n, (k) => dur[order[k]] < brush.lo), bisect(0, n, (k) => dur[order[k]] < brush.hi));
}
