// The groupings of executions: by row, by enclosing scope, by argument.

import { argsList } from "../data/args.js";
import { quantileOf } from "./histogram.js";
import { argsOfRun } from "./runs.js";

/**
 * @typedef {import("./runs.js").Runs} Runs
 *
 * @typedef {Object} Facet
 * @property {"row"|"parent"|"argument"} kind
 * @property {string} key of the argument
 * @property {string[]} values
 * @property {Int32Array} ids by execution: index of the value; -1: none
 *
 * The executions of a value. Times are in ns.
 * @typedef {{id: number, label: string, count: number, total: number, share: number, p50: number, p99: number, max: number}} RunGroup
 */

/** The maximum number of arguments that are examined. */
const mostFacetKeys = 8;
/** An argument with more values than this, all of them numbers, is grouped by powers of two. */
const mostNumbers = 30;
/** The maximum number of argument texts cached per batch: often few texts occur many times. */
const textsKept = 10000;
/** The maximum number of groups, those with the most time. */
const mostGroups = 1000;

/** @param {Runs} runs @param {(nameId: number) => string} nameOf @returns {Generator<void, Facet[]>} */
export function* facetSteps(runs, nameOf) {
  const parents = new ValueSet("parent", "", runs.n);
  const keys = /** @type {Map<string, ValueSet>} */ (new Map());
  const known = runs.batches.map(() => /** @type {Map<number, [ValueSet, number][]>} */ (new Map()));
  for (let k = 0; k < runs.n; k++) {
    if (k % 1024 === 1023) yield;
    if (runs.parent[k] >= 0) parents.ids[k] = parents.id(nameOf(runs.parent[k]));
    const at = runs.batches[runs.which[k]].args[runs.index[k]];
    if (at === 0) continue;
    const texts = known[runs.which[k]];
    let list = texts.get(at);
    if (!list) {
      list = argsList(argsOfRun(runs, k)).flatMap(([key, value]) => {
        let set = keys.get(key);
        if (!set && keys.size < mostFacetKeys) keys.set(key, set = new ValueSet("argument", key, runs.n));
        return set ? [/** @type {[ValueSet, number]} */ ([set, set.id(value)])] : [];
      });
      if (texts.size < textsKept) texts.set(at, list);
    }
    for (const [set, id] of list) set.ids[k] = id;
  }
  const facets = [];
  /** Numbers that are nearly all different, by their size. @type {Facet[]} */
  const sizes = [];
  for (const set of keys.values()) {
    yield;
    if (!set.nearlyUnique()) facets.push(set.facet());
    else if (set.values.every(isNumber)) sizes.push(set.facet());
  }
  if (parents.values.length > 0) facets.push(parents.facet());
  return [...facets, ...sizes, { kind: "row", key: "", values: runs.rows.map((row) => row.title), ids: Int32Array.from(runs.row) }];
}

/** @param {string} text */
function isNumber(text) { return text.trim() !== "" && Number.isFinite(Number(text)); }

/** A facet under construction. */
class ValueSet {
  constructor(kind, key, n) {
    this.kind = kind;
    this.key = key;
    this.ids = new Int32Array(n).fill(-1);
    this.values = /** @type {string[]} */ ([]);
    this.at = /** @type {Map<string, number>} */ (new Map());
  }

  /** @param {string} value */
  id(value) {
    let id = this.at.get(value);
    if (id === undefined) this.at.set(value, id = this.values.push(value) - 1);
    return id;
  }

  /** Reports whether nearly each execution has a value of its own, so that its groups have one member each. */
  nearlyUnique() {
    const n = this.ids.reduce((sum, id) => sum + (id >= 0 ? 1 : 0), 0);
    return n > mostNumbers && this.values.length > n / 2;
  }

  /** @returns {Facet} */
  facet() {
    const { kind, key, ids, values } = this;
    if (values.length <= mostNumbers || !values.every(isNumber)) return { kind, key, values, ids };
    const bins = new Map(); // by the power of two below the value, with its sign
    const binOf = new Int32Array(values.length);
    values.forEach((text, id) => {
      const v = Number(text);
      const power = Math.sign(v) * 2 ** Math.floor(Math.log2(Math.abs(v)));
      if (!bins.has(power)) bins.set(power, bins.size);
      binOf[id] = bins.get(power);
    });
    return { kind, key, values: [...bins.keys()].map(powerText), ids: ids.map((id) => (id < 0 ? -1 : binOf[id])) };
  }
}

/** Returns the text of the range from a power of two up to the next one. @param {number} v */
function powerText(v) {
  const [a, b] = [Math.abs(v), 2 * Math.abs(v)].map((x) => x.toLocaleString("en", { maximumSignificantDigits: 6 }));
  return v === 0 ? "0" : v > 0 ? `${a} – ${b}` : `−${b} – −${a}`;
}

/**
 * Groups some executions, given in the order of their durations.
 * @param {Runs} runs
 * @param {Facet} facet
 * @param {Uint32Array} order the shortest first
 * @returns {Generator<void, {groups: RunGroup[], all: number}>} the groups with the most time first, and the number of all groups
 */
export function* groupSteps(runs, { ids, values }, order) {
  const begin = new Uint32Array(values.length + 1);
  const total = new Float64Array(values.length);
  let time = 0;
  for (let j = 0; j < order.length; j++) {
    const k = order[j];
    if ((j & 0x3fff) === 0x3fff) yield;
    time += runs.dur[k];
    if (ids[k] < 0) continue;
    begin[ids[k] + 1]++;
    total[ids[k]] += runs.dur[k];
  }
  for (let id = 0; id < values.length; id++) begin[id + 1] += begin[id];
  const next = begin.slice();
  const sorted = new Float64Array(begin[values.length]); // by group, the shortest first in each
  for (let j = 0; j < order.length; j++) {
    const k = order[j];
    if ((j & 0x3fff) === 0x3fff) yield;
    if (ids[k] >= 0) sorted[next[ids[k]]++] = runs.dur[k];
  }
  const there = Array.from(values.keys()).filter((id) => begin[id + 1] > begin[id]).sort((a, b) => total[b] - total[a] || a - b);
  const groups = there.slice(0, mostGroups).map((id) => {
    const durs = sorted.subarray(begin[id], begin[id + 1]);
    return { id, label: values[id], count: durs.length, total: total[id], share: time > 0 ? total[id] / time : 0, p50: quantileOf(durs, 0.5), p99: quantileOf(durs, 0.99), max: durs[durs.length - 1] };
  });
  return { groups, all: there.length };
}
