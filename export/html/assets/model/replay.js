// Whose moment is it? Every moment of a goroutine belongs to one scope at most:
// to the one that began last among those that run. So self times are never
// negative, and add up to the time in any scope. Waits for locks take part like
// scopes, as who waits does nothing of his own. Holds don't: they are told who had
// the moments while they lasted. The Go side's internal/analysis counts so.

import { Kind } from "../data/kinds.js";
import { firstEnding, firstFrom } from "../data/batch.js";

/** So many items are gone through between two yields of what goes through many. */
export const itemsAtOnce = 1 << 12;

/** @typedef {{batch: import("../data/batch.js").Batch, depth: number, i: number, end: number}} Piece what is left of a part of a lane */

/**
 * Goes through a row's items that touch a range, in the order in which they began: of
 * those that began together the less deep one first. Its parts are in order already,
 * and are merged on the way: sorting a large row would take long.
 */
export class RowItems {
  /** @param {import("./rowset.js").Row} row @param {number} from @param {number} to */
  constructor(row, from, to) {
    /** @type {Piece[]} a heap, with what comes next on top */
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

  /** Comes to the next item, which batch and i tell then. @returns {boolean} whether there is one */
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

/** Gives the moments of one row after the other away. */
export class Replay {
  /**
   * @param {(to: number, from: number, until: number) => void} charge gives a stretch to the innermost
   * @param {(lock: number, by: number, from: number, until: number) => void} held tells who had it while a lock was held; -1: nobody
   */
  constructor(charge, held) {
    this.charge = charge;
    this.held = held;
    this.cursor = 0;
    /** What runs, by start; the last that has not ended is the innermost. */
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

  /** What runs innermost at the moment that was come to; -1: nothing. */
  top() {
    const { ends } = this;
    while (ends.length > 0 && ends[ends.length - 1] <= this.cursor) {
      ends.pop();
      this.ids.pop();
    }
    return ends.length > 0 ? this.ids[ends.length - 1] : -1;
  }

  /** Puts what begins at the moment that was come to. @param {number} end @param {number} id */
  begin(end, id) {
    this.ends.push(end);
    this.ids.push(id);
  }

  /** @param {number} end @param {number} lock */
  hold(end, lock) {
    this.holdEnds.push(end);
    this.holdIds.push(lock);
  }

  /** Gives away all up to t, at which an item begins: a row's first one has nothing before it. @param {number} t */
  comeTo(t) {
    if (this.cursor === -Infinity) this.cursor = t;
    else this.advance(t);
  }

  /** Gives away all up to t. @param {number} t */
  advance(t) {
    while (this.cursor < t) {
      const id = this.top();
      const next = id < 0 ? t : Math.min(t, this.ends[this.ends.length - 1]);
      if (id >= 0) this.charge(id, this.cursor, next);
      if (this.holdEnds.length > 0) this.give(id, next);
      this.cursor = next;
    }
  }

  /** Tells the holds who had the time up to next. */
  give(id, next) {
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

  /** Gives away the rest. */
  finish() {
    let end = this.cursor;
    for (const e of this.ends) end = Math.max(end, e);
    for (const e of this.holdEnds) end = Math.max(end, e);
    this.advance(end);
  }
}

/**
 * Reports whether a kind has a part in whose moment it is.
 * @param {number} kind
 */
export function hasMoments(kind) {
  return kind === Kind.task || kind === Kind.taskf || kind === Kind.process || kind === Kind.wait;
}
