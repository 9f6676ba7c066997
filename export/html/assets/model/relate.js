// The relations of items: parents and children, and items of the same name.

import { Flag, Kind, isScope } from "../data/kinds.js";
import { orderByStart } from "../data/order.js";
import { nearest } from "./search.js";
import { firstFrom } from "../data/batch.js";

/**
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("./model.js").Model} Model
 * @typedef {{rowKey: number, time: number, ref: Ref|null, strip?: boolean}} LinkEnd rowKey is a goroutine; strip: at its states
 * @typedef {{kind: "go"|"lock"|"block"|"wake"|"chain"|"request", from: LinkEnd, to: LinkEnd}} Link
 */

/** Returns the parts of a lane to search, the tile's part included. */
function piecesOf(lane) {
  return [lane.detail, ...lane.parts, lane.open].filter((p) => p !== null);
}

/**
 * Returns the parent scope of an item: of the scopes that ran on its row when it began, the one that began last.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {Ref|null}
 */
export function parent(model, ref) {
  const { row, depth, ref: { batch, i } } = model.place(ref);
  return row.key === 0 ? null : innermostAt(row, batch.start[i], depth < 0 ? Infinity : depth);
}

/** Returns the innermost scope at a time; of scopes that begin at that time, only those above depth. */
export function innermostAt(row, t, depth) {
  let best = null;
  for (const lane of row.lanes) {
    for (const { batch, from, to } of piecesOf(lane)) {
      let i = firstFrom(batch.start, from, to, t);
      while (i < to && batch.start[i] === t) i++;
      i--;
      while (i >= from && batch.start[i] === t && lane.depth >= depth) i--;
      if (i < from || !isScope(batch.kind[i]) || batch.many(i) > 1 || batch.end(i) <= t) continue;
      if (best === null || batch.start[i] >= best.batch.start[best.i]) best = { batch, i };
    }
  }
  return best;
}

/**
 * Returns the direct children of an item, sorted by start. Items inside a hold count as
 * children of the parent, because the holder may do other things meanwhile.
 * @param {Model} model
 * @param {Ref} ref
 * @param {number} limit
 * @returns {Ref[]}
 */
export function children(model, ref, limit) {
  const { row, depth, ref: { batch, i } } = model.place(ref);
  const found = [];
  if (depth < 0 || row.key === 0) return found;
  const collect = (at, from, to) => {
    const lane = row.lanes[at];
    for (const { batch, from: a, to: b } of lane ? model.details.exact(lane, from, to) ?? lane.parts : []) {
      for (let i = firstFrom(batch.start, a, b, from); i < b && batch.start[i] < to && found.length < limit; i++) {
        found.push({ batch, i });
        if (batch.kind[i] === Kind.hold) collect(at + 1, batch.start[i], Math.min(batch.end(i), to));
      }
    }
  };
  collect(row.lanes.findIndex((lane) => lane.depth === depth) + 1, batch.start[i], batch.end(i));
  return found.sort((a, b) => a.batch.start[a.i] - b.batch.start[b.i]);
}

/**
 * Returns an item's time outside of its children, ns; null: unknown. Holds do not reduce it, waits do.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {number|null}
 */
export function selfTime(model, ref) {
  const { row, depth, ref: at } = model.place(ref);
  const { batch, i } = at;
  if (row.key === 0 || depth < 0 || batch.flags[i] & Flag.across || batch.many(i) > 1) return null;
  const from = batch.start[i];
  const to = batch.end(i);
  const had = model.cache.get("self");
  if (had?.version === model.version && had.value.batch === batch && had.value.i === i && had.value.to === to) return had.value.self;
  const covered = coveredInside(model, row, depth, from, to);
  const self = covered === null ? null : to - from - covered;
  model.cache.set("self", { version: model.version, value: { batch, i, to, self } });
  return self;
}

/** Returns how much of [from, to] items of deeper lanes cover; null: unknown. */
function coveredInside(model, row, depth, from, to) {
  const pieces = [];
  let n = 0;
  for (const lane of row.lanes) {
    if (lane.depth <= depth) continue;
    const parts = model.details.exact(lane, from, to);
    if (parts === null) return null;
    for (const part of parts) {
      const first = firstFrom(part.batch.start, part.from, part.to, from);
      const end = firstFrom(part.batch.start, first, part.to, to);
      if (end > first) pieces.push({ batch: part.batch, first, end });
      n += end - first;
    }
  }
  const starts = new Float64Array(n);
  const ends = new Float64Array(n);
  let at = 0;
  for (const { batch, first, end } of pieces) {
    for (let i = first; i < end; i++, at++) {
      starts[at] = batch.start[i];
      ends[at] = batch.kind[i] === Kind.hold ? 0 : Math.min(batch.start[i] + batch.dur[i], to);
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

/** Returns a function that tests for a name and a sort: scopes, waits, holds or instants. */
function alike(nameId, kind) {
  const fits = isScope(kind) ? isScope : (k) => k === kind;
  return (batch) => (i) => batch.name[i] === nameId && fits(batch.kind[i]) && batch.many(i) === 1;
}

/**
 * Returns the next (1) or previous (-1) item of the same name on any row, by start.
 * @param {Model} model
 * @param {Ref} ref
 * @param {1|-1} dir
 * @returns {Ref|null}
 */
export function neighbour(model, ref, dir) {
  const { batch, i } = model.resolve(ref);
  const batches = model.batches();
  return nearest(batches, batch.start[i], batches.indexOf(batch), i, dir, alike(batch.name[i], batch.kind[i]));
}

/**
 * Returns the longest scope of a name; if there is none, the longest wait, hold or instant.
 * @param {Model} model
 * @param {number} nameId
 * @param {number} kind preferred kind: waits or holds
 * @returns {Ref|null}
 */
export function longest(model, nameId, kind = 0) {
  const rank = (k) => (k === kind ? 4 : isScope(k) ? 3 : k === Kind.wait ? 2 : k === Kind.hold ? 1 : 0);
  let best = null;
  let bestRank = -1;
  let bestDur = -1;
  for (const batch of model.batches()) {
    for (let i = 0; i < batch.n; i++) {
      if (batch.name[i] !== nameId || batch.many(i) > 1 || batch.flags[i] & Flag.across) continue;
      const r = rank(batch.kind[i]);
      if (r < bestRank || r === bestRank && batch.dur[i] <= bestDur) continue;
      [best, bestRank, bestDur] = [{ batch, i }, r, batch.dur[i]];
    }
  }
  return best;
}

/**
 * Returns the next or previous item in the same lane.
 * @param {Model} model
 * @param {Ref} ref
 * @param {1|-1} dir
 * @param {"goroutine"|"thread"} by
 * @returns {Ref|null}
 */
export function onRow(model, ref, dir, by = "goroutine") {
  const { lane, ref: { batch, i } } = model.place(ref, by);
  const t = batch.start[i];
  if (batch.lane[i] === batch.lane[i + dir]) return { batch, i: i + dir };
  let best = null;
  for (const part of piecesOf(lane)) {
    if (part.batch === batch) continue;
    const { start } = part.batch;
    let k = firstFrom(start, part.from, part.to, t);
    if (dir > 0) while (k < part.to && start[k] === t) k++;
    else k--;
    if (k < part.from || k >= part.to) continue;
    if (best === null || dir * (start[k] - best.batch.start[best.i]) < 0) best = { batch: part.batch, i: k };
  }
  return best;
}
