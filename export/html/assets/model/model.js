// The model: all that the page knows of a trace. It is fed with containers and
// tells the rows, their lanes, and what of them is to be seen at a resolution.

import { compact, joinSeries, splitOpen } from "../data/gather.js";
import { findRef, placeOf, resolveRef } from "./refs.js";
import { RowSet } from "./rowset.js";
import { Batch, blankData, lastUntil, batchOfOpen, batchOfTile } from "../data/batch.js";
import { Details } from "./detail.js";
import { threadOpen, threadBatch, threadSteps } from "../data/threads.js";
import { blankMeta, mergeMeta } from "../data/meta.js";
import { overWithProcess, ownGoroutine } from "./processes.js";
import { Requests } from "./requests.js";
import { Samples } from "../data/samples.js";
import { Waits } from "./waits.js";

/** So many increments, or this part of the base in them, become one batch. */
const mostIncrements = 32;
const incrementShare = 1 / 8;
/** Time goes on by itself for so many ns. */
const mostAhead = 1.5e9;

/**
 * @typedef {import("./source.js").Source} Source
 * @typedef {import("../data/meta.js").DoctorReport} DoctorReport
 * @typedef {import("../data/meta.js").Advice} Advice
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {import("./rowset.js").Lane} Lane
 */

/** Of the samples: up to where they are here, when the last answer came, and after how long. */
function noSamplesAsked() { return { busy: false, end: -1, at: -Infinity, took: 0, timer: /** @type {any} */ (0) }; }

/** A trace as the page knows it. */
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
    /** The last moment that is known, ns. */
    this.end = 0;
    /** How far a trace that is beside it reaches, by its time. @type {{from: number, to: number}|null} */
    this.reach = null;
    /** Grows with every change. */
    this.version = 0;
    /** The tile is coarse: what is narrower than base.res is merged. */
    this.reduced = false;
    /** Of a live source; removed: its file is gone, changed: it lacks what it had, or is no trace, anew: it holds another recording now. @type {""|"connected"|"lost"|"ended"|"removed"|"changed"|"anew"} */
    this.state = "";
    /** Why it is lost. */
    this.trouble = "";
    /** When the server last answered, in ms since 1970. */
    this.answered = Date.now();
    /** Has a server that does not answer asked at once. */
    this.retry = () => {};
    this.heard = 0; // when news came last, by performance.now()
    /** @type {((model: Model) => void)[]} */
    this.listeners = [];
    this.details = new Details(this);
    this.requests = new Requests(this);
    /** What goroutines did, and who held the locks. */
    this.waits = new Waits(this);
    /** Samples with their stacks; null: there are none, or they are not here yet. @type {Samples|null} */
    this.samples = null;
    /** Why there are none, if they could not be had. */
    this.samplesProblem = "";
    this.samplesAsked = noSamplesAsked();
    /** What the doctor says; null: that is not known yet, or nobody can tell. @type {DoctorReport|null} */
    this.doctor = null;
    /** Why that could not be had. */
    this.doctorProblem = "";
    this.doctorAsked = false;
    /** What the raw file beside the trace says, if it came with the data. @type {Advice|null} */
    this.advice = null;
  }

  clear() {
    this.base = this.openBatch = new Batch(blankData(0));
    this.increments = [];
    this.goroutines = this.noRows();
    this.threads = null;
    this.cache = new Map();
    this.details.clear();
    this.waits.clear();
    this.requests.clear();
    clearTimeout(this.samplesAsked.timer);
    this.samplesAsked = noSamplesAsked();
    this.samples = null;
    this.samplesProblem = "";
  }

  noRows() { return new RowSet("goroutine", (id) => this.name(id), (key) => ownGoroutine(this.meta, key)); }

  /** The trace's file does not hold any more what this is. */
  get superseded() { return this.state === "anew" || this.state === "changed"; }

  /** The server has not answered for a while. */
  get lost() { return this.state === "lost"; }

  /** @param {number} id @returns {string} */
  name(id) { return this.meta.names[id] ?? ""; }

  get names() { return this.meta.names; }

  /** An item's arguments, a JSON object's text; "": none. @param {Batch} batch @param {number} i */
  argsText(batch, i) { return batch.strings[batch.args[i]]; }

  /** @param {(model: Model) => void} fn called after each change */
  onchange(fn) { this.listeners.push(fn); }

  changed() {
    this.version++;
    for (const fn of this.listeners) fn(this);
  }

  /** @param {""|"connected"|"lost"|"ended"|"removed"|"changed"|"anew"} state which does not change once it is superseded @param {string} trouble */
  setState(state, trouble) {
    if (state === "connected" || state === "ended") this.answered = Date.now();
    if (this.superseded || state === this.state && trouble === this.trouble) return;
    this.state = state;
    this.trouble = trouble;
    this.changed();
  }

  /** Gets the trace, and from then on what is new in it. */
  async load() {
    this.replace(await this.source.whole());
    this.source.follow?.(this);
  }

  /**
   * Takes a whole trace for what was known.
   * @param {import("../data/columns.js").Container} container
   */
  replace({ header, columns }) {
    this.clear();
    this.heard = performance.now();
    this.meta = mergeMeta(blankMeta(), header.meta ?? {});
    const { ended, open } = splitOpen(batchOfTile(header.tile ?? {}, columns));
    this.base = ended;
    this.openBatch = header.open ? batchOfOpen(header.open, this.meta.end ?? 0) : open;
    this.reduced = this.base.res > 0;
    this.end = this.meta.end ?? 0;
    this.goroutines.add(ended);
    this.setOpen(this.openBatch);
    this.waits.take({ header, columns });
    this.takeSamples({ header, columns });
    this.doctor = header.doctor ?? this.doctor;
    this.advice = header.advice ?? null;
    this.changed();
  }

  /**
   * Takes what is new.
   * @param {import("../data/columns.js").Container} container
   */
  update({ header, columns }) {
    this.meta = mergeMeta(this.meta, header.meta ?? {});
    this.heard = performance.now();
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

  /** Replaces what is open. Its durations are up to now. @param {Batch} batch */
  setOpen(batch) {
    lastUntil(batch, this.end);
    overWithProcess(batch, this.meta);
    this.openBatch = batch;
    this.goroutines.setOpen(batch);
    if (this.threads) this.regroup();
  }

  /**
   * Time goes on though nothing new is known: what is open lasts longer. But not
   * for long, as the writer may have died.
   * @returns {boolean} whether the end moved
   */
  tick() {
    if (this.state !== "connected" || this.meta.writer !== "running") return false;
    const ahead = Math.min((performance.now() - this.heard) * 1e6, mostAhead);
    const end = Math.floor((this.meta.end ?? 0) + ahead);
    if (end <= this.end) return false;
    this.end = end;
    lastUntil(this.openBatch, end);
    if (this.threads?.open) lastUntil(this.threads.open, end);
    return true;
  }

  /** @param {import("../data/columns.js").Container} container */
  takeSamples({ header, columns }) {
    if (!header.samples) return;
    if (header.samples.metrics?.length > 0) this.samples = new Samples(header.samples, columns);
    else this.samplesProblem = header.samples.notes?.[0] ?? "";
  }

  /** Samples are here, or a server may have some. */
  get mayHaveSamples() { return this.samples !== null || this.source.samples !== undefined && this.samplesAsked.end < 0; }

  /** Gets the samples from a server, as far as they are not here yet. A change follows. */
  async wantSamples() {
    const asked = this.samplesAsked;
    const end = this.meta.end ?? 0;
    if (!this.source.samples || asked.busy || asked.end >= end) return;
    clearTimeout(asked.timer);
    const began = performance.now();
    const rest = asked.at + Math.max(2000, 10 * asked.took) - began;
    if (rest > 0) { // no news may come by then
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
      this.samplesProblem = `The samples could not be had: ${err instanceof Error ? err.message : String(err)}`;
    }
    asked.busy = false;
    asked.at = performance.now();
    asked.took = asked.at - began;
    this.changed();
  }

  /** Has a server's doctor examine the trace as it is now. A change follows. */
  async askDoctor() {
    if (this.doctorAsked || !this.source.doctor) return;
    this.doctorAsked = true;
    this.doctorProblem = "";
    try {
      this.doctor = await this.source.doctor();
    } catch (err) {
      this.doctorProblem = `The doctor could not examine it: ${err instanceof Error ? err.message : String(err)}`;
    }
    this.doctorAsked = false;
    this.changed();
  }

  /**
   * The exact table of a range of a reduced trace; null where nobody can tell.
   * @param {number} from
   * @param {number} to
   * @param {boolean} whole scopes count with all of their time, else with what lies in the range
   * @returns {Promise<import("./stats.js").Summary|null>}
   */
  async summary(from, to, whole) { return this.source.summary ? this.source.summary(from, to, whole) : null; }

  /**
   * The rows with exactly the executions of a name and what is in them, of a reduced trace;
   * null where nobody can tell.
   * @param {number} nameId @param {number} from @param {number} to
   * @returns {Promise<{rows: Row[], alone: boolean, left: number}|null>} alone: without what is in them; left: how many are left out
   */
  async runs(nameId, from, to) {
    if (!this.source.runs) return null;
    const { header, columns } = await this.source.runs(nameId, from, to);
    const set = this.noRows();
    set.add(batchOfTile(header.tile ?? {}, columns));
    return { rows: set.list(this.end), alone: header.tile?.alone === true, left: header.tile?.left ?? 0 };
  }

  /**
   * Makes few batches of many, so that a lane has few parts.
   * @returns {boolean} whether it did
   */
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

  /** Everything that is known, each item once. @returns {Batch[]} */
  batches() { return [this.base, ...this.increments, this.openBatch]; }

  /**
   * The rows in the order of their first activity.
   * @param {"goroutine"|"thread"} by
   * @returns {Row[]}
   */
  rows(by = "goroutine") {
    return this.cached(`rows ${by}`, () => this.rowSet(by).list(this.end));
  }

  /** @param {"goroutine"|"thread"} by @returns {RowSet} */
  rowSet(by) {
    if (by !== "thread") return this.goroutines;
    return this.threads ?? this.regroup();
  }

  /**
   * Makes the rows by thread of the base, and what is drawn of all of it, step by step: of
   * millions of scopes that takes seconds.
   * @returns {Generator<void, void>}
   */
  *threadSteps() {
    const of = this.base;
    if (this.threadBase?.of === of) return;
    const batch = yield* threadSteps([of], null);
    for (let lane = 0; lane < batch.lanes.length; lane++) {
      batch.pyramid(lane).levelFor(this.end / 2000);
      yield;
    }
    if (this.base === of) this.threadBase = { of, batch };
  }

  /** Brings the rows by thread up to date: the base's once, the rest anew. */
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
   * Calls visit with what of a lane is to be seen in [from, to], by time. Each scope
   * that is not narrower than res ns comes alone, narrower ones come in runs. What it
   * costs depends on the calls.
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

  /** The counters' values. @returns {{nameId: number, time: Float64Array, value: Float64Array}[]} */
  series() {
    return this.cached("series", () => joinSeries([this.base, ...this.increments]).map(({ name, time, value }) => ({ nameId: name, time, value })));
  }

  /**
   * Tells that [from, to] is looked at on px pixels: if that needs more than is
   * known, it is fetched, and a change follows.
   * @param {number} from
   * @param {number} to
   * @param {number} px
   */
  want(from, to, px) {
    if (this.reduced) this.details.want(from, to, px);
    this.waits.want(from, to, px);
  }

  /**
   * What is made once per version.
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
   * What is made of some rows once per version; of a trace that has grown once a second
   * at most, and not for more than a fifth of the time.
   * @template T
   * @param {string} key
   * @param {Row[]} rows
   * @param {() => T} make
   * @returns {T}
   */
  spaced(key, rows, make) {
    const had = this.cache.get(key);
    const began = performance.now();
    if (had?.version === this.version) {
      if (had.rows.length === rows.length && rows.every((row, k) => row === had.rows[k])) return had.value;
    } else if (had && this.home === "live" && this.meta.writer === "running" && began - had.at < Math.max(1000, 5 * had.took)) {
      return had.value;
    }
    const value = make();
    this.cache.set(key, { version: this.version, value, rows, at: began, took: performance.now() - began });
    return value;
  }

  /** The item that a Ref means now; see resolveRef. @param {Ref} ref @returns {Ref} */
  resolve(ref) { return resolveRef(this, ref); }

  /** Finds an item of a goroutine; depth -1: an instant. @param {number} key @param {number} depth @param {number} start @returns {Ref|null} */
  find(key, depth, start) { return findRef(this, key, depth, start); }

  /**
   * Where an item is shown: its row, its lane, and the Ref that eachBar gives for it there.
   * @param {Ref} ref @param {"goroutine"|"thread"} by
   * @returns {import("./refs.js").Place}
   */
  place(ref, by = "goroutine") { return placeOf(this, ref, by); }
}
