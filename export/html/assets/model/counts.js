// The number of goroutines that ran, were runnable, or neither, over time: exact steps, or
// averages of stretches where states are merged.

import { bisect } from "../data/bisect.js";
import { byNumber, sortSteps } from "../data/slices.js";

/** @typedef {import("../data/states.js").StateSet} StateSet */

/** The classes of goroutines, in the order in which they are stacked. */
export const countNames = /** @type {const} */ (["running", "runnable", "blocked"]);
const countClasses = countNames.length;

const runningStates = new Set(["cpu", "running", "preempted", "textfault", "datafault", "stalled"]);
/** The number of steps, or of smaller blocks, per block; a block stores minimum, maximum and sum. */
const blockSteps = 16;

/**
 * The counts in a range of time.
 * @typedef {{t0: number, t1: number, least: number[], most: number[], mean: number[]}} Counted
 */

/** The steps: step k lasts from time[k] to time[k+1]. */
export class Counts {
  /**
   * See newCounts.
   * @param {Float64Array} time one longer than values
   * @param {ArrayLike<number>[]} values by class
   * @param {boolean} exact false: averages
   */
  constructor(time, values, exact) {
    this.time = time;
    this.values = values;
    this.exact = exact;
    this.n = time.length - 1;
    /** Blocks of steps, blocks of these blocks, and so on. @type {CountBlocks[]} */
    this.blocks = [];
  }

  /** Returns the step that contains t; -1: none. @param {number} t */
  stepAt(t) { return t < this.time[0] || t >= this.time[this.n] ? -1 : bisect(0, this.n, (k) => this.time[k + 1] <= t); }

  /**
   * Returns the counts in [from, to); null: unknown. The result is valid until the next call.
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
      let level = -1;
      let size = 1;
      // The largest block that begins here and lies in the range.
      while (level + 1 < this.blocks.length && k % (size * blockSteps) === 0 && k + size * blockSteps <= this.n && time[k] >= t0 && time[k + size * blockSteps] <= t1) {
        level++;
        size *= blockSteps;
      }
      if (level < 0) {
        const long = Math.min(t1, time[k + 1]) - Math.max(t0, time[k]);
        for (let c = 0; c < countClasses; c++) {
          const v = values[c][k];
          if (v < least[c]) least[c] = v;
          if (v > most[c]) most[c] = v;
          mean[c] += v * long;
        }
      } else {
        const block = this.blocks[level];
        const b = (k / size) * countClasses;
        for (let c = 0; c < countClasses; c++) {
          if (block.least[b + c] < least[c]) least[c] = block.least[b + c];
          if (block.most[b + c] > most[c]) most[c] = block.most[b + c];
          mean[c] += block.sum[b + c];
        }
      }
      k += size;
    }
    for (let c = 0; c < countClasses; c++) mean[c] /= t1 - t0;
    counted.t0 = t0;
    counted.t1 = t1;
    return counted;
  }
}

/** @typedef {{least: Float64Array, most: Float64Array, sum: Float64Array}} CountBlocks by block and class */

/** @param {Float64Array} time @param {ArrayLike<number>[]} values @param {boolean} exact @returns {Generator<void, Counts>} */
export function* newCounts(time, values, exact) {
  const counts = new Counts(time, values, exact);
  for (let size = blockSteps; size <= counts.n; size *= blockSteps) counts.blocks.push(yield* countBlocks(counts, size));
  return counts;
}

/**
 * Builds the blocks of size steps from those of the level below.
 * @param {Counts} counts @param {number} size @returns {Generator<void, CountBlocks>}
 */
function* countBlocks({ time, values, n, blocks }, size) {
  const below = blocks.at(-1);
  const count = Math.floor(n / size) * countClasses;
  const made = { least: new Float64Array(count).fill(Infinity), most: new Float64Array(count), sum: new Float64Array(count) };
  for (let b = 0; b < count; b++) {
    if ((b & 0x3ff) === 0) yield;
    const c = b % countClasses;
    const first = ((b - c) / countClasses) * blockSteps;
    for (let j = 0; j < blockSteps; j++) {
      const k = below ? (first + j) * countClasses + c : first + j;
      const [least, most, sum] = below ? [below.least[k], below.most[k], below.sum[k]] : [values[c][k], values[c][k], values[c][k] * (time[k + 1] - time[k])];
      made.least[b] = Math.min(made.least[b], least);
      made.most[b] = Math.max(made.most[b], most);
      made.sum[b] += sum;
    }
  }
  return made;
}

/** @type {Counted} */
const counted = { t0: 0, t1: 0, least: [0, 0, 0], most: [0, 0, 0], mean: [0, 0, 0] };

/**
 * Counts the goroutines of a set, in each completely known range of time. Those of the
 * runtime count only while they run.
 * @param {StateSet} set
 * @returns {Generator<void, Counts[]>} in order of time
 */
export function* countSteps(set) {
  const all = set.complete.length === 0 ? null : set.res > 0 ? binSteps(set) : yield* stateSteps(set);
  const list = [];
  for (const [from, to] of all === null ? [] : set.complete) {
    const part = partOf(/** @type {Steps} */ (all), set.res === 0, Math.max(from, set.from), Math.min(to, set.to));
    if (part !== null) list.push(yield* newCounts(part.time, part.values, set.res === 0));
  }
  return list;
}

/** @typedef {{time: Float64Array, values: (Uint32Array|Float64Array)[]}} Steps as Counts has them */

/**
 * Returns the steps of a range of time; of averages, those inside it.
 * @param {Steps} all
 * @param {boolean} exact
 * @param {number} from
 * @param {number} to
 * @returns {Steps|null}
 */
function partOf({ time, values }, exact, from, to) {
  const first = Math.max(0, bisect(0, time.length, (k) => time[k] <= from) - 1);
  const end = Math.min(time.length, bisect(0, time.length, (k) => time[k] < to) + 1);
  const i = exact || time[first] === from ? first : first + 1;
  const j = exact || time[end - 1] === to ? end : end - 1;
  if (j - i < 2) return null;
  const cut = time.slice(i, j);
  cut[0] = Math.max(cut[0], from);
  cut[cut.length - 1] = Math.min(cut[cut.length - 1], to);
  return { time: cut, values: values.map((v) => v.subarray(i, j - 1)) };
}

/** @param {StateSet} set @returns {Steps|null} */
function binSteps({ bins: { from, width, sums } }) {
  if (!width || sums.length < countClasses) return null;
  const n = sums[0].length;
  return { time: Float64Array.from({ length: n + 1 }, (_, k) => from + k * width), values: sums.map((s) => Float64Array.from(s, (v) => v / width)) };
}

/** Returns a function that returns the class of a state: 0 for none, else the class plus one. @param {StateSet} set */
function classer(set) {
  const of = Uint8Array.from(set.names, (name) => (runningStates.has(name) ? 1 : name === "runnable" ? 2 : name === "unknown" ? 0 : 3));
  const gc = set.names.indexOf("gc");
  return (/** @type {number} */ i, /** @type {boolean} */ system) => {
    const s = set.state[i];
    let c = of[s];
    // An interval of running has no stack; one with a stack is a system call.
    if (c === 1 && set.stack[i] !== 0) c = 3;
    if (s === gc && set.thread[i] !== 0) c = 1; // otherwise it waits for the collector
    return system && c !== 1 ? 0 : c;
  };
}

/** @param {StateSet} set @returns {Generator<void, Steps>} */
function* stateSteps(set) {
  const classOf = classer(set);
  const width = countClasses + 1;
  const changes = new Float64Array(set.state.length + set.lanes.size); // triples of time, old class, new class
  let m = 0;
  for (const lane of set.lanes.values()) {
    yield;
    let was = 0;
    for (let i = lane.from; i < lane.to; i++) {
      const is = classOf(i, lane.system);
      if (is !== was) changes[m++] = (set.start[i] * width + was) * width + is;
      was = is;
    }
    if (was !== 0) changes[m++] = (lane.last * width + was) * width;
  }
  const sorted = yield* sortSteps(changes.subarray(0, m), byNumber);
  const time = new Float64Array(m + 1);
  const values = countNames.map(() => new Uint32Array(m));
  const now = new Array(width).fill(0);
  let n = 0;
  for (let k = 0; k < m;) {
    if ((n & 0x3fff) === 0) yield;
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
