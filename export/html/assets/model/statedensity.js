// The mean number of rows of a group in each state, over time.

import { bisect } from "../data/bisect.js";
import { byNumber, sortSteps } from "../data/slices.js";
import { sameList } from "./gradual.js";

/** @typedef {import("../data/states.js").StateSet} StateSet */
/** @typedef {import("./rowset.js").Row} Row */

/** The number of parts counted at once: more than the visible range has pixels, so that it can be moved. */
const countedParts = 8192;
/** The part of the counted range below which a view is counted again, finer. */
const countedFiner = 1 / 8;

/**
 * The counts of [from, to) in parts of width ns: the number of rows by state. most: the maximum number of rows at once.
 * @typedef {{most: number, set: StateSet, rows: Row[], from: number, to: number, width: number, states: {state: number, rows: Float32Array}[]}} StateDensity
 */

/**
 * Returns the states of some rows, in [from, to] or, while that is being counted, in another range; null: there are none,
 * or they are not counted yet.
 * @param {import("./model.js").Model} model @param {string} id of the group @param {Row[]} rows
 * @param {number} from @param {number} to
 * @returns {StateDensity|null}
 */
export function stateDensityOf(model, id, rows, from, to) {
  const set = model.waits?.states;
  if (!set) return null;
  const [lo, hi] = [Math.max(from, set.from), Math.min(to, set.to)];
  if (!(hi > lo)) return null;
  const key = `states of ${id}`;
  /** @type {StateDensity|undefined} */
  const had = model.gradual.get(key);
  const same = had && had.set === set && sameList(had.rows, rows);
  if (same && had.from <= lo && had.to >= hi && (hi - lo >= (had.to - had.from) * countedFiner || had.width <= 1)) return had;
  const more = hi - lo;
  const work = rows.length * 4 < set.lanes.size ? rows.reduce((n, row) => n + lengthOf(set.lanes.get(row.key)), rows.length) : set.state.length;
  return model.gradual.make(key, work, () => partSteps(set, rows, same ? had.most : -1, Math.max(set.from, lo - more), Math.min(set.to, hi + more))) ?? null;
}

/** @param {import("../data/states.js").StateLane|undefined} lane */
function lengthOf(lane) { return lane ? lane.to - lane.from : 0; }

/** The number of rows that are counted between two yields, and of those whose begins and ends are compared. */
const rowsAtOnce = 256;
const lanesAtOnce = 4096;

/**
 * Counts the states in [from, to].
 * @param {StateSet} set @param {Row[]} rows @param {number} most the maximum number of rows at once; -1: not known
 * @param {number} from @param {number} to @returns {Generator<void, StateDensity>}
 */
function* partSteps(set, rows, most, from, to) {
  if (most < 0) most = yield* mostAtOnceSteps(set, rows);
  const width = (to - from) / countedParts;
  /**
   * By state: the changes at part boundaries, and the partial values of single parts.
   * @type {{whole: Float64Array, part: Float64Array}[]}
   */
  const of = [];
  const add = (/** @type {number} */ state, /** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ share) => {
    const { whole, part } = of[state] ??= { whole: new Float64Array(countedParts + 1), part: new Float64Array(countedParts) };
    const i = Math.min(countedParts - 1, Math.floor((a - from) / width));
    const j = Math.min(countedParts - 1, Math.floor((b - from) / width));
    if (i === j) {
      part[i] += share * (b - a) / width;
      return;
    }
    part[i] += share * (i + 1 - (a - from) / width);
    part[j] += share * ((b - from) / width - j);
    whole[i + 1] += share;
    whole[j] -= share;
  };
  const { start, dur, state, locked, lockState } = set;
  let left = rowsAtOnce;
  for (const row of rows) {
    if (--left < 0) {
      left = rowsAtOnce;
      yield;
    }
    const lane = set.lanes.get(row.key);
    if (!lane || lane.last <= from) continue;
    for (let i = bisect(lane.from, lane.to, (k) => start[k] + dur[k] <= from); i < lane.to && start[i] < to; i++) {
      const a = Math.max(start[i], from);
      const b = Math.min(start[i] + dur[i], to);
      const lock = locked === null || state[i] === lockState || dur[i] === 0 ? 0 : locked[i] / dur[i];
      add(state[i], a, b, 1 - lock);
      if (lock > 0) add(lockState, a, b, lock);
    }
  }
  const states = [];
  for (let s = 0; s < of.length; s++) {
    if (!of[s] || set.names[s] === "unknown") continue;
    const { whole, part } = of[s];
    let now = 0;
    states.push({ state: s, rows: Float32Array.from(part, (v, k) => Math.max(0, (now += whole[k]) + v)) });
  }
  return { most, set, rows, from, to, width, states };
}

/**
 * Returns the maximum number of rows at once: of many alike rows few exist at the same time.
 * @param {StateSet} set @param {Row[]} rows @returns {Generator<void, number>}
 */
function* mostAtOnceSteps(set, rows) {
  const [first, last] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  let n = 0;
  for (const row of rows) {
    const lane = set.lanes.get(row.key);
    if (lane) [first[n], last[n++]] = [lane.first, lane.last];
    if (n % lanesAtOnce === 0) yield;
  }
  const begins = yield* sortSteps(first.subarray(0, n), byNumber);
  const ends = yield* sortSteps(last.subarray(0, n), byNumber);
  let [most, ended] = [0, 0];
  for (let k = 0; k < n; k++) {
    while (ends[ended] <= begins[k]) ended++;
    most = Math.max(most, k + 1 - ended);
  }
  return most;
}

/**
 * Returns the number of rows in each state at a time, the most frequent first.
 * @param {StateSet} set
 * @param {Row[]} rows
 * @param {number} t
 * @returns {{state: number, rows: number}[]}
 */
export function statesAt(set, rows, t) {
  const counts = new Map();
  for (const row of rows) {
    const lane = set.lanes.get(row.key);
    if (!lane || t < lane.first || t >= lane.last) continue;
    const s = set.state[bisect(lane.from, lane.to, (k) => set.start[k] + set.dur[k] <= t)];
    if (set.names[s] !== "unknown") counts.set(s, (counts.get(s) ?? 0) + 1);
  }
  return [...counts].map(([state, n]) => ({ state, rows: n })).sort((a, b) => b.rows - a.rows || a.state - b.state);
}
