// The differences between some executions of a name and others: the slowest hundredth and the middle half, or the brushed
// ones and the rest: where their time goes, and what they have in common. As in the command line's
// `functions --slowest`, the outermost of nested executions counts.

import { Kind, isScope } from "../data/kinds.js";
import { stateText } from "../data/states.js";
import { quantileOf } from "./histogram.js";
import { lockArgs } from "./waitlinks.js";
import { itemsAtOnce } from "./replay.js";
import { rootSteps } from "./roots.js";
import { walkRuns } from "./runs.js";

/**
 * A cause: mean ns of a slow execution and of a usual one.
 * @typedef {{kind: "lock"|"callee"|"self"|"state", label: string, slow: number, usual: number}} Cause
 *
 * A trait: the number of slow and of usual executions that have it.
 * @typedef {{kind: "row"|"parent"|"argument", label: string, slow: number, usual: number}} Trait
 *
 * @typedef {Object} SlowRuns
 * @property {boolean} brushed the slow ones are those of the brush, and the usual ones all others
 * @property {number} of number of outermost executions
 * @property {number} limit minimum duration of the slow ones
 * @property {[number, number]} counts numbers of slow and of usual ones
 * @property {[number, number]} means of their durations
 * @property {Cause[]} causes sorted by the excess of the slow ones
 * @property {Trait[]} traits sorted by the excess of the slow ones
 * @property {[number, number]} stated numbers of executions with known states
 * @property {number} stateRes shorter states are merged, ns
 * @property {import("./roots.js").Root[]} roots of their time, sorted by the excess of the slow ones
 * @property {[number, number]} followed numbers of executions whose roots were looked for
 * @property {boolean} merged short scopes are merged, so times of locks and callees may be too low
 */

/** The share of slow executions. */
const slowShare = 0.01;
/** The maximum number of causes and traits. */
const maxDifferences = 20;

/**
 * @param {import("./model.js").Model} model
 * @param {import("./runs.js").Runs} runs
 * @param {import("./facets.js").Facet[]} facets
 * @param {{lo: number, hi: number}|null} brush null: the slowest against the middle half
 * @returns {Generator<void, SlowRuns|null>} null: none is slower than the others
 */
export function* slowSteps(model, runs, facets, brush = null) {
  const found = yield* sidesOf(runs, brush);
  if (found === null) return null;
  const { side, counts } = found;
  const sums = /** @type {Map<string, Cause>} */ (new Map());
  const add = (/** @type {Cause["kind"]} */ kind, /** @type {string} */ label, /** @type {number} */ s, /** @type {number} */ ns) => {
    const key = `${kind} ${label}`;
    let c = sums.get(key);
    if (!c) sums.set(key, c = { kind, label, slow: 0, usual: 0 });
    c[s === 1 ? "slow" : "usual"] += ns;
  };
  const locks = new Map();
  let merged = false;
  if (!runs.alone) yield* walkRuns(runs, {
    run() {},
    inside(run, batch, i, ns, direct) {
      const s = side[run];
      if (s === 0) return;
      if (batch.many(i) > 1) merged = true;
      else if (batch.kind[i] === Kind.wait) add("lock", lockLabel(model, locks, batch, i), s, ns);
      else if (direct && isScope(batch.kind[i])) add("callee", model.name(batch.name[i]), s, ns);
    },
    own(run, ns) { if (side[run] > 0) add("self", model.name(runs.nameId), side[run], ns); },
  });
  for (const c of sums.values()) {
    c.slow /= counts[0];
    c.usual /= counts[1];
  }
  const { stated, causes } = yield* statesOf(model, runs, side);
  const more = (/** @type {Cause} */ c) => c.slow - c.usual;
  return {
    ...found, brushed: brush !== null, ...yield* rootSteps(model, runs, side), merged, stated, stateRes: causes.length > 0 ? model.waits.states?.res ?? 0 : 0,
    causes: [...sums.values(), ...causes].sort((a, b) => more(b) - more(a)).slice(0, maxDifferences), traits: yield* traitsOf(facets, side, counts),
  };
}

/** Marks slow executions by 1 and usual ones by 2; null: all are slow. @param {import("./runs.js").Runs} runs @param {{lo: number, hi: number}|null} brush */
function* sidesOf({ n, order, outer, dur }, brush) {
  const all = new Float64Array(n);
  let of = 0;
  for (let at = 0; at < n; at++) if (outer[order[at]] === 1) all[of++] = dur[order[at]];
  yield;
  const sorted = all.subarray(0, of);
  if (of === 0) return null;
  const limit = sorted[of - Math.ceil(slowShare * of)];
  const [lo, hi] = [quantileOf(sorted, 0.25), quantileOf(sorted, 0.75)];
  const side = new Uint8Array(n);
  const counts = /** @type {[number, number]} */ ([0, 0]);
  const means = /** @type {[number, number]} */ ([0, 0]);
  for (let k = 0; k < n; k++) {
    if (outer[k] === 0) continue;
    if (brush) side[k] = dur[k] >= brush.lo && dur[k] < brush.hi ? 1 : 2;
    else side[k] = dur[k] >= limit ? 1 : dur[k] >= lo && dur[k] <= hi ? 2 : 0;
    if (side[k] === 0) continue;
    counts[side[k] - 1]++;
    means[side[k] - 1] += dur[k];
  }
  if (counts[0] === 0 || counts[1] === 0) return null;
  return { side, of, limit, counts, means: /** @type {[number, number]} */ ([means[0] / counts[0], means[1] / counts[1]]) };
}

/** Returns the label of a lock; its address is included if several have the name. */
function lockLabel(model, known, batch, i) {
  const name = model.name(batch.name[i]);
  const addr = lockArgs(model, batch, i)?.addr ?? "";
  let first = known.get(name);
  if (first === undefined) known.set(name, first = addr);
  return addr === first ? name : `${name} ${addr}`;
}

/**
 * Sums up the time by state of executions with known states.
 * @returns {Generator<void, {stated: [number, number], causes: Cause[]}>}
 */
function* statesOf(model, runs, side) {
  const set = model.waits.states;
  const stated = /** @type {[number, number]} */ ([0, 0]);
  const sums = [new Map(), new Map()];
  for (let k = 0; set !== null && k < runs.n; k++) {
    if (k % itemsAtOnce === 0) yield;
    if (side[k] === 0) continue;
    const lane = model.waits.lane(runs.rows[runs.row[k]].key);
    const from = runs.start[k];
    const to = from + runs.dur[k];
    if (!lane || from < set.from || to > set.to || from < lane.first || to > lane.last) continue;
    const of = sums[side[k] - 1];
    const add = (state, ns) => of.set(state, (of.get(state) ?? 0) + ns);
    stated[side[k] - 1]++;
    lane.each(from, to, 0, (run) => {
      const seen = Math.min(run.t1, to) - Math.max(run.t0, from);
      add(set.nameOf(run.top), run.n === 1 ? seen : run.time * seen / (run.t1 - run.t0));
    });
  }
  if (stated[0] === 0 || stated[1] === 0) return { stated, causes: [] };
  const mean = (/** @type {number} */ s, /** @type {string} */ name) => (sums[s].get(name) ?? 0) / stated[s];
  const causes = [...new Set([...sums[0].keys(), ...sums[1].keys()])].map((name) => (
    { kind: /** @type {"state"} */ ("state"), label: stateText(name), slow: mean(0, name), usual: mean(1, name) }));
  return { stated, causes };
}

/** @param {import("./facets.js").Facet[]} facets @param {Uint8Array} side @param {[number, number]} counts @returns {Generator<void, Trait[]>} */
function* traitsOf(facets, side, counts) {
  const traits = [];
  for (const { kind, key, values, ids } of facets) {
    yield;
    const of = [new Uint32Array(values.length), new Uint32Array(values.length)];
    for (let k = 0; k < ids.length; k++) if (side[k] > 0 && ids[k] >= 0) of[side[k] - 1][ids[k]]++;
    for (let id = 0; id < values.length; id++) {
      if (of[0][id] === 1 && counts[0] > 1) continue; // a trait of a single execution is not common
      if (of[0][id] / counts[0] > of[1][id] / counts[1]) traits.push({ kind, label: kind === "argument" ? `${key}=${values[id]}` : values[id], slow: of[0][id], usual: of[1][id] });
    }
  }
  const more = (/** @type {Trait} */ t) => t.slow / counts[0] - t.usual / counts[1];
  return traits.sort((a, b) => more(b) - more(a)).slice(0, maxDifferences);
}

/** The minimum share of the difference for a lock to be named first: a callee is only the place of the wait. */
const lockFirst = 0.5;
/** The minimum share of the difference for a root to be named. */
const minRootShare = 0.2;
/** The minimum difference in share for a trait to be part of the sentence. */
const minTraitExcess = 0.2;

/**
 * Returns a sentence about the slow executions.
 * @param {string} name
 * @param {SlowRuns} s
 * @param {{span(ns: number): string, percent(share: number): string, count(n: number): string, root(root: import("./roots.js").Root): string}} words
 */
export function slowText(name, s, words) {
  const [slow, usual] = s.counts;
  const longer = s.means[0] - s.means[1];
  const [they, others] = s.brushed ? ["The brushed executions", "the others"] : ["The slowest 1%", "the middle half"];
  const clauses = [`${they} (${words.count(slow)} of ${words.count(s.of)}) of ${name} take ${words.span(Math.abs(longer))} ${longer < 0 ? "less" : "longer"} than ${others} (${words.count(usual)})`];
  if (longer <= 0) return `${clauses[0]}.`;
  const more = (/** @type {Cause} */ c) => c.slow - c.usual;
  const places = s.causes.filter((c) => c.kind !== "state");
  const lock = places.find((c) => c.kind === "lock");
  const most = lock && more(lock) >= lockFirst * longer ? lock : places[0] ?? s.causes[0];
  const [root] = s.roots.filter((r) => r.kind !== "unknown");
  const rooted = root ? root.slow - root.usual : 0;
  if (root && rooted >= minRootShare * longer && (!most || 2 * rooted >= more(most))) {
    clauses.push(`${words.percent(Math.min(1, rooted / longer))} of it: ${words.root(root)}`);
  } else if (most && more(most) > 0) {
    const state = most.kind === "self" || most.kind === "callee" ? s.causes.find((c) => c.kind === "state" && more(c) >= more(most) / 2) : undefined;
    const what = { lock: `waiting for ${most.label}`, callee: `in ${most.label}`, self: "in itself", state: most.label }[most.kind];
    clauses.push(`${words.percent(Math.min(1, more(most) / longer))} of it: ${what}${state ? `, ${state.label}` : ""}`);
  }
  const trait = s.traits.find((t) => t.slow / slow - t.usual / usual >= minTraitExcess);
  if (!trait) clauses.push("no argument, row or enclosing scope sets them apart");
  else clauses.push(`${words.count(trait.slow)} of ${words.count(slow)} ${{ argument: "have", row: "are on", parent: "are in" }[trait.kind]} ${trait.label}, of ${others} ${words.percent(trait.usual / usual)}`);
  return `${clauses.join("; ")}.`;
}
