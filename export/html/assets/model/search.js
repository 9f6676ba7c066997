// Search in the names and arguments of items, by their durations, and in the names of rows.

import { argsList } from "../data/args.js";
import { Flag, Kind, Quality } from "../data/kinds.js";
import { comparison, limitOf, quantity, tokens } from "./expression.js";
import { Lit } from "./lit.js";
import { ownGoroutine } from "./processes.js";
import { homeOf } from "./refs.js";

/**
 * The conditions of a search, all of which must hold: texts in the name or in the arguments, in lower case; tests of
 * the arguments; tests of an item's duration and CPU time.
 * @typedef {{texts: {text: string, not: boolean}[], args: ((list: [string, string][]) => boolean)[], times: ((batch: Batch, i: number) => boolean)[]}} Conditions
 * @typedef {import("../data/batch.js").Batch} Batch
 */

/** The syntax of the search with examples, for the help. */
export const searchHelp = [
  ["parse", "scopes whose name or arguments contain it; \"two words\", name:parse and -parse work, too"],
  ["dur>10ms", "scopes, waits and holds that took longer; units: ns, us, ms, s, m"],
  ["parse>10ms", "those named so that took longer"],
  ["cpu>1ms", "scopes with more known CPU time"],
  ["4711", "the same as a text, and the row of goroutine 4711"],
  ["status=500", "scopes with this argument; size>1000 compares numbers"],
];

/** The times of items. @type {Record<string, (batch: Batch, i: number) => number>} NaN: unknown */
const itemTimes = {
  dur: (batch, i) => (batch.kind[i] === Kind.event || batch.kind[i] === Kind.pending || batch.flags[i] & Flag.across ? NaN : batch.end(i) - batch.start[i]),
  cpu: (batch, i) => (batch.quality[i] === Quality.exact || batch.quality[i] === Quality.likely ? batch.cpu[i] : NaN),
};

/** Parses a search. What is no comparison is searched for as a text, so that every text is a search. @param {string} text @returns {Conditions} */
export function parseSearch(text) {
  /** @type {Conditions} */
  const found = { texts: [], args: [], times: [] };
  /** @type {string[]} */
  let words = [];
  const flush = () => {
    if (words.length > 0) found.texts.push({ text: words.join(" ").toLowerCase(), not: false });
    words = [];
  };
  for (const { whole, not, field, sign, value, text: said, word } of tokens(text)) {
    const q = field === undefined ? null : quantity(value);
    const limit = q ? limitOf(q, 0) : undefined;
    const lower = field?.toLowerCase() ?? "";
    if (field !== undefined && q && q.unit !== "" && q.unit !== "%" && limit !== undefined) {
      flush();
      const time = itemTimes[lower] ?? itemTimes.dur;
      if (!itemTimes[lower]) found.texts.push({ text: lower, not: false });
      const holds = comparison(sign, limit);
      found.times.push((batch, i) => batch.many(i) === 1 && holds(time(batch, i)) !== not);
    } else if (field !== undefined && (sign === "=" || q?.unit === "" && !itemTimes[lower])) {
      flush();
      const holds = sign === "=" ? (/** @type {string} */ v) => v.toLowerCase() === value.toLowerCase() : (/** @type {string} */ v) => comparison(sign, q?.n ?? NaN)(Number(v));
      found.args.push((list) => list.some(([key, v]) => key.toLowerCase() === lower && holds(v)) !== not);
    } else if (said !== undefined) {
      flush();
      found.texts.push({ text: said.toLowerCase(), not });
    } else {
      words.push(word ?? whole);
    }
  }
  flush();
  return found;
}

/**
 * Finds the items for which all conditions of a text hold, ignoring case. Each name and
 * argument text is compared once; then the items are counted.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {Hits}
 */
export function search(model, text) { return new Hits(model, text.toLowerCase()); }

/** The result of a search, valid for the model's version at that time. */
export class Hits extends Lit {
  /** @param {import("./model.js").Model} model @param {string} text in lower case */
  constructor(model, text) {
    const batches = model.batches();
    super(() => batches);
    this.text = text;
    this.meta = model.meta;
    this.batches = batches;
    this.conditions = parseSearch(text);
    const lower = model.names.map((name) => name.toLowerCase());
    /** By text: whether each name contains it. */
    this.names = this.conditions.texts.map(({ text: part }) => Uint8Array.from(lower, (name) => (name.includes(part) ? 1 : 0)));
    this.count = 0;
    for (const batch of this.batches) this.count += this.upTo(batch)[batch.n];
    /** Merged scopes hide names and arguments. */
    this.exact = !model.reduced;
  }

  /** @param {import("../data/batch.js").Batch} batch */
  countIn(batch) {
    const { names, conditions: { texts, args: tests, times } } = this;
    const { name, args, n } = batch;
    const strings = texts.map(({ text }) => Uint8Array.from(batch.strings, (s) => (s !== "" && s.toLowerCase().includes(text) ? 1 : 0)));
    const held = tests.length === 0 ? null : Uint8Array.from(batch.strings, (s) => { const list = argsList(s); return tests.every((holds) => holds(list)) ? 1 : 0; });
    const before = new Uint32Array(n + 1);
    let count = 0;
    for (let i = 0; i < n; i++) {
      let is = held === null || held[args[i]] === 1;
      for (let k = 0; is && k < texts.length; k++) is = (names[k][name[i]] === 1 || strings[k][args[i]] === 1) !== texts[k].not;
      for (let k = 0; is && k < times.length; k++) is = times[k](batch, i);
      if (is) count++;
      before[i + 1] = count;
    }
    return before;
  }

  /** Returns the number of hits before ref, in the order of next. @param {import("../data/batch.js").Ref} ref a hit */
  placeOf(ref) {
    const at = homeOf(ref);
    const time = at.batch.start[at.i];
    let place = 0;
    let behind = false; // at's batch has been passed
    for (const batch of this.batches) {
      const before = this.upTo(batch);
      const { start } = batch;
      // Hits with the same start are ordered by batch and index.
      const ends = batch === at.batch ? at.i : behind ? 0 : batch.n;
      if (before[batch.n] > 0) for (let k = 0; k < batch.n; k++) if (before[k + 1] > before[k] && (start[k] < time || start[k] === time && k < ends)) place++;
      behind ||= batch === at.batch;
    }
    return place;
  }

  /** Returns the row of the goroutine with the number that is searched for, and the rows whose names contain the text. @param {import("./rowset.js").Row[]} rows */
  rowsOf(rows) {
    const { texts, args, times } = this.conditions;
    if (args.length + times.length > 0) return []; // a row has neither
    const [, id] = /^(?:goroutine )?(\d+)$/.exec(this.text) ?? [];
    /** @type {(row: import("./rowset.js").Row) => boolean} */
    const isIt = (row) => id !== undefined && row.by === "goroutine" && ownGoroutine(this.meta, row.key) === Number(id);
    const named = rows.filter((row) => !isIt(row) && texts.every(({ text, not }) => (row.name || row.title).toLowerCase().includes(text) !== not));
    return [...id === undefined ? [] : rows.filter(isIt), ...named];
  }

  /**
   * Returns the next hit by start.
   * @param {number|import("../data/batch.js").Ref} at a time, or a hit, after which hits with the same start follow
   * @param {1|-1} dir
   * @param {import("../data/batch.js").Batch[]} batches to search
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
   * Returns the next hit inside a tile with unmerged scopes. A merged hit of the base would
   * lead away from it, to the begin of a run.
   * @param {import("./detail.js").DetailTile|null} tile
   * @param {number|import("../data/batch.js").Ref} at
   * @param {1|-1} dir
   * @returns {import("../data/batch.js").Ref|null} null: none, or the tile is merged there
   */
  nextIn(tile, at, dir) {
    const time = typeof at === "number" ? at : at.batch.start[at.i];
    if (!tile || tile.res > 0 || time < tile.from - 1 || time > tile.to + 1) return null;
    const ref = this.next(at, dir, [tile.batch, ...this.batches.filter((b) => !tile.known.has(b))]);
    return ref && ref.batch.start[ref.i] >= tile.from && ref.batch.start[ref.i] <= tile.to ? ref : null;
  }
}

/**
 * Returns the nearest item by start that a test accepts, after (dir 1) or before (-1) item i of batch number place;
 * with place -1, after or before a time. It examines each item once, which costs less than maintaining an index.
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
  // Items with the same start are ordered by batch and index. The search starts at the near
  // end, so the first match wins.
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
