// The differences of two traces by name: number and durations of scopes, and whether a
// difference exceeds the spread of the durations.

import { Flag, isScope } from "../data/kinds.js";
import { quantileOf } from "./histogram.js";
import { byNumber, sortSteps } from "../data/slices.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./stats.js").Summary} Summary */

/**
 * The maximum number of durations of a name that are tested; of more, an evenly spaced
 * selection of the sorted durations.
 */
const mostTested = 20_000;
/** The minimum number of durations of a side for a test; below it, the p99 is one of the longest ones. */
const fewest = 5;
const fewestForTail = 300;
/** Two sides differ if the probability of chance is at most this: there may be hundreds of names, */
const chance = 1e-4;
/**
 * and if an execution of B is longer than one of A in at least this share of all pairs: a
 * small effect, by Vargha and Delaney (2000).
 */
const smallEffect = 0.56;
/** The minimum ratio of two different p99s. */
const tailFactor = 1.5;

/**
 * A name in one trace: the individually known durations, sorted, and the number of merged
 * ones. Sums and quantiles cover all of them if known.
 * @typedef {{count: number, total: number, p50: number, p99: number, max: number, sorted: Float64Array, merged: number}} Side
 *
 * The verdict about a name.
 * @typedef {"slower"|"faster"|"slower tail"|"faster tail"|"within the spread"|"too few"|"merged"|"new"|"gone"} Verdict
 *
 * @typedef {Object} NameDifference
 * @property {string} name
 * @property {Side} a
 * @property {Side} b
 * @property {Verdict} verdict
 * @property {number} p probability of the difference by chance; NaN: not tested
 * @property {number} effect share of all pairs in which B's is longer; NaN: not tested
 */

/** @returns {Side} */
function noSide() { return { count: 0, total: 0, p50: 0, p99: 0, max: 0, sorted: new Float64Array(0), merged: 0 }; }

/**
 * Collects the durations of all ended scopes by name. It reads each item twice.
 * @param {Model} model @param {Summary|null} exact the exact table of a reduced trace; null: there is none
 * @returns {Generator<void, Map<string, Side>>}
 */
function* durationSteps(model, exact = null) {
  const counts = new Float64Array(model.names.length);
  const merged = new Float64Array(model.names.length);
  const visit = function* (/** @type {(name: number, dur: number) => void} */ take) {
    for (const batch of model.batches()) {
      for (let i = 0; i < batch.n; i++) {
        if ((i & 0xffff) === 0xffff) yield;
        if (isScope(batch.kind[i]) && (batch.flags[i] & (Flag.unended | Flag.across)) === 0) {
          if (batch.many(i) === 1) take(batch.name[i], batch.dur[i]);
          else merged[batch.name[i]] += batch.many(i);
        }
      }
    }
  };
  yield* visit((name) => { counts[name]++; });
  const lists = Array.from(counts, (n) => new Float64Array(n));
  counts.fill(0);
  merged.fill(0);
  yield* visit((name, dur) => { lists[name][counts[name]++] = dur; });
  /** @type {Map<string, Side>} */
  const sides = new Map();
  for (let name = 0; name < lists.length; name++) {
    if (lists[name].length + merged[name] === 0) continue;
    const sorted = yield* sortSteps(lists[name], byNumber);
    sides.set(model.name(name), { count: sorted.length, total: sorted.reduce((sum, d) => sum + d, 0), p50: quantileOf(sorted, 0.5), p99: quantileOf(sorted, 0.99), max: sorted[sorted.length - 1] ?? 0, sorted, merged: merged[name] });
  }
  for (const { name, count, total, p50, p99, max } of exact?.scopes ?? []) {
    if (count === 0) continue;
    const { sorted } = sides.get(model.name(name)) ?? noSide();
    sides.set(model.name(name), { count, total, p50, p99, max, sorted, merged: count - sorted.length });
  }
  return sides;
}

/**
 * Compares two traces.
 * @param {Model} a @param {Model} b @param {(Summary|null)[]} exact the exact tables of the two, where they are reduced
 * @returns {Generator<void, NameDifference[]>} sorted by the additional time of b
 */
export function* compareSteps(a, b, exact = []) {
  const [left, right] = [yield* durationSteps(a, exact[0]), yield* durationSteps(b, exact[1])];
  /** @type {NameDifference[]} */
  const list = [];
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    list.push(compareSides(name, left.get(name) ?? noSide(), right.get(name) ?? noSide()));
    yield;
  }
  return list.sort((x, y) => (y.b.total - y.a.total) - (x.b.total - x.a.total) || (x.name < y.name ? -1 : 1));
}

/** @param {string} name @param {Side} a @param {Side} b @returns {NameDifference} */
export function compareSides(name, a, b) {
  const of = (/** @type {Verdict} */ verdict, p = NaN, effect = NaN) => ({ name, a, b, verdict, p, effect });
  if (a.count + a.merged === 0) return of("new");
  if (b.count + b.merged === 0) return of("gone");
  if (a.merged > 0 || b.merged > 0) return of("merged"); // the individually known ones are the long ones
  if (a.count < fewest || b.count < fewest) return of("too few");
  const { p, effect } = rankTest(evenly(a.sorted), evenly(b.sorted));
  if (p < chance && effect >= smallEffect) return of("slower", p, effect);
  if (p < chance && effect <= 1 - smallEffect) return of("faster", p, effect);
  if (a.count >= fewestForTail && b.count >= fewestForTail) {
    const tail = quantileOf(b.sorted, 0.99) / Math.max(1, quantileOf(a.sorted, 0.99));
    if (tail >= tailFactor) return of("slower tail", p, effect);
    if (tail <= 1 / tailFactor) return of("faster tail", p, effect);
  }
  return of("within the spread", p, effect);
}

/** @param {Float64Array} sorted */
function evenly(sorted) {
  const n = sorted.length;
  return n <= mostTested ? sorted : Float64Array.from({ length: mostTested }, (_, k) => sorted[Math.floor(((k + 0.5) * n) / mostTested)]);
}

/**
 * The test of Mann and Whitney (1947) with the normal approximation, corrected for ties and
 * continuity. effect is U divided by the number of pairs.
 * @param {Float64Array} a sorted @param {Float64Array} b sorted
 * @returns {{p: number, effect: number}}
 */
export function rankTest(a, b) {
  const [m, n] = [a.length, b.length];
  let u = 0; // pairs in which b is longer; ties count half
  let ties = 0;
  for (let i = 0, j = 0; i < m || j < n;) {
    const v = i < m && (j >= n || a[i] <= b[j]) ? a[i] : b[j];
    const [i0, j0] = [i, j];
    while (i < m && a[i] === v) i++;
    while (j < n && b[j] === v) j++;
    const [x, y] = [i - i0, j - j0];
    u += y * (i0 + x / 2);
    ties += (x + y) ** 3 - (x + y);
  }
  const all = m + n;
  const deviation = Math.sqrt(((m * n) / 12) * (all + 1 - ties / (all * (all - 1))));
  const z = deviation > 0 ? Math.max(0, Math.abs(u - (m * n) / 2) - 0.5) / deviation : 0;
  return { p: 2 * normalTail(z), effect: u / (m * n) };
}

/**
 * Returns the probability that a normal value exceeds z ≥ 0: Abramowitz and Stegun, 26.2.17,
 * with an error below 7.5e-8.
 * @param {number} z
 */
function normalTail(z) {
  const t = 1 / (1 + 0.2316419 * z);
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.max(0, (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly);
}

/**
 * Returns both sides in common buckets of equal width on a logarithmic scale.
 * @param {Float64Array} a sorted @param {Float64Array} b sorted @param {number} most
 * @returns {{lo: number, hi: number, a: number, b: number}[]}
 */
export function pairedBuckets(a, b, most = 40) {
  const lows = [a, b].filter((s) => s.length > 0);
  if (lows.length === 0) return [];
  const min = Math.max(1, Math.min(...lows.map((s) => s[0])));
  const max = Math.max(min, ...lows.map((s) => s[s.length - 1])) + 1;
  const n = Math.min(most, Math.max(1, Math.ceil(Math.log2(max / min) * 6)));
  const edges = Array.from({ length: n + 1 }, (_, k) => (k === 0 ? 0 : k === n ? max : min * (max / min) ** (k / n)));
  const within = (/** @type {Float64Array} */ s) => {
    const counts = new Array(n).fill(0);
    let k = 0;
    for (const d of s) {
      while (k < n - 1 && d >= edges[k + 1]) k++;
      counts[k]++;
    }
    return counts;
  };
  const [ca, cb] = [within(a), within(b)];
  return ca.map((count, k) => ({ lo: k === 0 ? min : edges[k], hi: edges[k + 1], a: count, b: cb[k] }));
}

/**
 * Returns the findings of the doctor that are in one of two reports, or in both with different shares.
 * @param {import("../data/meta.js").DoctorReport|null} a @param {import("../data/meta.js").DoctorReport|null} b
 * @returns {{change: "new"|"gone"|"stayed", finding: import("../data/meta.js").Finding, was: number|null, is: number|null}[]}
 */
export function findingsBetween(a, b) {
  const id = (/** @type {import("../data/meta.js").Finding} */ f) => `${f.verdict}:${f.object ?? ""}`;
  const before = new Map((a?.findings ?? []).map((f) => [id(f), f]));
  const after = new Map((b?.findings ?? []).map((f) => [id(f), f]));
  return [
    ...[...after].map(([key, finding]) => ({ change: /** @type {"new"|"stayed"} */ (before.has(key) ? "stayed" : "new"), finding, was: before.get(key)?.share ?? null, is: finding.share })),
    ...[...before].filter(([key]) => !after.has(key)).map(([, finding]) => ({ change: /** @type {"gone"} */ ("gone"), finding, was: finding.share, is: null })),
  ];
}

/**
 * Returns the time of all goroutines by state, ns. A merged run counts as the state with
 * most of its time; exact is then false. null: unknown, or known only for a part of the run.
 * @param {Model} model
 * @returns {{times: Map<string, number>, exact: boolean}|null}
 */
export function timesByState(model) {
  const set = model.waits.states;
  if (!set || set.from > 0 || set.to < model.end * 0.999) return null;
  const times = new Map();
  for (const lane of set.lanes.values()) {
    if (lane.system) continue;
    for (let i = lane.from; i < lane.to; i++) times.set(set.nameOf(set.state[i]), (times.get(set.nameOf(set.state[i])) ?? 0) + set.dur[i]);
  }
  return { times, exact: set.count === null };
}
