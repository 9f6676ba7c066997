// How items belong together: parents and children, those of the same name.

import { Flag, Kind, isScope } from "../data/kinds.js";
import { orderByStart } from "../data/order.js";
import { nearest } from "./search.js";
import { firstFrom } from "../data/segment.js";

/**
 * @typedef {import("../data/segment.js").Ref} Ref
 * @typedef {import("./model.js").Model} Model
 * @typedef {{rowKey: number, time: number, ref: Ref|null, strip?: boolean}} LinkEnd rowKey is a goroutine; strip: at its states
 * @typedef {{kind: "go"|"lock"|"block"|"wake", from: LinkEnd, to: LinkEnd}} Link
 */

/** The parts of a lane that are searched: of a better known stretch the tile's. */
function piecesOf(lane) {
  return [lane.detail, ...lane.parts, lane.open].filter((p) => p !== null);
}

/**
 * The scope that an item lies in: of those that ran on its row when it began, the
 * one that began last.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {Ref|null}
 */
export function parent(model, ref) {
  const { row, depth, ref: { seg, i } } = model.place(ref);
  return row.key === 0 ? null : innermostAt(row, seg.start[i], depth < 0 ? Infinity : depth);
}

/** The scope that has a moment; of those that begin then, only less deep ones. */
export function innermostAt(row, t, depth) {
  let best = null;
  for (const lane of row.lanes) {
    for (const { seg, from, to } of piecesOf(lane)) {
      let i = firstFrom(seg.start, from, to, t);
      while (i < to && seg.start[i] === t) i++;
      i--;
      while (i >= from && seg.start[i] === t && lane.depth >= depth) i--;
      if (i < from || !isScope(seg.kind[i]) || seg.many(i) > 1 || seg.end(i) <= t) continue;
      if (best === null || seg.start[i] >= best.seg.start[best.i]) best = { seg, i };
    }
  }
  return best;
}

/**
 * What lies in an item and in nothing else in it, holds excepted: who holds a
 * lock may do things meanwhile. In the order of their starts.
 * @param {Model} model
 * @param {Ref} ref
 * @param {number} limit
 * @returns {Ref[]}
 */
export function children(model, ref, limit) {
  const { row, depth, ref: { seg, i } } = model.place(ref);
  const found = [];
  if (depth < 0 || row.key === 0) return found;
  const collect = (at, from, to) => {
    const lane = row.lanes[at];
    for (const { seg, from: a, to: b } of lane ? model.details.exact(lane, from, to) ?? lane.parts : []) {
      for (let i = firstFrom(seg.start, a, b, from); i < b && seg.start[i] < to && found.length < limit; i++) {
        found.push({ seg, i });
        if (seg.kind[i] === Kind.hold) collect(at + 1, seg.start[i], Math.min(seg.end(i), to));
      }
    }
  };
  collect(row.lanes.findIndex((lane) => lane.depth === depth) + 1, seg.start[i], seg.end(i));
  return found.sort((a, b) => a.seg.start[a.i] - b.seg.start[b.i]);
}

/**
 * How much of an item belonged to nothing inside it, ns; null where that is
 * unknown. Holds inside take nothing, waits do.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {number|null}
 */
export function selfTime(model, ref) {
  const { row, depth, ref: at } = model.place(ref);
  const { seg, i } = at;
  if (row.key === 0 || depth < 0 || seg.flags[i] & Flag.across || seg.many(i) > 1) return null;
  const from = seg.start[i];
  const to = seg.end(i);
  const had = model.cache.get("self");
  if (had?.version === model.version && had.value.seg === seg && had.value.i === i && had.value.to === to) return had.value.self;
  const covered = coveredInside(model, row, depth, from, to);
  const self = covered === null ? null : to - from - covered;
  model.cache.set("self", { version: model.version, value: { seg, i, to, self } });
  return self;
}

/** How much of [from, to] what began in deeper lanes meanwhile covers; null: unknown. */
function coveredInside(model, row, depth, from, to) {
  const pieces = [];
  let n = 0;
  for (const lane of row.lanes) {
    if (lane.depth <= depth) continue;
    const parts = model.details.exact(lane, from, to);
    if (parts === null) return null;
    for (const part of parts) {
      const first = firstFrom(part.seg.start, part.from, part.to, from);
      const end = firstFrom(part.seg.start, first, part.to, to);
      if (end > first) pieces.push({ seg: part.seg, first, end });
      n += end - first;
    }
  }
  const starts = new Float64Array(n);
  const ends = new Float64Array(n);
  let at = 0;
  for (const { seg, first, end } of pieces) {
    for (let i = first; i < end; i++, at++) {
      starts[at] = seg.start[i];
      ends[at] = seg.kind[i] === Kind.hold ? 0 : Math.min(seg.start[i] + seg.dur[i], to);
    }
  }
  let sum = 0;
  let until = from;
  for (const k of orderByStart(starts, new Uint8Array(n), n)) {
    if (ends[k] <= until) continue;
    sum += ends[k] - Math.max(starts[k], until);
    until = ends[k];
  }
  return sum;
}

/** Items that are of one name and one sort: scopes, waits, holds or instants. */
function alike(nameId, kind) {
  const fits = isScope(kind) ? isScope : (k) => k === kind;
  return (seg) => (i) => seg.name[i] === nameId && fits(seg.kind[i]) && seg.many(i) === 1;
}

/**
 * The next (1) or previous (-1) item of the same name, on whatever row, by start.
 * @param {Model} model
 * @param {Ref} ref
 * @param {1|-1} dir
 * @returns {Ref|null}
 */
export function neighbour(model, ref, dir) {
  const { seg, i } = model.resolve(ref);
  const segs = model.segments();
  return nearest(segs, seg.start[i], segs.indexOf(seg), i, dir, alike(seg.name[i], seg.kind[i]));
}

/**
 * The longest scope of a name; where there is none, the longest wait, hold or
 * instant.
 * @param {Model} model
 * @param {number} nameId
 * @param {number} kind waits or holds only, if it is their kind
 * @returns {Ref|null}
 */
export function longest(model, nameId, kind = 0) {
  const rank = (k) => (k === kind ? 4 : isScope(k) ? 3 : k === Kind.wait ? 2 : k === Kind.hold ? 1 : 0);
  let best = null;
  let bestRank = -1;
  let bestDur = -1;
  for (const seg of model.segments()) {
    for (let i = 0; i < seg.n; i++) {
      if (seg.name[i] !== nameId || seg.many(i) > 1 || seg.flags[i] & Flag.across) continue;
      const r = rank(seg.kind[i]);
      if (r < bestRank || r === bestRank && seg.dur[i] <= bestDur) continue;
      [best, bestRank, bestDur] = [{ seg, i }, r, seg.dur[i]];
    }
  }
  return best;
}

/**
 * The next or previous item in the same lane.
 * @param {Model} model
 * @param {Ref} ref
 * @param {1|-1} dir
 * @param {"goroutine"|"thread"} by
 * @returns {Ref|null}
 */
export function onRow(model, ref, dir, by = "goroutine") {
  const { lane, ref: { seg, i } } = model.place(ref, by);
  const t = seg.start[i];
  if (seg.lane[i] === seg.lane[i + dir]) return { seg, i: i + dir };
  let best = null;
  for (const part of piecesOf(lane)) {
    if (part.seg === seg) continue;
    const { start } = part.seg;
    let k = firstFrom(start, part.from, part.to, t);
    if (dir > 0) while (k < part.to && start[k] === t) k++;
    else k--;
    if (k < part.from || k >= part.to) continue;
    if (best === null || dir * (start[k] - best.seg.start[best.i]) < 0) best = { seg: part.seg, i: k };
  }
  return best;
}
