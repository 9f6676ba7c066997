// New segments of the items of others.

import { Segment, blankData } from "./segment.js";
import { Flag } from "./kinds.js";
import { orderByStart } from "./order.js";

/**
 * Makes a segment of items of others, in the order given.
 * @param {Segment[]} segs
 * @param {Uint8Array} which the segment of each item
 * @param {Uint32Array} index its place there
 * @param {import("./segment.js").SegmentLane[]} lanes
 * @param {[number, number][]} rows
 * @returns {Segment}
 */
export function gather(segs, which, index, lanes, rows) {
  const n = index.length;
  const data = blankData(n);
  data.lanes = lanes;
  data.rows = rows;
  if (segs.some((s) => s.count !== null)) {
    data.count = new Uint32Array(n);
    data.busy = new Float64Array(n);
  }
  const offsets = joinStrings(segs, data);
  for (let k = 0; k < n; k++) {
    const seg = segs[which[k]];
    const i = index[k];
    data.start[k] = seg.start[i];
    data.dur[k] = seg.dur[i];
    data.cpu[k] = seg.cpu[i];
    data.flags[k] = seg.flags[i];
    data.kind[k] = seg.kind[i];
    data.name[k] = seg.name[i];
    data.thread[k] = seg.thread[i];
    data.args[k] = seg.args[i] === 0 ? 0 : seg.args[i] + offsets[which[k]];
    if (data.count !== null && data.busy !== null) {
      data.count[k] = seg.count === null ? 1 : seg.count[i];
      data.busy[k] = seg.busy === null ? seg.dur[i] : seg.busy[i];
    }
  }
  const made = new Segment(data);
  made.res = Math.max(0, ...segs.map((s) => s.res));
  if (segs.some((s) => s.endedBy.size > 0)) {
    for (let k = 0; k < n; k++) {
      const goid = segs[which[k]].endedBy.get(index[k]);
      if (goid !== undefined) made.endedBy.set(k, goid);
    }
  }
  return made;
}

/** Puts the texts one after the other; tells what is added to each one's indexes. */
function joinStrings(segs, data) {
  if (segs.length === 1) {
    data.strings = segs[0].strings;
    return [0];
  }
  const offsets = [];
  let at = 0;
  for (const seg of segs) {
    offsets.push(at);
    at += seg.strings.length;
  }
  data.strings = [].concat(...segs.map((s) => s.strings));
  data.strings[0] = "";
  return offsets;
}

/**
 * Makes one segment of several; a lane's later items come from later segments.
 * @param {Segment[]} segs at most 256
 * @returns {Segment}
 */
export function compact(segs) {
  const names = new Map();
  /** @type {Map<number, Map<number, number[][]>>} by key and depth: segment, from, to */
  const rows = new Map();
  let n = 0;
  segs.forEach((seg, s) => {
    n += seg.n;
    for (const [key, name] of seg.rows) if (name !== 0 || !names.has(key)) names.set(key, name);
    for (const lane of seg.lanes) {
      let depths = rows.get(lane.key);
      if (!depths) rows.set(lane.key, depths = new Map());
      const pieces = depths.get(lane.depth);
      if (pieces) pieces.push([s, lane.from, lane.to]);
      else depths.set(lane.depth, [[s, lane.from, lane.to]]);
    }
  });
  const which = new Uint8Array(n);
  const index = new Uint32Array(n);
  const lanes = [];
  let at = 0;
  for (const [key, depths] of rows) {
    for (const depth of [...depths.keys()].sort((a, b) => a - b)) {
      const from = at;
      for (const [s, a, b] of depths.get(depth) ?? []) {
        which.fill(s, at, at + b - a);
        for (let i = a; i < b; i++) index[at++] = i;
      }
      sortLane(segs, which.subarray(from, at), index.subarray(from, at));
      lanes.push({ key, depth, from, to: at });
    }
  }
  const made = gather(segs, which, index, lanes, [...names]);
  made.from = segs[0].from;
  made.to = segs[segs.length - 1].to;
  made.gos = segs.flatMap((s) => s.gos);
  made.series = joinSeries(segs);
  return made;
}

/** Sorts a lane's items by start, where they are not. */
function sortLane(segs, which, index) {
  const n = index.length;
  let sorted = true;
  for (let k = 1; k < n && sorted; k++) sorted = segs[which[k - 1]].start[index[k - 1]] <= segs[which[k]].start[index[k]];
  if (sorted) return;
  const start = Float64Array.from(index, (i, k) => segs[which[k]].start[i]);
  const order = orderByStart(start, new Uint8Array(n), n);
  which.set(Uint8Array.from(order, (k) => which[k]));
  index.set(Uint32Array.from(order, (k) => index[k]));
}

/**
 * The counters' values of several segments, by name.
 * @param {Segment[]} segs
 * @returns {{name: number, time: Float64Array, value: Float64Array}[]}
 */
export function joinSeries(segs) {
  const byName = new Map();
  for (const seg of segs) {
    for (const s of seg.series) byName.set(s.name, [...byName.get(s.name) ?? [], s]);
  }
  const join = (parts, field) => {
    const out = new Float64Array(parts.reduce((sum, s) => sum + s[field].length, 0));
    let at = 0;
    for (const s of parts) {
      out.set(s[field], at);
      at += s[field].length;
    }
    return out;
  };
  return [...byName].map(([name, parts]) => parts.length === 1 ? parts[0] : { name, time: join(parts, "time"), value: join(parts, "value") });
}

/**
 * Parts a segment into what has ended and what is open.
 * @param {Segment} seg
 * @returns {{ended: Segment, open: Segment}}
 */
export function splitOpen(seg) {
  const isOpen = (i) => (seg.flags[i] & Flag.open) !== 0;
  let count = 0;
  for (let i = 0; i < seg.n; i++) count += (seg.flags[i] & Flag.open) / Flag.open;
  if (count === 0) return { ended: seg, open: new Segment(blankData(0)) };
  const ended = pick(seg, (i) => !isOpen(i));
  ended.series = seg.series;
  ended.gos = seg.gos;
  return { ended, open: pick(seg, isOpen) };
}

/** The items of a segment that keep chooses. */
function pick(seg, keep) {
  const index = new Uint32Array(seg.n);
  const lanes = [];
  let at = 0;
  for (const { key, depth, from, to } of seg.lanes) {
    const begin = at;
    for (let i = from; i < to; i++) if (keep(i)) index[at++] = i;
    if (at > begin) lanes.push({ key, depth, from: begin, to: at });
  }
  const made = gather([seg], new Uint8Array(at), index.slice(0, at), lanes, seg.rows);
  [made.from, made.to] = [seg.from, seg.to];
  return made;
}
