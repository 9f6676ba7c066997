// The executions of a name whose durations are between two: those of the part of a
// histogram that was brushed. They light up in the timeline as the hits of a search do.

import { Flag, isScope } from "../data/kinds.js";

/**
 * What is lit in the timeline; the rest is dimmed.
 * @typedef {Object} Lit
 * @property {(batch: import("../data/batch.js").Batch, i: number, j?: number) => boolean} has
 * @property {(from: number, to: number, n: number) => Uint32Array} bins
 */

export class Brush {
  /** @param {import("./model.js").Model} model @param {string} name @param {number} lo ns @param {number} hi they are shorter than that */
  constructor(model, name, lo, hi) {
    this.model = model;
    this.name = name;
    this.lo = lo;
    this.hi = hi;
    /** How many lie before each item of a batch. @type {WeakMap<import("../data/batch.js").Batch, Uint32Array>} */
    this.before = new WeakMap();
  }

  /** @param {import("../data/batch.js").Batch} batch */
  upTo(batch) {
    let before = this.before.get(batch);
    if (before) return before;
    this.before.set(batch, before = new Uint32Array(batch.n + 1));
    const name = this.model.names.indexOf(this.name);
    for (let i = 0; i < batch.n; i++) before[i + 1] = before[i] + (batch.name[i] === name && this.is(batch, i) ? 1 : 0);
    return before;
  }

  /** @param {import("../data/batch.js").Batch} batch @param {number} i of the name */
  is(batch, i) {
    return batch.dur[i] >= this.lo && batch.dur[i] < this.hi && isScope(batch.kind[i]) && batch.many(i) === 1 && (batch.flags[i] & (Flag.open | Flag.across)) === 0;
  }

  /** Reports whether one is among the items [i, j) of a batch. @param {import("../data/batch.js").Batch} batch @param {number} i @param {number} j */
  has(batch, i, j = i + 1) {
    const before = this.upTo(batch);
    return before[j] > before[i];
  }

  /** How many touch each of n equal parts of [from, to]. @param {number} from @param {number} to @param {number} n */
  bins(from, to, n) {
    const bins = new Uint32Array(n);
    const scale = n / Math.max(to - from, 1);
    for (const batch of this.model.batches()) {
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
