// The rows by goroutine or by thread, and the parts of their lanes.

import { isScope } from "../data/kinds.js";
import { shortText } from "../data/names.js";

/**
 * @typedef {import("../data/batch.js").Batch} Batch
 *
 * The items of a lane in one batch.
 * @typedef {Object} Part
 * @property {Batch} batch
 * @property {number} lane index into the batch's lanes
 * @property {number} from
 * @property {number} to
 *
 * @typedef {Object} Lane
 * @property {Row} row
 * @property {number} depth
 * @property {Part[]} parts in order of time
 * @property {Part|null} open open items
 * @property {Part|null} detail finer items of a part of the time
 *
 * @typedef {Object} Row
 * @property {number} key the goroutine or the thread; 0: unknown
 * @property {"goroutine"|"thread"} by
 * @property {number} nameId
 * @property {string} name "": none
 * @property {string} title its name or a substitute, shortened
 * @property {boolean} named
 * @property {number} first begin of its first item, ns
 * @property {number} last end of its last item, ns
 * @property {number} depth number of lanes
 * @property {number} scopes
 * @property {number} outer most frequent name id of its outermost scopes; 0: none
 * @property {boolean} instants
 * @property {Lane[]} lanes by depth
 * @property {Lane} flags its instants
 */

/** The rows of one kind. */
export class RowSet {
  /**
   * @param {"goroutine"|"thread"} by
   * @param {(nameId: number) => string} nameOf
   * @param {(key: number) => string} [unnamed] returns the title of a row without a name
   */
  constructor(by, nameOf, unnamed = (key) => rowTitle(by, key)) {
    this.unnamed = unnamed;
    this.by = by;
    this.nameOf = nameOf;
    /** @type {Map<number, Row>} */
    this.rows = new Map();
    /** @type {Batch|null} */
    this.open = null;
    /** @type {Batch|null} */
    this.detail = null;
  }

  /** Adds a batch of later items. @param {Batch} batch */
  add(batch) {
    const begun = new Set();
    this.eachPart(batch, (lane, part) => {
      lane.parts.push(part);
      begun.add(lane.row);
    });
    for (const row of begun) if (row.outer === 0) row.outer = outermostName(row);
  }

  /** Replaces the open items. @param {Batch|null} batch */
  setOpen(batch) {
    if (this.open) {
      for (const { key, depth, from, to } of this.open.lanes) {
        const row = this.row(key);
        laneAt(row, depth).open = null;
        row.scopes -= countScopes(this.open, from, to);
      }
    }
    this.open = batch;
    if (!batch) return;
    this.eachPart(batch, (lane, part) => {
      lane.open = part;
      if (lane.row.outer === 0) lane.row.outer = outermostName(lane.row);
    });
  }

  /** Replaces the finer items. @param {Batch|null} batch */
  setDetail(batch) {
    if (this.detail) for (const { key, depth } of this.detail.lanes) laneAt(this.row(key), depth).detail = null;
    this.detail = batch;
    if (!batch) return;
    batch.lanes.forEach(({ key, depth, from, to }, lane) => {
      laneAt(this.row(key), depth).detail = { batch, lane, from, to };
    });
  }

  /** @param {Batch} batch @param {(lane: Lane, part: Part) => void} put */
  eachPart(batch, put) {
    for (const [key, nameId] of batch.rows) if (nameId !== 0) this.row(key).nameId = nameId;
    batch.lanes.forEach(({ key, depth, from, to }, lane) => {
      if (from === to) return;
      const row = this.row(key);
      row.first = Math.min(row.first, batch.start[from]);
      row.last = Math.max(row.last, batch.end(to - 1));
      row.scopes += countScopes(batch, from, to);
      if (depth < 0) row.instants = true;
      put(laneAt(row, depth), { batch, lane, from, to });
    });
  }

  /** Returns the row of a key, created if necessary. @param {number} key @returns {Row} */
  row(key) {
    const had = this.rows.get(key);
    if (had) return had;
    const row = newRow(key, this.by);
    this.rows.set(key, row);
    return row;
  }

  /**
   * Returns the rows that have items, in the order of their first activity. It sets their names.
   * @returns {Row[]}
   */
  list() {
    const list = [];
    for (const row of this.rows.values()) {
      if (row.first === Infinity) continue;
      row.name = row.nameId === 0 ? "" : this.nameOf(row.nameId);
      row.named = row.name !== "";
      row.title = shortText(row.name) || this.unnamed(row.key);
      row.depth = row.lanes.length;
      list.push(row);
    }
    return list.sort((a, b) => a.first - b.first || a.key - b.key);
  }
}

/** Returns the title of a row without a name. @param {"goroutine"|"thread"} by @param {number} key */
export function rowTitle(by, key) { return key === 0 ? `unknown ${by}` : `${by} ${key}`; }

/** Returns an empty row. @param {number} key @param {"goroutine"|"thread"} by @returns {Row} */
export function newRow(key, by) {
  const row = /** @type {Row} */ (/** @type {Partial<Row>} */ ({
    key, by, nameId: 0, name: "", title: "", named: false, first: Infinity, last: -Infinity, depth: 0, scopes: 0, outer: 0, instants: false, lanes: [],
  }));
  row.flags = newLane(row, -1);
  return row;
}

/** @returns {Lane} */
function newLane(row, depth) { return { row, depth, parts: [], open: null, detail: null }; }

/**
 * Returns a row's lane at a depth, created if necessary.
 * @param {Row} row
 * @param {number} depth -1: the instants
 * @returns {Lane}
 */
export function laneAt(row, depth) {
  if (depth < 0) return row.flags;
  const { lanes } = row;
  if (lanes[depth]?.depth === depth) return lanes[depth]; // usually no lane is missing
  let at = lanes.length;
  while (at > 0 && lanes[at - 1].depth >= depth) at--;
  if (lanes[at]?.depth !== depth) lanes.splice(at, 0, newLane(row, depth));
  return lanes[at];
}

function countScopes(batch, from, to) {
  let n = 0;
  for (let i = from; i < to; i++) if (isScope(batch.kind[i])) n += batch.many(i);
  return n;
}

/** The maximum number of a row's outermost scopes whose names are counted. */
const outerSample = 256;

/** Returns the most frequent name of a row's outermost scopes; of very many, from a sample. */
function outermostName(row) {
  const counts = new Map();
  let best = 0;
  const lane = row.lanes[0];
  for (const { batch, from, to } of lane ? [...lane.parts, ...lane.open ? [lane.open] : []] : []) {
    const step = Math.max(1, Math.floor((to - from) / outerSample));
    for (let i = from; i < to; i += step) {
      if (!isScope(batch.kind[i])) continue;
      const n = (counts.get(batch.name[i]) ?? 0) + 1;
      counts.set(batch.name[i], n);
      if (n > (counts.get(best) ?? 0)) best = batch.name[i];
    }
  }
  return best;
}
