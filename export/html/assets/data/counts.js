// How many goroutines ran, could have run, and did neither, at every moment: exact
// steps, or averages of stretches where states are merged.

import { bisect } from "./bisect.js";

/** @typedef {import("./states.js").StateSet} StateSet */

/** What goroutines count as, in the order in which they are drawn over each other. */
export const countNames = /** @type {const} */ (["running", "runnable", "blocked"]);
const countClasses = countNames.length;

const runningStates = new Set(["cpu", "running", "preempted", "textfault", "datafault", "stalled"]);
/** Steps of which the least, the most and the sum are kept. */
const blockSteps = 256;

/**
 * What there was in a stretch of time.
 * @typedef {{t0: number, t1: number, least: number[], most: number[], mean: number[]}} Counted
 */

/** Steps: k lasts from time[k] to time[k+1]. */
export class Counts {
  /** @param {Float64Array} time one more than values @param {ArrayLike<number>[]} values by class @param {boolean} exact false: they are averages */
  constructor(time, values, exact) {
    this.time = time;
    this.values = values;
    this.exact = exact;
    this.n = time.length - 1;
    const blocks = Math.ceil(this.n / blockSteps) * countClasses;
    this.least = new Float64Array(blocks).fill(Infinity);
    this.most = new Float64Array(blocks);
    this.sum = new Float64Array(blocks);
    for (let c = 0; c < countClasses; c++) {
      for (let k = 0; k < this.n; k++) {
        const b = Math.floor(k / blockSteps) * countClasses + c;
        const v = values[c][k];
        this.least[b] = Math.min(this.least[b], v);
        this.most[b] = Math.max(this.most[b], v);
        this.sum[b] += v * (time[k + 1] - time[k]);
      }
    }
  }

  /** The step that a moment lies in; -1: none. @param {number} t */
  stepAt(t) { return t < this.time[0] || t >= this.time[this.n] ? -1 : bisect(0, this.n, (k) => this.time[k + 1] <= t); }

  /**
   * What there was in [from, to); null: nothing is known of it. It is good until the next call.
   * @param {number} from @param {number} to
   * @returns {Counted|null}
   */
  between(from, to) {
    const { time, values } = this;
    const t0 = Math.max(from, time[0]);
    const t1 = Math.min(to, time[this.n]);
    if (!(t1 > t0)) return null;
    const { least, most, mean } = counted;
    for (let c = 0; c < countClasses; c++) [least[c], most[c], mean[c]] = [Infinity, 0, 0];
    for (let k = this.stepAt(t0); k < this.n && time[k] < t1;) {
      const block = k % blockSteps === 0 && k + blockSteps <= this.n && time[k] >= t0 && time[k + blockSteps] <= t1;
      const b = (k / blockSteps) * countClasses;
      const long = block ? 0 : Math.min(t1, time[k + 1]) - Math.max(t0, time[k]);
      for (let c = 0; c < countClasses; c++) {
        const v = block ? 0 : values[c][k];
        least[c] = Math.min(least[c], block ? this.least[b + c] : v);
        most[c] = Math.max(most[c], block ? this.most[b + c] : v);
        mean[c] += block ? this.sum[b + c] : v * long;
      }
      k += block ? blockSteps : 1;
    }
    for (let c = 0; c < countClasses; c++) mean[c] /= t1 - t0;
    counted.t0 = t0;
    counted.t1 = t1;
    return counted;
  }
}

/** @type {Counted} */
const counted = { t0: 0, t1: 0, least: [0, 0, 0], most: [0, 0, 0], mean: [0, 0, 0] };

/**
 * Counts the goroutines of a set, in each stretch of time of which all is known. The
 * runtime's own count while they run.
 * @param {StateSet} set
 * @returns {Counts[]} by time
 */
export function countsOf(set) {
  const all = set.told.length === 0 ? null : set.res > 0 ? binSteps(set) : stateSteps(set);
  return all === null ? [] : set.told.flatMap(([from, to]) => partOf(all, set.res === 0, Math.max(from, set.from), Math.min(to, set.to)) ?? []);
}

/** @typedef {{time: Float64Array, values: (Uint32Array|Float64Array)[]}} Steps as Counts has them */

/** The steps of a stretch of time; of averages those that lie in it. @param {Steps} all @param {boolean} exact @param {number} from @param {number} to */
function partOf({ time, values }, exact, from, to) {
  const first = Math.max(0, bisect(0, time.length, (k) => time[k] <= from) - 1);
  const end = Math.min(time.length, bisect(0, time.length, (k) => time[k] < to) + 1);
  const i = exact || time[first] === from ? first : first + 1;
  const j = exact || time[end - 1] === to ? end : end - 1;
  if (j - i < 2) return null;
  const cut = time.slice(i, j);
  cut[0] = Math.max(cut[0], from);
  cut[cut.length - 1] = Math.min(cut[cut.length - 1], to);
  return new Counts(cut, values.map((v) => v.subarray(i, j - 1)), exact);
}

/** @param {StateSet} set @returns {Steps|null} */
function binSteps({ bins: { from, width, sums } }) {
  if (!width || sums.some((s) => s === undefined)) return null;
  const n = /** @type {ArrayLike<number>} */ (sums[0]).length;
  return { time: Float64Array.from({ length: n + 1 }, (_, k) => from + k * width), values: sums.map((s) => Float64Array.from(/** @type {ArrayLike<number>} */ (s), (v) => v / width)) };
}

/** What states count as: 0 nothing, else one more than a class. @param {StateSet} set */
function classer(set) {
  const of = Uint8Array.from(set.names, (name) => (runningStates.has(name) ? 1 : name === "runnable" ? 2 : name === "unknown" ? 0 : 3));
  const gc = set.names.indexOf("gc");
  return (/** @type {number} */ i, /** @type {boolean} */ system) => {
    const s = set.state[i];
    let c = of[s];
    // Where it is while it runs nobody tells: a stack is that of a system call.
    if (c === 1 && set.stack[i] !== 0) c = 3;
    if (s === gc && set.thread[i] !== 0) c = 1; // else it waits for the collector
    return system && c !== 1 ? 0 : c;
  };
}

/** @param {StateSet} set @returns {Steps} */
function stateSteps(set) {
  const classOf = classer(set);
  const width = countClasses + 1;
  const changes = new Float64Array(set.state.length + set.lanes.size); // time, from what, to what
  let m = 0;
  for (const lane of set.lanes.values()) {
    let was = 0;
    for (let i = lane.from; i < lane.to; i++) {
      const is = classOf(i, lane.system);
      if (is !== was) changes[m++] = (set.start[i] * width + was) * width + is;
      was = is;
    }
    if (was !== 0) changes[m++] = (lane.last * width + was) * width;
  }
  const sorted = changes.subarray(0, m).sort();
  const time = new Float64Array(m + 1);
  const values = countNames.map(() => new Uint32Array(m));
  const now = new Array(width).fill(0);
  let n = 0;
  for (let k = 0; k < m;) {
    const t = Math.floor(sorted[k] / (width * width));
    for (; k < m && sorted[k] < (t + 1) * width * width; k++) {
      const change = sorted[k] - t * width * width;
      now[Math.floor(change / width)]--;
      now[change % width]++;
    }
    time[n] = t;
    for (let c = 0; c < countClasses; c++) values[c][n] = now[c + 1];
    n++;
  }
  return { time: time.subarray(0, n), values: values.map((v) => v.subarray(0, Math.max(0, n - 1))) };
}
