// What is lit in the timeline, while the rest is dimmed: the hits of a search, or what
// is brushed.

/** @import { Batch } from "../data/batch.js" */

/** Some items of batches, looked up in runs of any length at once. */
export class Lit {
  /** @param {() => Batch[]} all the batches among which they are */
  constructor(all) {
    this.all = all;
    /** @type {WeakMap<Batch, Uint32Array>} */
    this.before = new WeakMap();
  }

  /** How many are before each item of a batch, and at last before its end. @param {Batch} batch */
  upTo(batch) {
    let before = this.before.get(batch);
    if (!before) this.before.set(batch, before = this.countIn(batch));
    return before;
  }

  /** What upTo returns, counted. @param {Batch} batch @returns {Uint32Array} */
  countIn(batch) { return new Uint32Array(batch.n + 1); }

  /** Reports whether one is among the items [i, j) of a batch. @param {Batch} batch @param {number} i @param {number} j */
  has(batch, i, j = i + 1) {
    const before = this.upTo(batch);
    return before[j] > before[i];
  }

  /** How many touch each of n equal parts of [from, to]. @param {number} from @param {number} to @param {number} n */
  bins(from, to, n) {
    const bins = new Uint32Array(n);
    const scale = n / Math.max(to - from, 1);
    for (const batch of this.all()) {
      const before = this.upTo(batch);
      for (let i = 0; i < batch.n; i++) {
        if (before[i + 1] === before[i]) continue;
        const last = Math.min(Math.floor((batch.end(i) - from) * scale), n - 1);
        for (let b = Math.max(Math.floor((batch.start[i] - from) * scale), 0); b <= last; b++) bins[b]++;
      }
    }
    return bins;
  }
}
