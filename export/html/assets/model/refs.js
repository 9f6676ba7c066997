// Refs name items. Segments come and go; these functions find what a Ref means
// now, and where it is shown.

import { laneAt } from "./rowset.js";
import { firstFrom } from "../data/segment.js";

/**
 * @typedef {import("../data/segment.js").Ref} Ref
 * @typedef {import("../data/segment.js").Segment} Segment
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {import("./rowset.js").Lane} Lane
 * @typedef {import("./model.js").Model} Model
 * @typedef {{key: number, depth: number, row: Row, lane: Lane, ref: Ref}} Place key and depth are the lane's
 */

/**
 * The Ref by goroutine of one by thread.
 * @param {Ref} ref
 * @returns {Ref}
 */
export function homeOf(ref) {
  const { origin } = ref.seg;
  return origin === null ? ref : homeOf({ seg: origin.segs[origin.which[ref.i]], i: origin.index[ref.i] });
}

/**
 * From when to when an item lasted, so far.
 * @param {{seg: Segment, i: number, j?: number}} ref j: behind the last of a merged run
 * @returns {{start: number, end: number}}
 */
export function extentOf({ seg, i, j }) {
  const last = j === undefined ? i : j - 1;
  return { start: seg.start[i], end: seg.start[last] + seg.dur[last] };
}

/**
 * Tells whether two Refs are the same item.
 * @param {Ref|null} a
 * @param {Ref|null} b
 */
export function same(a, b) {
  if (!a || !b) return a === b;
  const x = homeOf(a);
  const y = homeOf(b);
  return x.seg === y.seg && x.i === y.i;
}

/**
 * The item that a Ref means now: segments are replaced by others, open scopes
 * end, and rows by thread are made of other segments than those by goroutine.
 * What is not known any more stays what it was.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {Ref} in a segment by goroutine
 */
export function resolveRef(model, ref) {
  const { seg, i } = homeOf(ref);
  if (seg === model.base || seg === model.openSegment || seg === model.details.shown?.seg || model.increments.includes(seg)) return { seg, i };
  const row = model.goroutines.rows.get(seg.lanes[seg.lane[i]].key);
  const is = (s, k) => s.name[k] === seg.name[i] && s.kind[k] === seg.kind[i];
  return row && itemAt([...row.lanes, row.flags], seg.start[i], is)?.ref || { seg, i };
}

/**
 * Finds an item of a goroutine by its start: at that depth, else at any.
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
 * Where an item is shown.
 * @param {Model} model
 * @param {Ref} ref
 * @param {"goroutine"|"thread"} by
 * @returns {Place}
 */
export function placeOf(model, ref, by) {
  const at = resolveRef(model, ref);
  const { key, depth } = at.seg.lanes[at.seg.lane[at.i]];
  if (by !== "thread") return placed(laneAt(model.goroutines.row(key), depth), at);
  const row = model.rowSet(by).row(at.seg.thread[at.i]);
  const found = itemAt([...row.lanes, row.flags], at.seg.start[at.i], (seg, i) => same({ seg, i }, at));
  return found ? placed(found.lane, found.ref) : placed(row.lanes[0] ?? row.flags, at);
}

function placed(lane, ref) { return { key: lane.row.key, depth: lane.depth, row: lane.row, lane, ref }; }

/**
 * The item of some lanes that begins at a time and is the one meant.
 * @param {Lane[]} lanes
 * @param {number} start
 * @param {(seg: Segment, i: number) => boolean} is
 * @returns {{lane: Lane, ref: Ref}|null}
 */
function itemAt(lanes, start, is) {
  for (const lane of lanes) {
    for (const { seg, from, to } of [...lane.parts, lane.open, lane.detail].filter((p) => p !== null)) {
      for (let i = firstFrom(seg.start, from, to, start); i < to && seg.start[i] === start; i++) {
        if (is(seg, i)) return { lane, ref: { seg, i } };
      }
    }
  }
  return null;
}
