// Rows by thread: the same items, on the thread on which they began.

import { gather, gatherSteps } from "./gather.js";
import { startOrderSteps } from "./order.js";
import { atOnce } from "./slices.js";
import { firstEnding } from "./batch.js";
import { Flag } from "./kinds.js";

/**
 * @typedef {import("./batch.js").Batch} Batch
 */

/**
 * Arranges items on rows by thread. Overlapping items get depths of their own: the first
 * free depth above the items that still run.
 * @param {Batch[]} batches at most 256
 * @param {Batch|null} before by thread; its items keep their places
 * @returns {Batch}
 */
export function threadBatch(batches, before) { return atOnce(threadSteps(batches, before)); }

/**
 * As threadBatch, step by step.
 * @param {Batch[]} batches @param {Batch|null} before @returns {Generator<void, Batch>}
 */
export function* threadSteps(batches, before) {
  const n = batches.reduce((sum, s) => sum + s.n, 0);
  const which = new Uint8Array(n);
  const index = new Uint32Array(n);
  const start = new Float64Array(n);
  const depth = new Float64Array(n);
  let at = 0;
  for (const [s, batch] of batches.entries()) {
    for (const lane of batch.lanes) {
      for (let i = lane.from; i < lane.to; i++, at++) {
        if ((at & 0xffff) === 0xffff) yield;
        which[at] = s;
        index[at] = i;
        start[at] = batch.start[i];
        depth[at] = lane.depth;
      }
    }
  }
  const order = yield* startOrderSteps(start, depth, n);
  /** @type {Map<number, ThreadRow>} */
  const rows = new Map();
  const place = new Int32Array(n); // number of the item's lane, in the order of discovery
  /** @type {{key: number, depth: number, count: number}[]} */
  const found = [];
  let done = 0;
  for (const k of order) {
    if ((++done & 0x3ff) === 0) yield; // where thousands overlap on a thread, each takes a while
    const batch = batches[which[k]];
    const i = index[k];
    const key = batch.thread[i];
    let row = rows.get(key);
    if (!row) rows.set(key, row = new ThreadRow(key, found, before));
    place[k] = depth[k] < 0 ? row.instants() : row.put(start[k], batch.end(i), (batch.flags[i] & Flag.open) !== 0);
    found[place[k]].count++;
  }
  return yield* laidOut(batches, which, index, order, place, found, rows);
}

/** The occupied depths of a thread's row over time. */
class ThreadRow {
  constructor(key, found, before) {
    this.key = key;
    this.found = found;
    this.before = before;
    this.ends = []; // by depth: end of the last item
    this.lanes = []; // by depth: lane number
    this.flags = -1;
    this.top = 0; // no item runs from this depth on
  }

  lane(depth) { return this.found.push({ key: this.key, depth, count: 0 }) - 1; }

  instants() { return this.flags < 0 ? this.flags = this.lane(-1) : this.flags; }

  /** Finds a depth for [start, end]. */
  put(start, end, open) {
    const { ends } = this;
    while (this.top > 0 && ends[this.top - 1] <= start) this.top--;
    let depth = 0;
    for (let d = 0; d < this.top; d++) if (ends[d] > start) depth++;
    while (depth < ends.length && ends[depth] > start || this.taken(depth, start, end)) depth++;
    while (ends.length <= depth) {
      ends.push(-Infinity);
      this.lanes.push(-1);
    }
    ends[depth] = open ? Infinity : end;
    this.top = Math.max(this.top, depth + 1);
    if (this.lanes[depth] < 0) this.lanes[depth] = this.lane(depth);
    return this.lanes[depth];
  }

  /** Reports whether an item of before overlaps. */
  taken(depth, start, end) {
    const k = this.before ? this.before.laneOf(this.key, depth) : -1;
    if (k < 0) return false;
    const { from, to } = this.before.lanes[k];
    const i = firstEnding(this.before, from, to, start);
    for (let j = i; j < to && this.before.start[j] < end; j++) if (this.before.end(j) > start) return true;
    return false;
  }
}

/** Creates the batch, with lanes sorted by row and depth. */
function* laidOut(batches, which, index, order, place, found, rows) {
  const sorted = found.map((_, k) => k).sort((a, b) => found[a].key - found[b].key || found[a].depth - found[b].depth);
  const next = new Uint32Array(found.length);
  const lanes = [];
  let at = 0;
  for (const k of sorted) {
    const { key, depth, count } = found[k];
    next[k] = at;
    lanes.push({ key, depth, from: at, to: at + count });
    at += count;
  }
  const w = new Uint8Array(at);
  const x = new Uint32Array(at);
  let done = 0;
  for (const k of order) {
    if ((++done & 0xffff) === 0) yield;
    const to = next[place[k]]++;
    w[to] = which[k];
    x[to] = index[k];
  }
  const made = yield* gatherSteps(batches, w, x, lanes, [...rows.keys()].map((key) => [key, 0]));
  made.origin = { batches, which: w, index: x };
  return made;
}

/** Splits a batch by thread into ended and open items. @param {Batch} batch @returns {{ended: Batch, open: Batch}} */
export function threadOpen(batch) {
  const isOpen = (i) => (batch.flags[i] & Flag.open) !== 0;
  return { ended: threadPick(batch, (i) => !isOpen(i)), open: threadPick(batch, isOpen) };
}

function threadPick(batch, keep) {
  const index = [];
  const lanes = [];
  for (const { key, depth, from, to } of batch.lanes) {
    const begin = index.length;
    for (let i = from; i < to; i++) if (keep(i)) index.push(i);
    if (index.length > begin) lanes.push({ key, depth, from: begin, to: index.length });
  }
  const which = new Uint8Array(index.length);
  const x = Uint32Array.from(index);
  const made = gather([batch], which, x, lanes, batch.rows);
  made.origin = { batches: [batch], which, index: x };
  return made;
}
