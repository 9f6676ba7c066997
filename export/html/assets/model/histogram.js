// Exact quantiles and distributions of durations.

import { lowerBound } from "../data/bisect.js";
import { Flag, isScope } from "../data/kinds.js";

/**
 * Returns the quantile q of sorted values by the nearest rank, without interpolation: the smallest value such that at
 * least the share q of all values do not exceed it; 0 without values.
 * @param {Float64Array} sorted
 * @param {number} q
 */
export function quantileOf(sorted, q) {
  const n = sorted.length;
  if (n === 0) return 0;
  // Rounding may make the product slightly larger than the exact integer.
  const rank = Math.min(Math.max(Math.ceil(q * n - 1e-6), 1), n);
  return sorted[rank - 1];
}

/** The maximum number of buckets of a distribution. */
const mostBuckets = 40;

/**
 * Returns the distribution of a name's durations, and the place of one of them. Buckets have equal width on a
 * logarithmic scale. rank is the number of shorter durations; quantile the share of durations that are not longer.
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

/**
 * Returns buckets of equal width on a logarithmic scale; the last contains the longest duration.
 * @param {Float64Array} sorted
 */
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
