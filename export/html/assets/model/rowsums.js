// The times at which a row was in a scope and at which it waited, and their sums.

import { Flag, Kind, Quality, isScope } from "../data/kinds.js";

/**
 * Disjoint stretches of a row in order of time, four numbers each: begin, end, busy share
 * (1, or less where scopes are merged), CPU time (NaN: unknown). Open ones end at Infinity.
 * @typedef {number[]} Stretches
 *
 * @typedef {{busy: number, wait: number, cpu: number}} RowSums in ns; cpu: the known part, NaN: none
 */

/**
 * Returns the stretches in which a row was in any scope, and in which it waited.
 * @param {import("./model.js").Model} model
 * @param {import("./rowset.js").Row} row
 * @returns {Generator<void, {busy: Stretches, wait: Stretches}>}
 */
export function* stretchSteps(model, row) {
  /** @type {Stretches} */
  let busy = [];
  /** @type {Stretches} */
  let wait = [];
  for (const lane of row.lanes) {
    /** @type {Stretches} */
    const scopes = [];
    /** @type {Stretches} */
    const waits = [];
    model.eachBar(lane, -Infinity, Infinity, 0, ({ batch, i, t0, t1 }) => {
      const list = batch.kind[i] === Kind.wait ? waits : isScope(batch.kind[i]) ? scopes : null;
      const open = (batch.flags[i] & Flag.unended) !== 0;
      if (list === null || (t1 <= t0 && !open)) return;
      const quality = batch.quality[i];
      const known = !open && (quality === Quality.exact || quality === Quality.likely);
      list.push(t0, open ? Infinity : t1, batch.busy === null || batch.many(i) === 1 ? 1 : Math.min(1, batch.busy[i] / batch.dur[i]), known ? batch.cpu[i] : NaN);
    });
    busy = joined(busy, scopes);
    wait = joined(wait, waits);
    yield;
  }
  return { busy, wait };
}

/**
 * Merges two lists of stretches: in an overlap the stretch that begins first counts.
 * @param {Stretches} a @param {Stretches} b
 * @returns {Stretches}
 */
function joined(a, b) {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const out = [];
  let last = -Infinity;
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    const first = k >= b.length || (i < a.length && a[i] <= b[k]);
    const list = first ? a : b;
    const at = first ? i : k;
    if (first) i += 4;
    else k += 4;
    if (list[at + 1] <= last) continue;
    out.push(Math.max(list[at], last), list[at + 1], list[at + 2], list[at + 3]);
    last = list[at + 1];
  }
  return out;
}

/**
 * Returns the sums of the rows over the whole trace.
 * @param {import("./model.js").Model} model
 * @param {"goroutine"|"thread"} by
 * @returns {Map<import("./rowset.js").Row, RowSums>|null} null: they are not known yet, and the rows are laid out again once they are
 */
export function rowSums(model, by) {
  const rows = model.rows(by);
  return model.spaced(`sums ${by}`, rows, function* () {
    const sums = new Map();
    for (const row of rows) {
      sums.set(row, yield* sumSteps(model, row));
      yield;
    }
    return sums;
  }, true);
}

/** Returns the sums of a row. @param {import("./model.js").Model} model @param {import("./rowset.js").Row} row @returns {Generator<void, RowSums>} */
export function* sumSteps(model, row) {
  const { end } = model;
  const { busy, wait } = yield* stretchSteps(model, row);
  const total = (/** @type {Stretches} */ list) => {
    let sum = 0;
    for (let k = 0; k < list.length; k += 4) sum += (Math.min(list[k + 1], end) - list[k]) * list[k + 2];
    return sum;
  };
  let cpu = NaN;
  for (let k = 3; k < busy.length; k += 4) if (!Number.isNaN(busy[k])) cpu = (Number.isNaN(cpu) ? 0 : cpu) + busy[k];
  return { busy: total(busy), wait: total(wait), cpu };
}
