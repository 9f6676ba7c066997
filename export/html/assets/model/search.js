// Search over names and arguments of what is recorded, and over the names of rows.

import { Lit } from "./lit.js";
import { homeOf } from "./refs.js";

/**
 * Finds the items whose name or arguments have text in them, in any case. Names
 * and argument texts are compared once each, then the items are counted.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {Hits}
 */
export function search(model, text) { return new Hits(model, text.toLowerCase()); }

/** What a search found. Good for the model's version at that time. */
export class Hits extends Lit {
  /** @param {import("./model.js").Model} model @param {string} text in lower case */
  constructor(model, text) {
    const batches = model.batches();
    super(() => batches);
    this.text = text;
    this.batches = batches;
    this.names = Uint8Array.from(model.names, (name) => (name.toLowerCase().includes(text) ? 1 : 0));
    this.count = 0;
    for (const batch of this.batches) this.count += this.upTo(batch)[batch.n];
    /** What is merged hides names and arguments. */
    this.exact = !model.reduced;
  }

  /** @param {import("../data/batch.js").Batch} batch */
  countIn(batch) {
    const { text, names } = this;
    const { name, args, n } = batch;
    const strings = Uint8Array.from(batch.strings, (s) => (s !== "" && s.toLowerCase().includes(text) ? 1 : 0));
    const before = new Uint32Array(n + 1);
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (names[name[i]] === 1 || strings[args[i]] === 1) count++;
      before[i + 1] = count;
    }
    return before;
  }

  /**
   * How many hits come before one in the order in which next goes through them.
   * @param {import("../data/batch.js").Ref} ref a hit
   */
  placeOf(ref) {
    const at = homeOf(ref);
    const time = at.batch.start[at.i];
    let place = 0;
    let behind = false; // at's batch
    for (const batch of this.batches) {
      const before = this.upTo(batch);
      const { start } = batch;
      // Of those with the same start, those of earlier batches and places come first.
      const ends = batch === at.batch ? at.i : behind ? 0 : batch.n;
      if (before[batch.n] > 0) for (let k = 0; k < batch.n; k++) if (before[k + 1] > before[k] && (start[k] < time || start[k] === time && k < ends)) place++;
      behind ||= batch === at.batch;
    }
    return place;
  }

  /** The rows whose names have the text. @param {import("./rowset.js").Row[]} rows */
  rowsOf(rows) { return rows.filter((row) => (row.name || row.title).toLowerCase().includes(this.text)); }

  /**
   * The next hit by its start.
   * @param {number|import("../data/batch.js").Ref} at a time; or a hit, so that those with the same start come too
   * @param {1|-1} dir
   * @param {import("../data/batch.js").Batch[]} batches among which it is looked for
   * @returns {import("../data/batch.js").Ref|null}
   */
  next(at, dir, batches = this.batches) {
    const ref = typeof at === "number" ? null : homeOf(at);
    const time = typeof at === "number" ? at : at.batch.start[at.i];
    const place = ref ? batches.indexOf(ref.batch) : -1;
    return nearest(batches, time, place, ref ? ref.i : -1, dir, (batch) => {
      const before = this.upTo(batch);
      return (i) => before[i + 1] > before[i];
    });
  }

  /**
   * The next hit where a tile has every scope. What is merged in the whole would lead away
   * from it, to the begin of many.
   * @param {import("./detail.js").DetailTile|null} tile
   * @param {number|import("../data/batch.js").Ref} at
   * @param {1|-1} dir
   * @returns {import("../data/batch.js").Ref|null} null: none in it, or it has not every scope there
   */
  nextIn(tile, at, dir) {
    const time = typeof at === "number" ? at : at.batch.start[at.i];
    if (!tile || tile.res > 0 || time < tile.from - 1 || time > tile.to + 1) return null;
    const ref = this.next(at, dir, [tile.batch, ...this.batches.filter((b) => !tile.known.has(b))]);
    return ref && ref.batch.start[ref.i] >= tile.from && ref.batch.start[ref.i] <= tile.to ? ref : null;
  }
}

/**
 * Finds the nearest item by start that a test accepts, after (dir 1) or before (-1)
 * item i of batch number place. With place -1 it is after or before a time. It looks
 * at each item once, which costs less than keeping an order of them.
 * @param {import("../data/batch.js").Batch[]} batches
 * @param {number} time
 * @param {number} place
 * @param {number} i
 * @param {1|-1} dir
 * @param {(batch: import("../data/batch.js").Batch) => (i: number) => boolean} testOf
 * @returns {import("../data/batch.js").Ref|null}
 */
export function nearest(batches, time, place, i, dir, testOf) {
  let best = null;
  let bestTime = dir * Infinity;
  // Of those with the same start the order is that of batches and places. They are
  // gone through from the end that is looked from, so the first one wins.
  for (let count = 0; count < batches.length; count++) {
    const s = dir > 0 ? count : batches.length - 1 - count;
    const batch = batches[s];
    const test = testOf(batch);
    const { start, n } = batch;
    for (let step = 0; step < n; step++) {
      const k = dir > 0 ? step : n - 1 - step;
      const t = start[k];
      if (dir > 0 ? t < time || t >= bestTime : t > time || t <= bestTime) continue;
      if (t === time && (place < 0 || (dir > 0 ? s < place || s === place && k <= i : s > place || s === place && k >= i))) continue;
      if (!test(k)) continue;
      best = { batch, i: k };
      bestTime = t;
    }
  }
  return best;
}
