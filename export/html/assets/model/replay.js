// The attribution of time to scopes. Each moment of a goroutine belongs to at most one scope: the one that began last
// of those running. So self times are never negative, and add up to the time in any scope. Waits for locks count like
// scopes: a waiting goroutine does nothing else. Holds do not; they get the scopes that ran while they lasted. The Go
// side's internal/analysis uses the same rule.

import { Kind } from "../data/kinds.js";
import { firstEnding, firstFrom } from "../data/batch.js";

/** The number of items processed between two yields. */
export const itemsAtOnce = 1 << 12;

/** @typedef {{batch: import("../data/batch.js").Batch, depth: number, i: number, end: number}} Piece what is left of a part of a lane */

/**
 * An iterator over the items of a row that touch a range, sorted by start, then by depth. It
 * merges the parts of the row, which are sorted: sorting a large row would take long.
 */
export class RowItems {
  /** @param {import("./rowset.js").Row} row @param {number} from @param {number} to */
  constructor(row, from, to) {
    /** A heap of pieces with the next item on top. @type {Piece[]} */
    this.pieces = [];
    for (const lane of row.lanes) {
      for (const part of lane.open ? [...lane.parts, lane.open] : lane.parts) {
        const { batch } = part;
        const i = firstEnding(batch, part.from, part.to, from);
        let end = firstFrom(batch.start, i, part.to, to);
        while (end < part.to && batch.start[end] === to) end++;
        if (end > i) this.pieces.push({ batch, depth: lane.depth, i, end });
      }
    }
    for (let k = this.pieces.length >> 1; k >= 0; k--) this.sink(k);
    this.batch = /** @type {import("../data/batch.js").Batch} */ (/** @type {unknown} */ (null));
    this.i = -1;
  }

  /** Advances to the next item; batch and i denote it. @returns {boolean} false at the end */
  next() {
    const { pieces } = this;
    const first = pieces[0];
    if (first === undefined) return false;
    this.batch = first.batch;
    this.i = first.i++;
    if (first.i === first.end) {
      const last = /** @type {Piece} */ (pieces.pop());
      if (last !== first) pieces[0] = last;
    }
    this.sink(0);
    return true;
  }

  /** Restores the heap's order below k. @param {number} k */
  sink(k) {
    const { pieces } = this;
    for (;;) {
      let least = k;
      for (let child = 2 * k + 1; child <= 2 * k + 2 && child < pieces.length; child++) {
        if (earlier(pieces[child], pieces[least])) least = child;
      }
      if (least === k) return;
      [pieces[k], pieces[least]] = [pieces[least], pieces[k]];
      k = least;
    }
  }
}

/** @param {Piece} a @param {Piece} b */
function earlier(a, b) {
  const x = a.batch.start[a.i];
  const y = b.batch.start[b.i];
  return x < y || x === y && a.depth < b.depth;
}

/** Attributes the moments of one row after the other. */
export class Replay {
  /**
   * @param {(to: number, from: number, until: number) => void} charge gives a stretch to the innermost
   * @param {(lock: number, by: number, from: number, until: number) => void} held gets the scope that had the time while a lock was held; -1: none
   */
  constructor(charge, held) {
    this.charge = charge;
    this.held = held;
    this.cursor = 0;
    /** The running items, by start; the last one that has not ended is the innermost. */
    this.ends = [];
    this.ids = [];
    this.holdEnds = [];
    this.holdIds = [];
  }

  /** Begins a row. @param {number} t */
  start(t) {
    this.cursor = t;
    this.ends.length = this.ids.length = this.holdEnds.length = this.holdIds.length = 0;
  }

  /** Returns the innermost item at the cursor; -1: none. */
  top() {
    const { ends } = this;
    while (ends.length > 0 && ends[ends.length - 1] <= this.cursor) {
      ends.pop();
      this.ids.pop();
    }
    return ends.length > 0 ? this.ids[ends.length - 1] : -1;
  }

  /** Begins an item at the cursor. @param {number} end @param {number} id */
  begin(end, id) {
    this.ends.push(end);
    this.ids.push(id);
  }

  /** @param {number} end @param {number} lock */
  hold(end, lock) {
    this.holdEnds.push(end);
    this.holdIds.push(lock);
  }

  /**
   * Attributes the time up to t, at which an item begins; time before the row's first item is not attributed.
   * @param {number} t
   */
  advanceToItem(t) {
    if (this.cursor === -Infinity) this.cursor = t;
    else this.advance(t);
  }

  /** Attributes the time up to t. @param {number} t */
  advance(t) {
    while (this.cursor < t) {
      const id = this.top();
      const next = id < 0 ? t : Math.min(t, this.ends[this.ends.length - 1]);
      if (id >= 0) this.charge(id, this.cursor, next);
      if (this.holdEnds.length > 0) this.attributeTo(id, next);
      this.cursor = next;
    }
  }

  /** Reports to the holds that id had the time up to next. */
  attributeTo(id, next) {
    let kept = 0;
    for (let k = 0; k < this.holdEnds.length; k++) {
      const end = this.holdEnds[k];
      if (Math.min(next, end) > this.cursor) this.held(this.holdIds[k], id, this.cursor, Math.min(next, end));
      if (end > next) {
        this.holdEnds[kept] = end;
        this.holdIds[kept++] = this.holdIds[k];
      }
    }
    this.holdEnds.length = this.holdIds.length = kept;
  }

  /** Attributes the rest. */
  finish() {
    let end = this.cursor;
    for (const e of this.ends) end = Math.max(end, e);
    for (const e of this.holdEnds) end = Math.max(end, e);
    this.advance(end);
  }
}

/** Reports whether items of a kind own time: scopes and waits. @param {number} kind */
export function hasMoments(kind) {
  return kind === Kind.task || kind === Kind.taskf || kind === Kind.process || kind === Kind.wait;
}
