// States and locks. A file has them at one resolution; a server sends them for the visible range.

import { countSteps } from "./counts.js";
import { shortFunc } from "../data/names.js";
import { readLocks } from "../data/lockset.js";
import { statePixels } from "../data/merge.js";
import { newRow } from "./rowset.js";
import { StateSet } from "../data/states.js";
import { trackSteps } from "./tracks.js";
import { atOnce, inSlices } from "../data/slices.js";

/** The interval in ms for repeating a request while a trace grows, or after an answer "not yet". */
const waitsAgain = 1000;
/**
 * The maximum number of individually requested stretches that are kept, and the pixels for which they are requested.
 */
const mostStretches = 8;
const stretchPixels = 4000;
/** The number of goroutines without records that are shown as rows of their own; more are folded. */
const loneRows = 8;
/** The number of rows for such goroutines that are made between two yields. */
const lonesAtOnce = 2048;
/** The number of such goroutines above which all that began with the same function are folded. */
const manyRows = 24;

/**
 * The known data of a stretch of time. wanted: there is a better answer, which is not loaded.
 * @typedef {{states: StateSet|null, locks: import("../data/lockset.js").LockRow[], wanted: boolean}} Known
 * @typedef {Known & {from: number, to: number, at: number, pending: boolean}} Stretch pending: the server still reads
 */

/** The number of states up to which the derived data are computed in the same frame. */
const derivedAtOnce = 50000;

/**
 * Computes the data derived from states.
 * @typedef {{tracks: StateSet|null, counts: import("./counts.js").Counts[]}} Made
 * @typedef {Made & {of: StateSet|null}} DerivedOf
 */

/** @param {StateSet} states @returns {Generator<void, Made>} */
function* makingOf(states) {
  const tracks = yield* trackSteps(states);
  // What is drawn of the whole is merged here and not by the first drawing.
  for (const lane of tracks?.lanes.values() ?? []) {
    for (let res = 4; res <= (states.to - states.from) / widest; res *= 4, yield) lane.levelFor(res);
  }
  return { tracks, counts: yield* countSteps(states) };
}

/** The number of pixels of a wide screen. */
const widest = 4000;

/** The states and the locks of a model. */
export class Waits {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {StateSet|null} */ this.states = null;
    /** The data derived from the states, computed on first use. @type {DerivedOf} */ this.ready = { of: null, tracks: null, counts: [] };
    /** Whether the derived data of the present states are being computed. */ this.deriving = false;
    /** @type {import("../data/lockset.js").LockRow[]} */ this.locks = [];
    this.more = 0; // number of further locks
    /** @type {string[]} */ this.problems = [];
    this.epoch = 0;
    this.busy = false;
    /** @type {number[]|null} */ this.looked = null;
    /** @type {{from: number, to: number, res: number, end: number, at: number, pending: boolean}|null} */ this.got = null;
    /** @type {Stretch[]} the latest first */ this.stretches = [];
  }

  /** Cancels pending requests; known data stay until there are better ones. */
  clear() {
    this.epoch++;
    this.busy = false;
    this.looked = this.got = null;
    this.stretches = [];
    clearTimeout(this.timer);
  }

  /** Returns a goroutine's states. @param {number} key @returns {import("../data/states.js").StateLane|null} */
  lane(key) { return this.states?.lanes.get(key) ?? null; }

  /** The tracks of processors and threads, by trackKey; null: unknown, or not ready. */
  get tracks() { return this.derived().tracks; }

  /** The number of running goroutines, in each stretch of time in which it is known. */
  get counts() { return this.derived().counts; }

  /**
   * Computes the derived data at once for few states. For many it takes a while: the
   * previous data stay until then, and a change event follows.
   * @returns {DerivedOf}
   */
  derived() {
    const { states, ready } = this;
    if (states === ready.of) return ready;
    if (states === null) return this.ready = { of: null, tracks: null, counts: [] };
    this.deriving = false;
    if (states.state.length <= derivedAtOnce) return this.ready = { of: states, ...atOnce(makingOf(states)) };
    this.ready = { ...ready, of: states };
    this.deriving = true;
    inSlices(makingOf(states), () => this.states !== states).then((made) => {
      if (!made) return;
      this.deriving = false;
      this.ready = { of: states, ...made };
      this.model.changed();
    });
    return this.ready;
  }

  /**
   * Returns the parts of a range of time whose states, or with derived the data derived from them, are not known yet:
   * they are being loaded or computed. A file has all of its states at once.
   * @param {number} from @param {number} to @param {boolean} derived
   * @returns {[number, number][]}
   */
  awaited(from, to, derived) {
    const { model, got } = this;
    const [lo, hi] = [Math.max(from, 0), Math.min(to, model.end)];
    const loads = model.source?.waits !== undefined && model.state !== "lost" && (this.busy || got === null || got.pending);
    if (!loads && !(derived && this.deriving) || lo >= hi) return [];
    const known = derived ? this.tracks : this.states;
    const [a, b] = known ? [Math.max(known.from, lo), Math.min(known.to, hi)] : [hi, hi];
    /** @type {[number, number][]} */
    const parts = a >= b ? [[lo, hi]] : [[lo, a], [b, hi]];
    return parts.filter(([p, q]) => q > p);
  }

  /** Reports whether there are states. */
  get any() { return this.states !== null && this.states.lanes.size > 0; }

  /**
   * Takes the states and locks of a container.
   * @param {import("../data/columns.js").Container} container
   * @returns {boolean} true if the display may change
   */
  take({ header, columns }) {
    const had = this.locks.length > 0 || this.states !== null;
    if (header.states) {
      this.states = new StateSet(header.states, columns);
    }
    this.problems = header.problems ?? this.problems;
    if (header.locks) {
      this.locks = readLocks(header.locks, columns);
      this.more = header.locks.more ?? 0;
    }
    return had || this.locks.length > 0 || this.states !== null;
  }

  /** Sets the visible range to [from, to] on px pixels. @param {number} from @param {number} to @param {number} px */
  want(from, to, px) {
    if (!this.model.source?.waits) return;
    this.looked = [from, to, px];
    this.look();
  }

  /** Requests the visible range if the known data are not sufficient. */
  look() {
    if (this.busy || !this.looked || !this.model.source?.waits) return;
    clearTimeout(this.timer);
    const [from, to, px] = this.looked;
    const { got, model } = this;
    const lo = Math.max(from, 0);
    const hi = Math.min(to, model.end);
    const old = got !== null && (got.pending || (model.meta.end ?? 0) > got.end);
    const enough = got && got.from <= lo && (got.to >= hi || old) && got.res <= (statePixels * (to - from)) / Math.max(px, 1);
    if (enough && !old) return;
    const rest = enough ? got.at + waitsAgain - performance.now() : 0;
    if (rest > 0) this.timer = setTimeout(() => this.look(), rest);
    else this.fetch(lo, hi, px);
  }

  /** @param {number} lo @param {number} hi @param {number} px */
  async fetch(lo, hi, px) {
    const { model, epoch } = this;
    this.busy = true;
    const margin = (hi - lo) / 2;
    const from = Math.max(0, Math.floor(lo - margin));
    const to = Math.max(from + 1, Math.ceil(hi + margin));
    const end = model.meta.end ?? 0;
    let pending = false;
    let res = 0;
    let taken = false;
    try {
      const answer = await /** @type {NonNullable<typeof model.source.waits>} */ (model.source.waits)(from, to, Math.ceil((px * (to - from)) / Math.max(1, hi - lo)));
      if (epoch !== this.epoch) return;
      taken = this.take(answer);
      pending = answer.header.pending === true;
      res = answer.header.states?.res ?? 0;
    } catch (err) {
      if (epoch !== this.epoch) return;
      model.trouble = err instanceof Error ? err.message : String(err);
    }
    this.busy = false;
    this.got = { from, to, res, end, at: performance.now(), pending };
    if (taken) model.changed();
    this.look();
  }

  /**
   * Returns the known data of [from, to] at the finest resolution. If the data of the visible range are coarser or
   * elsewhere, the stretch is requested from the server, and a change event follows.
   * @param {number} from @param {number} to @param {boolean} ask
   * @returns {Known}
   */
  of(from, to, ask) {
    const { got, model } = this;
    const fine = got !== null && got.from <= from && got.to >= to && !got.pending && got.res === 0 && this.locks.every((l) => l.res === 0);
    if (!model.source?.waits || fine) return { states: this.states, locks: this.locks, wanted: false };
    const last = this.stretches[0];
    const had = this.stretches.find((s) => s.from <= from && s.to >= to && !(s.pending && performance.now() - s.at > waitsAgain));
    // A stretch that has not ended grows with each update.
    if (ask && !had && (to < model.end || !last || performance.now() - last.at > waitsAgain)) this.ask(from, to);
    return had ?? { states: this.states, locks: this.locks, wanted: true };
  }

  /** @param {number} from @param {number} to */
  async ask(from, to) {
    const { model, epoch } = this;
    /** @type {Stretch} */
    const stretch = { from, to, at: performance.now(), states: this.states, locks: this.locks, wanted: true, pending: false };
    this.stretches = [stretch, ...this.stretches].slice(0, mostStretches);
    try {
      const { header, columns } = await /** @type {NonNullable<typeof model.source.waits>} */ (model.source.waits)(from, to, stretchPixels);
      if (epoch !== this.epoch) return;
      if (header.states) stretch.states = new StateSet(header.states, columns);
      if (header.locks) stretch.locks = readLocks(header.locks, columns);
      stretch.pending = header.pending === true; // it is requested again, like the visible range
    } catch (err) {
      if (epoch !== this.epoch) return;
      model.trouble = err instanceof Error ? err.message : String(err);
    }
    stretch.wanted = stretch.pending;
    model.changed();
  }

  /**
   * Returns rows for the goroutines without records, in the form of arrange(): those that began with the same function
   * folded, a few others on their own, or folded if they are many and other goroutines have records, and the runtime's
   * own folded.
   * @param {Map<number, import("./rowset.js").Row>} rows the existing ones
   * @returns {import("./rows.js").Arranged[]}
   */
  others(rows) {
    const { states, model: { version, gradual } } = this;
    if (!states) return [];
    /** @type {{version: number, states: StateSet, arranged: import("./rows.js").Arranged[]}|undefined} */
    const had = gradual.get("others");
    if (had && had.version === version && had.states === states) return had.arranged;
    const waits = this;
    return gradual.make("others", states.lanes.size, function* () { return { version, states, arranged: yield* waits.otherSteps(states, rows) }; }, true)?.arranged ?? [];
  }

  /**
   * As others, step by step.
   * @param {StateSet} states @param {Map<number, import("./rowset.js").Row>} rows
   * @returns {Generator<void, import("./rows.js").Arranged[]>}
   */
  *otherSteps(states, rows) {
    const own = [];
    const system = [];
    for (const lane of states.lanes.values()) {
      const row = rows.get(lane.key);
      if ((row?.first ?? Infinity) !== Infinity) continue;
      (lane.system || isIdle(lane) ? system : own).push(loneRow(lane, lane.func || (row?.name ?? "")));
      if ((own.length + system.length) % lonesAtOnce === 0) yield;
    }
    const recorded = [...rows.values()].some(({ first }) => first !== Infinity);
    let arranged = byBegin(own, recorded);
    const left = arranged.flatMap((a) => (a.kind === "row" ? [a.row] : []));
    if (recorded && left.length > loneRows) arranged = [...arranged.filter((a) => a.kind === "group"), { kind: "group", title: `${left.length} other goroutines without scopes`, id: "nown", rows: left }];
    if (system.length > 0) arranged.push({ kind: "group", title: `Idle or runtime (${system.length})`, id: "nsystem", rows: system });
    return arranged;
  }
}

/**
 * Returns rows for the threads on which no scope began, in the form of arrange().
 * @param {Waits} waits @param {Map<number, import("./rowset.js").Row>} rows the existing ones
 * @returns {import("./rows.js").Arranged[]}
 */
export function otherThreads(waits, rows) {
  return [...waits.tracks?.lanes.values() ?? []].filter(({ key }) => key % 2 === 1 && (rows.get((key - 1) / 2)?.first ?? Infinity) === Infinity)
    .map(({ key, first, last }) => ({ kind: "row", row: Object.assign(newRow((key - 1) / 2, "thread"), { title: `thread ${(key - 1) / 2}`, first, last }) }));
}

/**
 * Reports whether a goroutine did next to nothing and its wait is unknown.
 * @param {import("../data/states.js").StateLane} lane
 */
function isIdle(lane) {
  const { set } = lane;
  let other = 0;
  for (let i = lane.from; i < lane.to; i++) {
    const name = set.nameOf(set.state[i]);
    if (name === "other" || name === "unknown") other += set.dur[i];
  }
  return other >= 0.999 * (lane.last - lane.first);
}

/**
 * Folds rows that began with the same function: where there are many rows any that are alike, else many alike ones.
 * @param {LoneRow[]} own @param {boolean} known only those whose function is known @returns {import("./rows.js").Arranged[]}
 */
function byBegin(own, known) {
  const most = own.length > manyRows ? 1 : loneRows;
  /** @type {Map<string, LoneRow[]>} */
  const found = new Map();
  for (const row of own) {
    const fellows = found.get(row.func);
    if (fellows) fellows.push(row);
    else found.set(row.func, [row]);
  }
  /** @type {import("./rows.js").Arranged[]} */
  const arranged = [];
  for (const func of [...found.keys()].sort()) {
    const rows = found.get(func) ?? [];
    if (rows.length > most && (func !== "" || !known)) arranged.push({ kind: "group", title: `${rows.length.toLocaleString("en")} × ${shortFunc(func) || "goroutine"}`, id: `nf${func}`, rows });
    else arranged.push(...rows.map((row) => /** @type {const} */ ({ kind: "row", row })));
  }
  return arranged;
}

/** @typedef {import("./rowset.js").Row & {func: string}} LoneRow */

/**
 * Returns a row that has only states.
 * @param {import("../data/states.js").StateLane} lane
 * @param {string} func the goroutine's first function
 * @returns {LoneRow}
 */
function loneRow(lane, func) {
  return Object.assign(newRow(lane.key, "goroutine"), { title: func ? `${shortFunc(func)} ${lane.key}` : `goroutine ${lane.key}`, first: lane.first, last: lane.last, func });
}
