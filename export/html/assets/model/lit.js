// Highlighting in the timeline, which dims all else: the hits of a search, or the brushed executions.

/** @import { Batch } from "../data/batch.js" */

/** A set of items of batches, tested for runs of any length in constant time. */
export class Lit {
  /** @param {() => Batch[]} all the batches among which they are */
  constructor(all) {
    this.all = all;
    /** @type {WeakMap<Batch, Uint32Array>} */
    this.before = new WeakMap();
  }

  /** Returns the number of members before each item of a batch, and before its end. @param {Batch} batch */
  upTo(batch) {
    let before = this.before.get(batch);
    if (!before) this.before.set(batch, before = this.countIn(batch));
    return before;
  }

  /** Computes the result of upTo. @param {Batch} batch @returns {Uint32Array} */
  countIn(batch) { return new Uint32Array(batch.n + 1); }

  /**
   * Reports whether items [i, j) of a batch contain a member.
   * @param {Batch} batch @param {number} i @param {number} j
   */
  has(batch, i, j = i + 1) {
    const before = this.upTo(batch);
    return before[j] > before[i];
  }

  /**
   * Returns the number of members that touch each of n equal parts of [from, to].
   * @param {number} from @param {number} to @param {number} n
   */
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
