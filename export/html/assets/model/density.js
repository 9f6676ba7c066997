// The number of rows of a group that were in a scope, and that waited, over time.

import { bisect } from "../data/bisect.js";
import { startOrderSteps } from "../data/order.js";
import { stretchSteps } from "./rowsums.js";

/** The number of steps per block; the maximum of each block is computed ahead. */
const densityBlock = 64;

/**
 * A number of rows in steps: values[k] from times[k] on, zero before the first.
 * @typedef {{values: Float64Array, sums: Float64Array, tops: Float64Array}} Steps sums: the values' integral up to times[k]; tops: the highest of each block
 */

/** The counts of a group. */
export class Density {
  /** @param {Float64Array} times @param {Float64Array} active @param {Float64Array} waiting @param {boolean} merged */
  constructor(times, active, waiting, merged) {
    this.times = times;
    this.active = stepsOf(times, active);
    this.waiting = stepsOf(times, waiting);
    /** The maximum number of rows that were in a scope or waited at once. */
    this.most = [this.active, this.waiting].reduce((most, { tops }) => tops.reduce((a, b) => Math.max(a, b), most), 0);
    /** Some scopes are merged; each counts with the busy share of its time. */
    this.merged = merged;
  }

  /** Returns the step at a time; -1: before the first. @param {number} t */
  stepAt(t) { return bisect(0, this.times.length, (k) => this.times[k] <= t) - 1; }

  /** Returns the counts at a time. @param {number} t */
  at(t) {
    const k = this.stepAt(t);
    return k < 0 ? { active: 0, waiting: 0 } : { active: this.active.values[k], waiting: this.waiting.values[k] };
  }

  /**
   * Returns the minimum, median and maximum number of rows in a scope in [from, to].
   * @param {number} from @param {number} to
   */
  spread(from, to) {
    const { times, active: { values } } = this;
    const spent = new Float64Array(Math.round(this.most) + 1);
    let k = this.stepAt(from);
    for (let t = from; t < to; k++) {
      const next = k + 1 < times.length ? Math.min(times[k + 1], to) : to;
      spent[k < 0 ? 0 : Math.round(values[k])] += next - t;
      t = next;
    }
    const had = [...spent.keys()].filter((n) => spent[n] > 0);
    let half = (to - from) / 2;
    const median = had.find((n) => (half -= spent[n]) <= 0) ?? 0;
    return { min: had[0] ?? 0, median, max: had.at(-1) ?? 0 };
  }

  /**
   * Calls visit for each of n equal parts of [from, to] with the mean and the maximum number
   * of rows in a scope and of waiting rows. The cost depends on n.
   * @param {number} from @param {number} to @param {number} n
   * @param {(x: number, active: number, activeTop: number, waiting: number, waitingTop: number) => void} visit
   */
  parts(from, to, n, visit) {
    const { times, active, waiting } = this;
    const part = (to - from) / n;
    let a = this.stepAt(from);
    let busy = integral(times, active, a, from);
    let wait = integral(times, waiting, a, from);
    for (let x = 0; x < n; x++) {
      const end = from + (x + 1) * part;
      const b = lastUpTo(times, a, end);
      const nextBusy = integral(times, active, b, end);
      const nextWait = integral(times, waiting, b, end);
      const last = times[b] === end ? b - 1 : b; // a step at the end belongs to the next part
      visit(x, (nextBusy - busy) / part, highest(active, a, last), (nextWait - wait) / part, highest(waiting, a, last));
      a = b;
      busy = nextBusy;
      wait = nextWait;
    }
  }
}

/**
 * Returns the last step up to t, searched from k on, nearby first.
 * @param {Float64Array} times @param {number} k @param {number} t
 */
function lastUpTo(times, k, t) {
  let step = 1;
  while (k + step < times.length && times[k + step] <= t) step *= 2;
  return bisect(Math.max(0, k + (step >> 1)), Math.min(times.length, k + step), (i) => times[i] <= t) - 1;
}

/** @param {Float64Array} times @param {Steps} steps @param {number} k the step at t @param {number} t */
function integral(times, { values, sums }, k, t) { return k < 0 ? 0 : sums[k] + values[k] * (t - times[k]); }

/** Returns the maximum of steps a to b. @param {Steps} steps @param {number} a @param {number} b */
function highest({ values, tops }, a, b) {
  let top = a < 0 ? 0 : values[a];
  for (let k = a + 1; k <= b;) {
    if (k % densityBlock === 0 && k + densityBlock <= b + 1) {
      top = Math.max(top, tops[k / densityBlock]);
      k += densityBlock;
    } else {
      top = Math.max(top, values[k++]);
    }
  }
  return top;
}

/** @param {Float64Array} times @param {Float64Array} values @returns {Steps} */
function stepsOf(times, values) {
  const sums = new Float64Array(values.length);
  const tops = new Float64Array(Math.ceil(values.length / densityBlock));
  for (let k = 0; k < values.length; k++) {
    if (k > 0) sums[k] = sums[k - 1] + values[k - 1] * (times[k] - times[k - 1]);
    tops[Math.floor(k / densityBlock)] = Math.max(tops[Math.floor(k / densityBlock)], values[k]);
  }
  return { values, sums, tops };
}

/**
 * Returns the counts of some rows; computed once, and once a second while the trace grows.
 * @param {import("./model.js").Model} model
 * @param {string} id of the group
 * @param {import("./rowset.js").Row[]} rows
 * @returns {Density|null} the latest counts; null: there are none yet
 */
export function densityOf(model, id, rows) { return model.spaced(`density ${id}`, rows, () => densitySteps(model, rows)); }

/** @param {import("./model.js").Model} model @param {import("./rowset.js").Row[]} rows @returns {Generator<void, Density>} */
function* densitySteps(model, rows) {
  /** @type {{busy: number[], wait: number[]}[]} */
  const all = [];
  for (const row of rows) {
    all.push(yield* stretchSteps(model, row));
    yield;
  }
  const lists = all.flatMap(({ busy, wait }) => [busy, wait]);
  const n = lists.reduce((sum, list) => sum + list.length / 2, 0);
  const time = new Float64Array(n);
  const step = new Float64Array(n);
  const waits = new Uint8Array(n);
  let at = 0;
  let merged = false;
  lists.forEach((list, which) => {
    for (const end of [0, 1]) {
      for (let k = 0; k < list.length; k += 4) {
        if (list[k + end] === Infinity) continue; // it has not ended
        time[at] = list[k + end];
        step[at] = end === 1 ? -list[k + 2] : list[k + 2];
        merged ||= list[k + 2] < 1;
        waits[at++] = which % 2;
      }
    }
  });
  const order = yield* startOrderSteps(time, waits, at);
  const times = new Float64Array(at);
  const active = new Float64Array(at);
  const waiting = new Float64Array(at);
  const exact = (/** @type {number} */ v) => (merged ? Math.max(0, Math.round(v * 1e6) / 1e6) : v);
  let [k, busy, wait] = [-1, 0, 0];
  for (const i of order) {
    if (k < 0 || time[i] > times[k]) times[++k] = time[i];
    if (waits[i] === 1) wait += step[i];
    else busy += step[i];
    active[k] = exact(busy);
    waiting[k] = exact(wait);
  }
  return new Density(times.subarray(0, k + 1), active.subarray(0, k + 1), waiting.subarray(0, k + 1), merged);
}
