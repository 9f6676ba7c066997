// The model: the data of a trace. It is filled from containers and provides the rows, their
// lanes, and the items visible at a resolution.

import { compact, joinSeries, splitOpen } from "../data/gather.js";
import { findRef, placeOf, resolveRef } from "./refs.js";
import { RowSet } from "./rowset.js";
import { Batch, blankData, extendOpen, batchOfOpen, batchOfTile } from "../data/batch.js";
import { Details } from "./detail.js";
import { Gradual, sameList } from "./gradual.js";
import { threadOpen, threadBatch, threadSteps } from "../data/threads.js";
import { blankMeta, mergeMeta } from "../data/meta.js";
import { overWithProcess } from "./processes.js";
import { Requests } from "./requests.js";
import { Samples } from "../data/samples.js";
import { unnamedTitle } from "./titles.js";
import { Waits } from "./waits.js";
import { atOnce, inSlices } from "../data/slices.js";

/** The number of increments, or their share of the base, above which they are merged into one batch. */
const mostIncrements = 32;
const incrementShare = 1 / 8;
/** The maximum time in ns for which the end advances without updates. */
const mostAhead = 1.5e9;
/** The number of parts into which the first drawing divides the trace. */
const drawnParts = 2000;

/**
 * @typedef {import("./source.js").Source} Source
 * @typedef {import("../data/meta.js").DoctorReport} DoctorReport
 * @typedef {import("../data/meta.js").Advice} Advice
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {import("./rowset.js").Lane} Lane
 */

/** The state of loading samples: end of those loaded, time of the last answer, and its duration. */
function noSamplesAsked() { return { busy: false, end: -1, at: -Infinity, took: 0, timer: /** @type {any} */ (0) }; }

/** A trace in the page. */
export class Model {
  base = new Batch(blankData(0));
  /** @type {Batch[]} */
  increments = [];
  openBatch = this.base;
  goroutines = this.noRows();
  /** @type {RowSet|null} made when it is asked for */
  threads = null;
  /** The base by thread. @type {{of: Batch, batch: Batch}|null} */
  threadBase = null;
  /** @type {Map<string, any>} */
  cache = new Map();

  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.home = source.home;
    /** @type {import("../data/meta.js").Meta} */
    this.meta = blankMeta();
    /** The end of the known time, ns. */
    this.end = 0;
    /** The extent of the trace shown beside this one, in this trace's time. @type {{from: number, to: number}|null} */
    this.reach = null;
    /** Increases with every change. */
    this.version = 0;
    /** Scopes shorter than base.res are merged. */
    this.reduced = false;
    /**
     * State of a live source; removed: its file is gone, changed: the file lacks earlier
     * data or is not a trace, replaced: it contains another recording now.
     * @type {""|"connected"|"lost"|"ended"|"removed"|"changed"|"replaced"}
     */
    this.state = "";
    /** Reason for the state lost. */
    this.trouble = "";
    /** Time of the server's last answer, in ms since 1970. */
    this.answered = Date.now();
    /** Retries an unreachable server at once. */
    this.retry = () => {};
    this.lastUpdate = 0; // time of the last update, by performance.now()
    /** @type {((model: Model) => void)[]} */
    this.listeners = [];
    /** @type {((layout: boolean) => void)[]} */
    this.computed = [];
    this.gradual = new Gradual((layout) => { for (const fn of this.computed) fn(layout); });
    this.details = new Details(this);
    this.requests = new Requests(this);
    /** The states of goroutines and the holders of locks. */
    this.waits = new Waits(this);
    /** Samples with their stacks; null: none, or not loaded yet. @type {Samples|null} */
    this.samples = null;
    /** Error of loading the samples. */
    this.samplesProblem = "";
    this.samplesAsked = noSamplesAsked();
    /** The doctor's report; null: not loaded, or not available. @type {DoctorReport|null} */
    this.doctor = null;
    /** Error of loading the report. */
    this.doctorProblem = "";
    this.doctorAsked = false;
    /** Tracks that the user has drawn from answers. @type {import("./answertrack.js").AnswerTrack[]} */
    this.answers = [];
    /** The advice from the raw file beside the trace, if it is among the data. @type {Advice|null} */
    this.advice = null;
  }

  clear() {
    this.base = this.openBatch = new Batch(blankData(0));
    this.increments = [];
    this.goroutines = this.noRows();
    this.threads = null;
    this.cache = new Map();
    this.gradual.clear();
    this.details.clear();
    this.waits.clear();
    this.requests.clear();
    clearTimeout(this.samplesAsked.timer);
    this.samplesAsked = noSamplesAsked();
    this.samples = null;
    this.samplesProblem = "";
  }

  noRows() { return new RowSet("goroutine", (id) => this.name(id), (key) => unnamedTitle(this, key)); }

  /** Reports whether the trace's file no longer contains this recording. */
  get superseded() { return this.state === "replaced" || this.state === "changed"; }

  /** Reports whether the server does not answer. */
  get lost() { return this.state === "lost"; }

  /** @param {number} id @returns {string} */
  name(id) { return this.meta.names[id] ?? ""; }

  get names() { return this.meta.names; }

  /** Returns an item's arguments, the text of a JSON object; "": none. @param {Batch} batch @param {number} i */
  argsText(batch, i) { return batch.strings[batch.args[i]]; }

  /** @param {(model: Model) => void} fn called after each change, and when an answer is awaited */
  onchange(fn) { this.listeners.push(fn); }

  /** @param {(layout: boolean) => void} fn called after a value was computed that is drawn; layout: the rows depend on it */
  oncomputed(fn) { this.computed.push(fn); }

  /** Reports whether updates arrive. */
  get growing() { return this.home === "live" && this.meta.writer === "running"; }

  changed() {
    this.version++;
    this.notify();
  }

  /** Calls the listeners; the data are the same. */
  notify() { for (const fn of this.listeners) fn(this); }

  /** @param {""|"connected"|"lost"|"ended"|"removed"|"changed"|"replaced"} state which does not change once it is superseded @param {string} trouble */
  setState(state, trouble) {
    if (state === "connected" || state === "ended") this.answered = Date.now();
    if (this.superseded || state === this.state && trouble === this.trouble) return;
    this.state = state;
    this.trouble = trouble;
    this.changed();
  }

  /** Loads the trace, and then its updates. */
  async load() {
    const whole = await this.source.whole();
    await inSlices(this.replacing(whole), () => false);
    this.source.follow?.(this);
  }

  /** Replaces all data by a whole trace. @param {import("../data/columns.js").Container} container */
  replace(container) { atOnce(this.replacing(container)); }

  /** As replace, step by step. @param {import("../data/columns.js").Container} container @returns {Generator<void, void>} */
  *replacing({ header, columns }) {
    this.clear();
    this.lastUpdate = performance.now();
    this.meta = mergeMeta(blankMeta(), header.meta ?? {});
    const tile = batchOfTile(header.tile ?? {}, columns);
    yield;
    const { ended, open } = splitOpen(tile);
    this.base = ended;
    this.openBatch = header.open ? batchOfOpen(header.open, this.meta.end ?? 0) : open;
    this.reduced = this.base.res > 0;
    this.end = this.meta.end ?? 0;
    yield;
    this.goroutines.add(ended);
    this.setOpen(this.openBatch);
    yield;
    for (let lane = 0; lane < ended.lanes.length; lane++, yield) ended.pyramid(lane).levelFor(this.end / drawnParts); // the first drawing needs them
    this.waits.take({ header, columns });
    yield;
    this.takeSamples({ header, columns });
    yield;
    this.doctor = header.doctor ?? this.doctor;
    this.advice = header.advice ?? null;
    this.changed();
  }

  /** Adds an update. @param {import("../data/columns.js").Container} container */
  update({ header, columns }) {
    this.meta = mergeMeta(this.meta, header.meta ?? {});
    this.lastUpdate = performance.now();
    const known = this.meta.end ?? 0;
    this.end = this.meta.writer === "running" ? Math.max(this.end, known) : known;
    if (header.tile && columns.has("start")) {
      const { ended } = splitOpen(batchOfTile(header.tile, columns));
      if (ended.n > 0 || ended.series.length > 0 || ended.gos.length > 0) this.increments.push(ended);
      if (!this.tidy() && ended.n > 0) this.goroutines.add(ended);
    }
    this.setOpen(header.open ? batchOfOpen(header.open, this.end) : this.openBatch);
    this.waits.look();
    this.changed();
  }

  /** Replaces the open scopes. Their durations extend to now. @param {Batch} batch */
  setOpen(batch) {
    extendOpen(batch, this.end);
    overWithProcess(batch, this.meta);
    this.openBatch = batch;
    this.goroutines.setOpen(batch);
    if (this.threads) this.regroup();
  }

  /**
   * Advances the end of a running trace without an update, so that open scopes grow; only
   * for a short time, because the writer may have died.
   * @returns {boolean} true if the end moved
   */
  tick() {
    if (this.state !== "connected" || this.meta.writer !== "running") return false;
    const ahead = Math.min((performance.now() - this.lastUpdate) * 1e6, mostAhead);
    const end = Math.floor((this.meta.end ?? 0) + ahead);
    if (end <= this.end) return false;
    this.end = end;
    extendOpen(this.openBatch, end);
    if (this.threads?.open) extendOpen(this.threads.open, end);
    return true;
  }

  /** @param {import("../data/columns.js").Container} container */
  takeSamples({ header, columns }) {
    if (!header.samples) return;
    if (header.samples.metrics?.length > 0) this.samples = new Samples(header.samples, columns);
    else this.samplesProblem = header.samples.notes?.[0] ?? "";
  }

  /** Reports whether samples are loaded or a server may have some. */
  get mayHaveSamples() { return this.samples !== null || this.source.samples !== undefined && this.samplesAsked.end < 0; }

  /** Requests the samples that are not loaded from a server. A change event follows. */
  async wantSamples() {
    const asked = this.samplesAsked;
    const end = this.meta.end ?? 0;
    if (!this.source.samples || asked.busy || asked.end >= end) return;
    clearTimeout(asked.timer);
    const began = performance.now();
    const rest = asked.at + Math.max(2000, 10 * asked.took) - began;
    if (rest > 0) { // no update may arrive by then
      asked.timer = setTimeout(() => this.changed(), rest);
      return;
    }
    asked.busy = true;
    try {
      const answer = await this.source.samples();
      if (asked !== this.samplesAsked) return;
      this.samplesProblem = "";
      this.takeSamples(answer);
      asked.end = end;
    } catch (err) {
      if (asked !== this.samplesAsked) return;
      this.samplesProblem = `The samples could not be loaded: ${err instanceof Error ? err.message : String(err)}`;
    }
    asked.busy = false;
    asked.at = performance.now();
    asked.took = asked.at - began;
    this.changed();
  }

  /** Requests the doctor's report on the current trace from a server. A change event follows. */
  async askDoctor() {
    if (this.doctorAsked || !this.source.doctor) return;
    this.doctorAsked = true;
    this.doctorProblem = "";
    this.notify();
    try {
      this.doctor = await this.source.doctor();
    } catch (err) {
      this.doctorProblem = `The doctor could not examine the trace: ${err instanceof Error ? err.message : String(err)}`;
    }
    this.doctorAsked = false;
    this.changed();
  }

  /**
   * Returns the exact table of a range of a reduced trace; null if the source has none.
   * @param {number} from
   * @param {number} to
   * @param {boolean} whole scopes count whole, otherwise only their parts in the range
   * @returns {Promise<import("./stats.js").Summary|null>}
   */
  async summary(from, to, whole) { return this.source.summary ? this.source.summary(from, to, whole) : null; }

  /**
   * Returns the rows with exactly the executions of a name and their contents, for a reduced
   * trace; null if the source has none.
   * @param {number} nameId @param {number} from @param {number} to
   * @returns {Promise<{rows: Row[], alone: boolean, left: number}|null>} alone: without their contents; left: number of omitted executions
   */
  async runs(nameId, from, to) {
    if (!this.source.runs) return null;
    const { header, columns } = await this.source.runs(nameId, from, to);
    const set = this.noRows();
    set.add(batchOfTile(header.tile ?? {}, columns));
    return { rows: set.list(), alone: header.tile?.alone === true, left: header.tile?.left ?? 0 };
  }

  /** Merges batches, so that lanes have few parts. @returns {boolean} true if it merged some */
  tidy() {
    const n = this.increments.reduce((sum, s) => sum + s.n, 0);
    const large = n > this.base.n * incrementShare && (this.increments.length > 1 || n > this.base.n);
    if (this.increments.length <= mostIncrements && !large) return false;
    if (large) {
      this.base = compact([this.base, ...this.increments]);
      this.increments = [];
    } else {
      this.increments = [compact(this.increments)];
    }
    this.details.clear();
    this.goroutines = this.noRows();
    for (const batch of [this.base, ...this.increments]) this.goroutines.add(batch);
    return true;
  }

  /** Returns all batches; they contain each item once. @returns {Batch[]} */
  batches() { return [this.base, ...this.increments, this.openBatch]; }

  /** Returns the rows in the order of their first activity. @param {"goroutine"|"thread"} by @returns {Row[]} */
  rows(by = "goroutine") {
    return this.cached(`rows ${by}`, () => this.rowSet(by).list());
  }

  /** @param {"goroutine"|"thread"} by @returns {RowSet} */
  rowSet(by) {
    if (by !== "thread") return this.goroutines;
    return this.threads ?? this.regroup();
  }

  /**
   * Computes the rows by thread of the base and their coarse levels, step by step: with
   * millions of scopes that takes seconds.
   * @returns {Generator<void, void>}
   */
  *threadSteps() {
    const of = this.base;
    if (this.threadBase?.of === of) return;
    const batch = yield* threadSteps([of], null);
    for (let lane = 0; lane < batch.lanes.length; lane++) {
      batch.pyramid(lane).levelFor(this.end / drawnParts);
      yield;
    }
    if (this.base === of) this.threadBase = { of, batch };
  }

  /** Updates the rows by thread: the base's only once, the rest each time. */
  regroup() {
    const base = this.threadBase?.of === this.base ? this.threadBase : { of: this.base, batch: threadBatch([this.base], null) };
    this.threadBase = base;
    const set = new RowSet("thread", () => "");
    set.add(base.batch);
    if (this.increments.length > 0 || this.openBatch.n > 0) {
      const rest = threadBatch([...this.increments, this.openBatch], base.batch);
      const { ended, open } = threadOpen(rest);
      set.add(ended);
      set.setOpen(open);
    }
    this.threads = set;
    this.details.regroup();
    return set;
  }

  /**
   * Calls visit with the visible items of a lane in [from, to], in order of time. Scopes of at least res ns come alone,
   * shorter ones in runs. The cost depends on the number of calls.
   * @param {Lane} lane @param {number} from @param {number} to @param {number} res
   * @param {import("../data/pyramid.js").VisitRun} visit
   */
  eachBar(lane, from, to, res, visit) {
    const shown = this.details.shown;
    if (shown && lane.parts.length > 0 && shown.from < to && shown.to > from) {
      this.details.eachBar(lane, from, to, res, visit);
    } else {
      for (const part of lane.parts) part.batch.pyramid(part.lane).each(from, to, res, visit);
    }
    if (lane.open) lane.open.batch.pyramid(lane.open.lane).each(from, to, res, visit);
  }

  /** Returns the counters' values. @returns {{nameId: number, time: Float64Array, value: Float64Array}[]} */
  series() {
    return this.cached("series", () => joinSeries([this.base, ...this.increments]).map(({ name, time, value }) => ({ nameId: name, time, value })));
  }

  /**
   * Sets the visible range to [from, to] on px pixels: finer data are requested if
   * necessary, and a change event follows.
   * @param {number} from
   * @param {number} to
   * @param {number} px
   */
  want(from, to, px) {
    if (this.reduced) this.details.want(from, to, px);
    this.waits.want(from, to, px);
  }

  /**
   * Returns a value computed once per version.
   * @template T
   * @param {string} key
   * @param {() => T} make
   * @returns {T}
   */
  cached(key, make) {
    const had = this.cache.get(key);
    if (had?.version === this.version) return had.value;
    const value = make();
    this.cache.set(key, { version: this.version, value });
    return value;
  }

  /**
   * Returns a value of some rows computed once per version; for a growing trace, at most once a second and for at most a
   * fifth of the time. While it is computed anew, it is the latest one.
   * @template T
   * @param {string} key
   * @param {Row[]} rows
   * @param {() => Generator<void, T>} steps
   * @param {boolean} [layout] the rows depend on the value
   * @returns {T|null} null: there is none yet
   */
  spaced(key, rows, steps, layout = false) {
    const { version, gradual } = this;
    /** @type {{value: T, version: number, rows: Row[], until: number}|undefined} */
    const had = gradual.get(key);
    if (had && sameList(had.rows, rows) && (had.version === version || this.growing && performance.now() < had.until)) return had.value;
    const made = gradual.make(key, rows.reduce((n, row) => n + row.scopes, rows.length), function* () {
      const began = performance.now();
      const value = yield* steps();
      const now = performance.now();
      return { value, version, rows, until: now + Math.max(1000, 5 * (now - began)) };
    }, layout);
    return made?.value ?? null;
  }

  /** Returns the current Ref of an item; see resolveRef. @param {Ref} ref @returns {Ref} */
  resolve(ref) { return resolveRef(this, ref); }

  /**
   * Returns an item of a goroutine; depth -1: an instant.
   * @param {number} key @param {number} depth @param {number} start @returns {Ref|null}
   */
  find(key, depth, start) { return findRef(this, key, depth, start); }

  /**
   * Returns the place of an item: its row, its lane, and its Ref in eachBar.
   * @param {Ref} ref @param {"goroutine"|"thread"} by
   * @returns {import("./refs.js").Place}
   */
  place(ref, by = "goroutine") { return placeOf(this, ref, by); }
}
