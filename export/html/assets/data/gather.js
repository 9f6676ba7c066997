// Creates batches from items of other batches.

import { Batch, blankData } from "./batch.js";
import { Flag } from "./kinds.js";
import { orderByStart } from "./order.js";
import { atOnce } from "./slices.js";

/**
 * Creates a batch from items of other batches, in the given order.
 * @param {Batch[]} batches
 * @param {Uint8Array} which the batch of each item
 * @param {Uint32Array} index of each item in its batch
 * @param {import("./batch.js").BatchLane[]} lanes
 * @param {[number, number][]} rows
 * @returns {Batch}
 */
export function gather(batches, which, index, lanes, rows) { return atOnce(gatherSteps(batches, which, index, lanes, rows)); }

/** As gather, step by step. @param {Batch[]} batches @param {Uint8Array} which @param {Uint32Array} index @param {import("./batch.js").BatchLane[]} lanes @param {[number, number][]} rows @returns {Generator<void, Batch>} */
export function* gatherSteps(batches, which, index, lanes, rows) {
  const n = index.length;
  const data = blankData(n);
  data.lanes = lanes;
  data.rows = rows;
  if (batches.some((s) => s.count !== null)) {
    data.count = new Uint32Array(n);
    data.busy = new Float64Array(n);
  }
  const offsets = joinStrings(batches, data);
  for (let k = 0; k < n; k++) {
    if ((k & 0xffff) === 0xffff) yield;
    const batch = batches[which[k]];
    const i = index[k];
    data.start[k] = batch.start[i];
    data.dur[k] = batch.dur[i];
    data.cpu[k] = batch.cpu[i];
    data.flags[k] = batch.flags[i];
    data.kind[k] = batch.kind[i];
    data.name[k] = batch.name[i];
    data.thread[k] = batch.thread[i];
    data.args[k] = batch.args[i] === 0 ? 0 : batch.args[i] + offsets[which[k]];
    if (data.count !== null && data.busy !== null) {
      data.count[k] = batch.count === null ? 1 : batch.count[i];
      data.busy[k] = batch.busy === null ? batch.dur[i] : batch.busy[i];
    }
  }
  const made = new Batch(data);
  made.res = Math.max(0, ...batches.map((s) => s.res));
  if (batches.some((s) => s.endedBy.size > 0)) {
    for (let k = 0; k < n; k++) {
      const goid = batches[which[k]].endedBy.get(index[k]);
      if (goid !== undefined) made.endedBy.set(k, goid);
    }
  }
  return made;
}

/** Concatenates the string tables, and returns the offset of each batch's indexes. */
function joinStrings(batches, data) {
  if (batches.length === 1) {
    data.strings = batches[0].strings;
    return [0];
  }
  const offsets = [];
  let at = 0;
  for (const batch of batches) {
    offsets.push(at);
    at += batch.strings.length;
  }
  data.strings = [].concat(...batches.map((s) => s.strings));
  data.strings[0] = "";
  return offsets;
}

/**
 * Merges several batches into one; later batches contain the later items of a lane.
 * @param {Batch[]} batches at most 256
 * @returns {Batch}
 */
export function compact(batches) {
  const names = new Map();
  /** By key and depth: batch, from, to. @type {Map<number, Map<number, number[][]>>} */
  const rows = new Map();
  let n = 0;
  batches.forEach((batch, s) => {
    n += batch.n;
    for (const [key, name] of batch.rows) if (name !== 0 || !names.has(key)) names.set(key, name);
    for (const lane of batch.lanes) {
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
      sortLane(batches, which.subarray(from, at), index.subarray(from, at));
      lanes.push({ key, depth, from, to: at });
    }
  }
  const made = gather(batches, which, index, lanes, [...names]);
  made.from = batches[0].from;
  made.to = batches[batches.length - 1].to;
  made.gos = batches.flatMap((s) => s.gos);
  made.series = joinSeries(batches);
  return made;
}

/** Sorts the items of a lane by start, if necessary. */
function sortLane(batches, which, index) {
  const n = index.length;
  let sorted = true;
  for (let k = 1; k < n && sorted; k++) sorted = batches[which[k - 1]].start[index[k - 1]] <= batches[which[k]].start[index[k]];
  if (sorted) return;
  const start = Float64Array.from(index, (i, k) => batches[which[k]].start[i]);
  const order = orderByStart(start, new Uint8Array(n), n);
  which.set(Uint8Array.from(order, (k) => which[k]));
  index.set(Uint32Array.from(order, (k) => index[k]));
}

/**
 * Returns the counters' values of several batches, by name.
 * @param {Batch[]} batches
 * @returns {{name: number, time: Float64Array, value: Float64Array}[]}
 */
export function joinSeries(batches) {
  const byName = new Map();
  for (const batch of batches) {
    for (const s of batch.series) byName.set(s.name, [...byName.get(s.name) ?? [], s]);
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

/** Splits a batch into ended and open items. @param {Batch} batch @returns {{ended: Batch, open: Batch}} */
export function splitOpen(batch) {
  const isOpen = (i) => (batch.flags[i] & Flag.open) !== 0;
  let count = 0;
  for (let i = 0; i < batch.n; i++) count += (batch.flags[i] & Flag.open) / Flag.open;
  if (count === 0) return { ended: batch, open: new Batch(blankData(0)) };
  const ended = pick(batch, (i) => !isOpen(i));
  ended.series = batch.series;
  ended.gos = batch.gos;
  return { ended, open: pick(batch, isOpen) };
}

/** Returns a batch of the items for which keep returns true. */
function pick(batch, keep) {
  const index = new Uint32Array(batch.n);
  const lanes = [];
  let at = 0;
  for (const { key, depth, from, to } of batch.lanes) {
    const begin = at;
    for (let i = from; i < to; i++) if (keep(i)) index[at++] = i;
    if (at > begin) lanes.push({ key, depth, from: begin, to: at });
  }
  const made = gather([batch], new Uint8Array(at), index.slice(0, at), lanes, batch.rows);
  [made.from, made.to] = [batch.from, batch.to];
  return made;
}
