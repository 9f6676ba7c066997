// Quantiles and distributions of durations, exact.

import { lowerBound } from "../data/bisect.js";
import { Flag, isScope } from "../data/kinds.js";

/**
 * The smallest of sorted values that at least the share q of all do not exceed
 * (the nearest rank, no interpolation); 0 without values.
 * @param {Float64Array} sorted
 * @param {number} q
 */
export function quantileOf(sorted, q) {
  const n = sorted.length;
  if (n === 0) return 0;
  // The product may come out a hair above the whole number that it is.
  const rank = Math.min(Math.max(Math.ceil(q * n - 1e-6), 1), n);
  return sorted[rank - 1];
}

/** How many buckets a distribution has at most. */
const mostBuckets = 40;

/**
 * How the durations of a name are distributed, and where one of them lies.
 * Buckets are of equal width on a logarithmic scale. rank is how many are
 * shorter; quantile what share is not longer.
 * @param {import("./model.js").Model} model
 * @param {number} nameId
 * @param {import("../data/batch.js").Ref|null} ref
 * @returns {{buckets: {lo: number, hi: number, count: number}[], rank: number, of: number, quantile: number}}
 */
export function distribution(model, nameId, ref) {
  const at = ref && model.resolve(ref);
  const kind = at ? at.batch.kind[at.i] : 0;
  const sorted = model.cached(`durations ${nameId} ${isScope(kind) ? 0 : kind}`, () => durationsOf(model, nameId, kind));
  const of = sorted.length;
  const dur = at ? at.batch.dur[at.i] : 0;
  const rank = lowerBound(sorted, dur);
  return { buckets: bucketsOf(sorted), rank, of, quantile: of === 0 ? 0 : lowerBound(sorted, dur + 1) / of };
}

function durationsOf(model, nameId, kind) {
  const list = [];
  const wanted = kind === 0 || isScope(kind) ? isScope : (k) => k === kind;
  for (const batch of model.batches()) {
    for (let i = 0; i < batch.n; i++) {
      if (batch.name[i] === nameId && (batch.flags[i] & (Flag.unended | Flag.across)) === 0 && wanted(batch.kind[i]) && batch.many(i) === 1) list.push(batch.dur[i]);
    }
  }
  return new Float64Array(list).sort();
}

/** Buckets of equal width on a logarithmic scale, the last with the longest. @param {Float64Array} sorted */
export function bucketsOf(sorted) {
  if (sorted.length === 0) return [];
  const min = Math.max(sorted[0], 1);
  const max = Math.max(sorted[sorted.length - 1], min);
  const n = Math.min(mostBuckets, Math.max(1, Math.ceil(Math.log2(max / min) * 6)));
  const step = (max + 1 - min) / min < 1 ? 0 : Math.log((max + 1) / min) / n;
  const edge = (k) => step > 0 ? min * Math.exp(step * k) : min + (max + 1 - min) * k / n;
  const buckets = [];
  for (let k = 0, below = 0; k < n; k++) {
    const hi = k === n - 1 ? max + 1 : edge(k + 1);
    const upTo = k === n - 1 ? sorted.length : lowerBound(sorted, hi);
    buckets.push({ lo: k === 0 ? sorted[0] : edge(k), hi, count: upTo - below });
    below = upTo;
  }
  return buckets;
}
