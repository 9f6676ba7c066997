// Resolution of Refs. Batches are replaced over time; these functions find the current item of a Ref and its place.

import { laneAt } from "./rowset.js";
import { firstFrom } from "../data/batch.js";
import { Kind } from "../data/kinds.js";

/**
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {import("./rowset.js").Lane} Lane
 * @typedef {import("./model.js").Model} Model
 * @typedef {{key: number, depth: number, row: Row, lane: Lane, ref: Ref}} Place key and depth of the lane
 */

/** Returns the Ref by goroutine of a Ref by thread. @param {Ref} ref @returns {Ref} */
export function homeOf(ref) {
  const { origin } = ref.batch;
  return origin === null ? ref : homeOf({ batch: origin.batches[origin.which[ref.i]], i: origin.index[ref.i] });
}

/**
 * Returns begin and end of an item; of an open one, its end so far.
 * @param {{batch: Batch, i: number, j?: number}} ref j: index after the last item of a merged run
 * @returns {{start: number, end: number}}
 */
export function extentOf({ batch, i, j }) {
  const last = j === undefined ? i : j - 1;
  return { start: batch.start[i], end: batch.start[last] + batch.dur[last] };
}

/** Reports whether two Refs denote the same item. @param {Ref|null} a @param {Ref|null} b */
export function same(a, b) {
  if (!a || !b) return a === b;
  const x = homeOf(a);
  const y = homeOf(b);
  return x.batch === y.batch && x.i === y.i;
}

/**
 * Returns the current item of a Ref. Batches are replaced, open scopes end, and rows by thread have other batches than
 * those by goroutine. A Ref whose item is not found is returned unchanged.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {Ref} in a batch by goroutine
 */
export function resolveRef(model, ref) {
  const { batch, i } = homeOf(ref);
  if (batch === model.base || batch === model.openBatch || batch === model.details.shown?.batch || model.increments.includes(batch)) return { batch, i };
  const row = model.goroutines.rows.get(batch.lanes[batch.lane[i]].key);
  const is = (s, k) => s.name[k] === batch.name[i] && s.kind[k] === batch.kind[i];
  return row && itemAt([...row.lanes, row.flags], batch.start[i], is)?.ref || { batch, i };
}

/**
 * Returns a goroutine's item by its start: at the given depth, else at any.
 * @param {Model} model
 * @param {number} key
 * @param {number} depth
 * @param {number} start
 * @returns {Ref|null}
 */
export function findRef(model, key, depth, start) {
  const row = model.goroutines.rows.get(key);
  const lanes = row ? [...row.lanes, row.flags] : [];
  const any = () => true;
  return (itemAt(lanes.filter((lane) => lane.depth === depth), start, any) ?? itemAt(lanes, start, any))?.ref ?? null;
}

/**
 * Returns the wait of a goroutine that begins at start; null: none, or merged.
 * @param {Model} model @param {number} key @param {number} start
 */
export function findWait(model, key, start) {
  const lanes = model.goroutines.rows.get(key)?.lanes ?? [];
  return itemAt(lanes, start, (batch, i) => batch.kind[i] === Kind.wait && batch.many(i) === 1)?.ref ?? null;
}

/**
 * Returns the place of an item.
 * @param {Model} model
 * @param {Ref} ref
 * @param {"goroutine"|"thread"} by
 * @returns {Place}
 */
export function placeOf(model, ref, by) {
  const at = resolveRef(model, ref);
  const { key, depth } = at.batch.lanes[at.batch.lane[at.i]];
  if (by !== "thread") return placed(laneAt(model.goroutines.row(key), depth), at);
  const row = model.rowSet(by).row(at.batch.thread[at.i]);
  const found = itemAt([...row.lanes, row.flags], at.batch.start[at.i], (batch, i) => same({ batch, i }, at));
  return found ? placed(found.lane, found.ref) : placed(row.lanes[0] ?? row.flags, at);
}

function placed(lane, ref) { return { key: lane.row.key, depth: lane.depth, row: lane.row, lane, ref }; }

/**
 * Returns the item of some lanes that begins at start and for which is returns true.
 * @param {Lane[]} lanes
 * @param {number} start
 * @param {(batch: Batch, i: number) => boolean} is
 * @returns {{lane: Lane, ref: Ref}|null}
 */
function itemAt(lanes, start, is) {
  for (const lane of lanes) {
    for (const { batch, from, to } of [...lane.parts, lane.open, lane.detail].filter((p) => p !== null)) {
      for (let i = firstFrom(batch.start, from, to, start); i < to && batch.start[i] === start; i++) {
        if (is(batch, i)) return { lane, ref: { batch, i } };
      }
    }
  }
  return null;
}
