// Rows by thread: the same items, on the thread on which they began.

import { gather } from "./gather.js";
import { orderByStart } from "./order.js";
import { firstEnding } from "./segment.js";
import { Flag } from "./kinds.js";

/**
 * @typedef {import("./segment.js").Segment} Segment
 */

/**
 * Puts items on rows by thread. What overlaps there gets depths of its own: the
 * first free one from the number of those that still run.
 * @param {Segment[]} segs at most 256
 * @param {Segment|null} before by thread; what lies in it stays where it is
 * @returns {Segment}
 */
export function threadSegment(segs, before) {
  const n = segs.reduce((sum, s) => sum + s.n, 0);
  const which = new Uint8Array(n);
  const index = new Uint32Array(n);
  const start = new Float64Array(n);
  const depth = new Float64Array(n);
  let at = 0;
  segs.forEach((seg, s) => {
    for (const lane of seg.lanes) {
      for (let i = lane.from; i < lane.to; i++, at++) {
        which[at] = s;
        index[at] = i;
        start[at] = seg.start[i];
        depth[at] = lane.depth;
      }
    }
  });
  const order = orderByStart(start, depth, n);
  /** @type {Map<number, ThreadRow>} */
  const rows = new Map();
  const place = new Int32Array(n); // the lane's number, in the order in which lanes are found
  /** @type {{key: number, depth: number, count: number}[]} */
  const found = [];
  for (const k of order) {
    const seg = segs[which[k]];
    const i = index[k];
    const key = seg.thread[i];
    let row = rows.get(key);
    if (!row) rows.set(key, row = new ThreadRow(key, found, before));
    place[k] = depth[k] < 0 ? row.instants() : row.put(start[k], seg.end(i), (seg.flags[i] & Flag.open) !== 0);
    found[place[k]].count++;
  }
  return laidOut(segs, which, index, order, place, found, rows);
}

/** Which depths of a thread's row are taken, as time goes on. */
class ThreadRow {
  constructor(key, found, before) {
    this.key = key;
    this.found = found;
    this.before = before;
    this.ends = []; // by depth, of the last item there
    this.lanes = []; // by depth
    this.flags = -1;
    this.top = 0; // nothing runs from this depth on
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

  /** Tells whether what was there before is in the way. */
  taken(depth, start, end) {
    const k = this.before ? this.before.laneOf(this.key, depth) : -1;
    if (k < 0) return false;
    const { from, to } = this.before.lanes[k];
    const i = firstEnding(this.before, from, to, start);
    for (let j = i; j < to && this.before.start[j] < end; j++) if (this.before.end(j) > start) return true;
    return false;
  }
}

/** Makes the segment, lanes by row and depth. */
function laidOut(segs, which, index, order, place, found, rows) {
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
  for (const k of order) {
    const to = next[place[k]]++;
    w[to] = which[k];
    x[to] = index[k];
  }
  const made = gather(segs, w, x, lanes, [...rows.keys()].map((key) => [key, 0]));
  made.origin = { segs, which: w, index: x };
  return made;
}

/**
 * Parts a segment by thread into what has ended and what is open.
 * @param {Segment} seg
 * @returns {{ended: Segment, open: Segment}}
 */
export function threadOpen(seg) {
  const isOpen = (i) => (seg.flags[i] & Flag.open) !== 0;
  return { ended: threadPick(seg, (i) => !isOpen(i)), open: threadPick(seg, isOpen) };
}

function threadPick(seg, keep) {
  const index = [];
  const lanes = [];
  for (const { key, depth, from, to } of seg.lanes) {
    const begin = index.length;
    for (let i = from; i < to; i++) if (keep(i)) index.push(i);
    if (index.length > begin) lanes.push({ key, depth, from: begin, to: index.length });
  }
  const which = new Uint8Array(index.length);
  const x = Uint32Array.from(index);
  const made = gather([seg], which, x, lanes, seg.rows);
  made.origin = { segs: [seg], which, index: x };
  return made;
}
