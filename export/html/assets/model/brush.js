// The executions of a name within a range of durations, from the brushed part of a
// histogram. They are highlighted in the timeline like the hits of a search.

import { Flag, isScope } from "../data/kinds.js";
import { Lit } from "./lit.js";

export class Brush extends Lit {
  /** @param {import("./model.js").Model} model @param {string} name @param {number} lo ns @param {number} hi they are shorter than that */
  constructor(model, name, lo, hi) {
    super(() => model.batches());
    this.model = model;
    this.name = name;
    this.lo = lo;
    this.hi = hi;
  }

  /** @param {import("../data/batch.js").Batch} batch */
  countIn(batch) {
    const before = new Uint32Array(batch.n + 1);
    const name = this.model.names.indexOf(this.name);
    for (let i = 0; i < batch.n; i++) before[i + 1] = before[i] + (batch.name[i] === name && this.is(batch, i) ? 1 : 0);
    return before;
  }

  /** @param {import("../data/batch.js").Batch} batch @param {number} i of the name */
  is(batch, i) {
    return batch.dur[i] >= this.lo && batch.dur[i] < this.hi && isScope(batch.kind[i]) && batch.many(i) === 1 && (batch.flags[i] & (Flag.unended | Flag.across)) === 0;
  }
}
