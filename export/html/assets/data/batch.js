// A batch: some items of a trace in typed arrays, lane by lane. It is immutable, except for
// the durations of open items.

import { bisect } from "./bisect.js";
import { Pyramid } from "./pyramid.js";
import { Flag, Kind, Quality } from "./kinds.js";

/** The laneDepth of a row's instants; depths from this value on are encoded plus one. */
const instantsLane = 255;

/** Decodes a depth. @param {number} encoded @returns {number} -1: the instants */
function depthOf(encoded) { return encoded < instantsLane ? encoded : encoded === instantsLane ? -1 : encoded - 1; }

/**
 * @typedef {Object} BatchLane
 * @property {number} key of the row: its goroutine or thread
 * @property {number} depth -1: the row's instants
 * @property {number} from index of its first item
 * @property {number} to   index after its last item
 *
 * @typedef {{batch: Batch, i: number}} Ref an item
 *
 * @typedef {Object} BatchData
 * @property {Float64Array} start
 * @property {Float64Array} dur
 * @property {Float64Array} cpu
 * @property {Uint8Array} flags
 * @property {Uint8Array} kind
 * @property {Uint16Array} name
 * @property {Uint32Array} thread
 * @property {Uint32Array} args
 * @property {Uint32Array|null} count
 * @property {Float64Array|null} busy
 * @property {BatchLane[]} lanes
 * @property {string[]} strings
 * @property {[number, number][]} rows key and name id of the rows
 */

/** Items of a lane are sorted by start and do not overlap, so their ends are sorted too. */
export class Batch {
  /** @param {BatchData} data */
  constructor(data) {
    this.n = data.start.length;
    this.start = data.start;
    this.dur = data.dur;
    /** CPU time; NaN: unknown. */
    this.cpu = data.cpu;
    this.flags = data.flags;
    this.kind = data.kind;
    this.name = data.name;
    this.thread = data.thread;
    /** Index into strings; 0: none. */
    this.args = data.args;
    /** The number of scopes that an item represents, and their total duration; null: one scope per item. */
    this.count = data.count;
    this.busy = data.busy;
    this.lanes = data.lanes;
    this.strings = data.strings;
    this.rows = data.rows;
    this.from = 0;
    this.to = Infinity;
    this.res = 0;
    this.quality = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) this.quality[i] = this.flags[i] & Flag.quality;
    /** The lane of each item. */
    this.lane = new Uint32Array(this.n);
    for (let k = 0; k < this.lanes.length; k++) this.lane.fill(k, this.lanes[k].from, this.lanes[k].to);
    /** The goroutines that ended items of other goroutines, by item. @type {Map<number, number>} */
    this.endedBy = new Map();
    /** @type {{child: number, creator: number, created: number, start: number}[]} */
    this.gos = [];
    /** @type {{name: number, time: Float64Array, value: Float64Array}[]} */
    this.series = [];
    /**
     * For a batch by thread: the source of each item.
     * @type {{batches: Batch[], which: Uint8Array, index: Uint32Array}|null}
     */
    this.origin = null;
    /** @type {(Pyramid|undefined)[]} */
    this.pyramids = [];
    /** @type {Map<number, number>|null} */
    this.firstLane = null;
  }

  /** @param {number} i */
  end(i) { return this.start[i] + this.dur[i]; }

  /** Returns the number of scopes that item i represents. @param {number} i */
  many(i) { return this.count === null ? 1 : this.count[i]; }

  /** Returns the merged levels of a lane, which are created on first use. @param {number} lane @returns {Pyramid} */
  pyramid(lane) {
    return this.pyramids[lane] ??= new Pyramid(this, this.lanes[lane].from, this.lanes[lane].to);
  }

  /** Returns the index of a row's lane at a depth; -1: none. @param {number} key @param {number} depth */
  laneOf(key, depth) {
    if (this.firstLane === null) {
      this.firstLane = new Map();
      for (let k = this.lanes.length - 1; k >= 0; k--) this.firstLane.set(this.lanes[k].key, k);
    }
    for (let k = this.firstLane.get(key) ?? this.lanes.length; k < this.lanes.length && this.lanes[k].key === key; k++) {
      if (this.lanes[k].depth === depth) return k;
    }
    return -1;
  }
}

/**
 * Creates a batch from a tile of a container.
 * @param {import("./columns.js").TileHeader} tile
 * @param {Map<string, import("./columns.js").Column>} columns
 * @returns {Batch}
 */
export function batchOfTile(tile, columns) {
  const column = (name) => {
    const c = columns.get(name);
    if (c === undefined) throw new Error(`The timeline's data lack the column ${name}.`);
    return c;
  };
  const rows = tile.rows ?? [];
  const strings = tile.strings ?? [""];
  const start = column("start");
  const n = start.length;
  const lanes = readLanes(rows, column("laneRow"), column("laneDepth"), column("laneCount"), n);
  const sized = (name) => {
    const c = column(name);
    if (c.length !== n) throw new Error(`The timeline's data have ${n} items, but column ${name} has ${c.length}.`);
    return c;
  };
  const flags = bytesOf(sized("flags"));
  const dur = floatsOf(sized("dur"));
  const batch = new Batch({
    start: floatsOf(start), dur, cpu: cpuTimes(dur, floatsOf(sized("slack")), flags), flags,
    kind: bytesOf(sized("kind")), name: Uint16Array.from(sized("name")), thread: wordsOf(sized("thread")), args: argsOf(sized("args"), strings),
    count: columns.has("count") ? wordsOf(sized("count")) : null, busy: columns.has("busy") ? floatsOf(sized("busy")) : null,
    lanes, strings, rows,
  });
  batch.from = tile.from ?? 0;
  batch.to = tile.to ?? Infinity;
  batch.res = tile.res ?? 0;
  readSparse(batch, (name) => columns.get(name) ?? new Uint32Array(0));
  return batch;
}

function readLanes(rows, row, depth, count, n) {
  if (row.length !== depth.length || row.length !== count.length) throw new Error("The timeline's columns of lanes differ in length.");
  const lanes = [];
  let at = 0;
  for (let k = 0; k < row.length; k++) {
    if (row[k] >= rows.length) throw new Error(`The timeline's data have ${rows.length} rows, but a lane of row ${row[k]}.`);
    lanes.push({ key: rows[row[k]][0], depth: depthOf(depth[k]), from: at, to: at + count[k] });
    at += count[k];
    if (at > n) break;
  }
  if (at !== n) throw new Error(`The timeline's data have ${n} items, but their lanes hold ${at}.`);
  return lanes;
}

function bytesOf(c) { return c instanceof Uint8Array ? c : Uint8Array.from(c); }
function wordsOf(c) { return c instanceof Uint32Array ? c : Uint32Array.from(c); }
function floatsOf(c) { return c instanceof Float64Array ? c : Float64Array.from(c); }

function argsOf(c, strings) {
  for (let i = 0; i < c.length; i++) {
    if (c[i] >= strings.length) throw new Error(`The timeline's data have ${strings.length} texts, but an item with text ${c[i]}.`);
  }
  return wordsOf(c);
}

/** Replaces slack by CPU times, in place. */
function cpuTimes(dur, slack, flags) {
  for (let i = 0; i < slack.length; i++) {
    slack[i] = (flags[i] & Flag.quality) === Quality.unknown ? NaN : dur[i] - slack[i];
  }
  return slack;
}

function readSparse(batch, column) {
  const item = column("endItem");
  const goid = column("endGoid");
  for (let k = 0; k < item.length && k < goid.length; k++) batch.endedBy.set(item[k], goid[k]);
  const child = column("goChild");
  const [creator, created, start] = [column("goCreator"), column("goCreated"), column("goStart")];
  for (let k = 0; k < child.length; k++) {
    batch.gos.push({ child: child[k], creator: creator[k] ?? 0, created: created[k] ?? 0, start: start[k] ?? 0 });
  }
  const name = column("seriesName");
  const count = column("seriesCount");
  const time = floatsOf(column("seriesTime"));
  const value = floatsOf(column("seriesValue"));
  let at = 0;
  for (let k = 0; k < name.length && k < count.length; k++) {
    const to = Math.min(at + count[k], time.length, value.length);
    batch.series.push({ name: name[k], time: time.subarray(at, to), value: value.subarray(at, to) });
    at = to;
  }
}

/**
 * Creates a batch from the open scopes.
 * @param {import("./columns.js").OpenHeader} open
 * @param {number} end time of the newest record
 * @returns {Batch}
 */
export function batchOfOpen(open, end) {
  const items = open.items.filter((x) => open.rows[x[0]] !== undefined && Number.isFinite(x[4]));
  items.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[4] - b[4]);
  const n = items.length;
  const data = blankData(n);
  data.rows = open.rows;
  for (let i = 0; i < n; i++) {
    const [row, depth, name, kind, start, thread, args] = items[i];
    data.start[i] = start;
    data.cpu[i] = NaN;
    data.flags[i] = Flag.open;
    data.kind[i] = kind;
    data.name[i] = name;
    data.thread[i] = thread;
    if (args) data.args[i] = data.strings.push(args) - 1;
    const key = open.rows[row][0];
    const last = data.lanes.at(-1);
    if (last?.key === key && last.depth === depthOf(depth)) last.to = i + 1;
    else data.lanes.push({ key, depth: depthOf(depth), from: i, to: i + 1 });
  }
  const batch = new Batch(data);
  extendOpen(batch, end);
  return batch;
}

/** Extends open scopes to end. Pending items get no duration. @param {Batch} batch @param {number} end */
export function extendOpen(batch, end) {
  for (let i = 0; i < batch.n; i++) batch.dur[i] = batch.kind[i] === Kind.pending ? 0 : Math.max(end - batch.start[i], 0);
}

/** @param {number} n @returns {BatchData} */
export function blankData(n) {
  return {
    start: new Float64Array(n), dur: new Float64Array(n), cpu: new Float64Array(n), flags: new Uint8Array(n), kind: new Uint8Array(n),
    name: new Uint16Array(n), thread: new Uint32Array(n), args: new Uint32Array(n), count: null, busy: null, lanes: [], strings: [""], rows: [],
  };
}

/**
 * Returns the first index in [from, to) whose item does not start before t.
 * @param {Float64Array} start
 * @param {number} from
 * @param {number} to
 * @param {number} t
 */
export function firstFrom(start, from, to, t) { return bisect(from, to, (k) => start[k] < t); }

/**
 * Returns the first index in [from, to) whose item does not end before t.
 * @param {Batch} batch
 * @param {number} from
 * @param {number} to
 * @param {number} t
 */
export function firstEnding(batch, from, to, t) {
  const { start, dur } = batch;
  return bisect(from, to, (k) => start[k] + dur[k] < t);
}
