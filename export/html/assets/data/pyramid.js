// The merged levels of a lane. Drawing a lane costs what there are runs on the
// screen, however many scopes lie below. The rule is told in docs/merging.md.

import { bisect } from "./bisect.js";
import { Kind } from "./kinds.js";
import { countRuns, evenRes, runEnd, stretchOf } from "./merge.js";

/** A level is kept if it has at most this part of the cells of the one below. */
const keepShare = 1 / 3;

/**
 * What is drawn as one. It is good until the next one is visited.
 * @typedef {Object} Run
 * @property {import("./batch.js").Batch} batch
 * @property {number} i the first item
 * @property {number} j the one behind the last; i + 1: item i alone
 * @property {number} t0 when it begins
 * @property {number} t1 when it ends
 * @property {number} top the longest item in it
 * @property {number} busy what the durations add up to
 * @property {number} wait what of them is waiting for locks
 *
 * @typedef {(run: Run) => void} VisitRun
 */

/**
 * Runs by a resolution: run c is the items first[c] up to first[c+1].
 * @typedef {Object} Level
 * @property {number} res
 * @property {number} n
 * @property {Uint32Array} first
 * @property {Uint32Array} top
 * @property {Float64Array} busy
 * @property {Float64Array} wait
 */

/** The levels of the items [from, to) of a lane. */
export class Pyramid {
  /**
   * @param {import("./batch.js").Batch} batch
   * @param {number} from
   * @param {number} to
   */
  constructor(batch, from, to) {
    this.batch = batch;
    this.from = from;
    this.to = to;
    /** @type {Level[]} */
    this.levels = [];
    this.tried = 1; // the coarsest resolution for which a level was made, or was not worth it
  }

  /**
   * The coarsest level that is no coarser than res; null: the items themselves.
   * @param {number} res a power of two
   * @returns {Level|null}
   */
  levelFor(res) {
    while (this.tried * 4 <= res) {
      this.tried *= 4;
      const level = mergeLevel(this, this.levels.at(-1) ?? null, this.tried);
      if (level) this.levels.push(level);
    }
    for (let k = this.levels.length - 1; k >= 0; k--) if (this.levels[k].res <= res) return this.levels[k];
    return null;
  }

  /**
   * Calls visit with what touches [from, to], by time. Each item that is not
   * narrower than res comes alone, the others come in runs.
   * @param {number} from
   * @param {number} to
   * @param {number} res
   * @param {VisitRun} visit
   */
  each(from, to, res, visit) {
    if (res >= 1) {
      const r = evenRes(res);
      eachRun(this, this.levelFor(r), from, to, r, visit);
      return;
    }
    const { batch } = this;
    const { start, dur } = batch;
    for (let i = cellEnding(this, null, from); i < this.to && start[i] <= to; i++) {
      visit({ batch, i, j: i + 1, t0: start[i], t1: start[i] + dur[i], top: i, busy: busyOf(batch, i), wait: waitOf(batch, i) });
    }
  }
}

/** The cell from which on they do not end before t. */
function cellEnding(p, level, t) {
  const { start, dur } = p.batch;
  return bisect(level ? 0 : p.from, level ? level.n : p.to, (k) => {
    const i = level ? level.first[k + 1] - 1 : k;
    return start[i] + dur[i] < t;
  });
}

/** The cell from which on they do not begin before t. */
function cellFrom(p, level, hi, t) {
  const { start } = p.batch;
  return bisect(level ? 0 : p.from, hi, (k) => start[level ? level.first[k] : k] < t);
}

function busyOf(batch, i) { return batch.busy === null ? batch.dur[i] : batch.busy[i]; }

function waitOf(batch, i) { return batch.kind[i] === Kind.wait ? busyOf(batch, i) : 0; }

/** @returns {Run} */
function newRun(batch) { return { batch, i: 0, j: 0, t0: NaN, t1: NaN, top: 0, busy: NaN, wait: NaN }; }

/** Visits runs by res, made of a level's cells or of the items. */
function eachRun(p, level, from, to, res, visit) {
  const { batch } = p;
  const { start, dur } = batch;
  const first = level && level.first;
  let c = cellEnding(p, level, from);
  const end = level ? level.n : p.to;
  if (c >= end) return;
  const run = newRun(batch);
  // A run that reaches into the view began in this stretch, maybe before it.
  c = cellFrom(p, level, c, stretchOf(start[first ? first[c] : c], res));
  while (c < end) {
    const c0 = c;
    run.i = first ? first[c] : c;
    run.t0 = start[run.i];
    if (run.t0 > to) return;
    c = runEnd(batch, first, c, end, res);
    run.j = first ? first[c] : c;
    run.t1 = start[run.j - 1] + dur[run.j - 1];
    if (run.t1 < from) continue;
    if (level) sumCells(run, level, c0, c);
    else sumItems(run);
    visit(run);
  }
}

/** @param {Run} run of items: its longest, and its sums */
function sumItems(run) {
  const { batch, i, j } = run;
  const { dur, kind } = batch;
  let top = i;
  let busy = 0;
  let wait = 0;
  for (let k = i; k < j; k++) {
    if (dur[k] > dur[top]) top = k;
    const d = busyOf(batch, k);
    busy += d;
    if (kind[k] === Kind.wait) wait += d;
  }
  run.top = top;
  run.busy = busy;
  run.wait = wait;
}

/** @param {Run} run of the cells [c, end) of a level: its longest, and its sums @param {Level} level @param {number} c @param {number} end */
function sumCells(run, level, c, end) {
  const { dur } = run.batch;
  let top = level.top[c];
  let busy = 0;
  let wait = 0;
  for (; c < end; c++) {
    const longest = level.top[c];
    if (dur[longest] > dur[top]) top = longest;
    busy += level.busy[c];
    wait += level.wait[c];
  }
  run.top = top;
  run.busy = busy;
  run.wait = wait;
}

/** Makes the level of res; null if it would not save enough. */
function mergeLevel(p, below, res) {
  const cells = below ? below.n : p.to - p.from;
  const from = below ? 0 : p.from;
  const most = Math.floor(cells * keepShare);
  const n = countRuns(p.batch, below && below.first, from, from + cells, res, most);
  if (n > most) return null;
  const level = { res, n, first: new Uint32Array(n + 1), top: new Uint32Array(n), busy: new Float64Array(n), wait: new Float64Array(n) };
  let k = 0;
  eachRun(p, below, -Infinity, Infinity, res, ({ i, j, top, busy, wait }) => {
    level.first[k] = i;
    level.top[k] = top;
    level.busy[k] = busy;
    level.wait[k] = wait;
    level.first[++k] = j;
  });
  return level;
}
