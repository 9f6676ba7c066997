// The merged levels of a lane. The cost of drawing a lane depends on the runs on the screen,
// not on the number of scopes below. docs/merging.md describes the rule.

import { bisect } from "./bisect.js";
import { Kind } from "./kinds.js";
import { countRuns, evenRes, runEnd, stretchOf } from "./merge.js";

/** The maximum share of the cells of the finer level that a level may have to be kept. */
const keepShare = 1 / 3;

/**
 * Items that are drawn as one. A visitor may use it only until the next call.
 * @typedef {Object} Run
 * @property {import("./batch.js").Batch} batch
 * @property {number} i first item
 * @property {number} j index after the last item; i + 1: item i alone
 * @property {number} t0 begin
 * @property {number} t1 end
 * @property {number} top its longest item
 * @property {number} busy sum of the durations
 * @property {number} wait part of the sum spent waiting for locks
 *
 * @typedef {(run: Run) => void} VisitRun
 */

/**
 * The runs of a resolution: run c is the items first[c] up to first[c+1].
 * @typedef {Object} Level
 * @property {number} res
 * @property {number} n
 * @property {Uint32Array} first
 * @property {Uint32Array} top
 * @property {Float64Array} busy
 * @property {Float64Array} wait
 */

/** The levels of items [from, to) of a lane. */
export class Pyramid {
  /** @param {import("./batch.js").Batch} batch @param {number} from @param {number} to */
  constructor(batch, from, to) {
    this.batch = batch;
    this.from = from;
    this.to = to;
    /** @type {Level[]} */
    this.levels = [];
    this.coarsestTried = 1; // the coarsest resolution tried, whether its level was kept or not
  }

  /**
   * Returns the coarsest level that is no coarser than res; null: the items themselves.
   * @param {number} res a power of two
   * @returns {Level|null}
   */
  levelFor(res) {
    while (this.coarsestTried * 4 <= res) {
      this.coarsestTried *= 4;
      const level = mergeLevel(this, this.levels.at(-1) ?? null, this.coarsestTried);
      if (level) this.levels.push(level);
    }
    for (let k = this.levels.length - 1; k >= 0; k--) if (this.levels[k].res <= res) return this.levels[k];
    return null;
  }

  /**
   * Calls visit with the items that touch [from, to], in order of time. Items of at least
   * res come alone, shorter ones in runs.
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

/** Returns the first cell that does not end before t. */
function cellEnding(p, level, t) {
  const { start, dur } = p.batch;
  return bisect(level ? 0 : p.from, level ? level.n : p.to, (k) => {
    const i = level ? level.first[k + 1] - 1 : k;
    return start[i] + dur[i] < t;
  });
}

/** Returns the first cell that does not begin before t. */
function cellFrom(p, level, hi, t) {
  const { start } = p.batch;
  return bisect(level ? 0 : p.from, hi, (k) => start[level ? level.first[k] : k] < t);
}

function busyOf(batch, i) { return batch.busy === null ? batch.dur[i] : batch.busy[i]; }

function waitOf(batch, i) { return batch.kind[i] === Kind.wait ? busyOf(batch, i) : 0; }

/** @returns {Run} */
function newRun(batch) { return { batch, i: 0, j: 0, t0: NaN, t1: NaN, top: 0, busy: NaN, wait: NaN }; }

/** Visits runs of res, built from the cells of a level or from the items. */
function eachRun(p, level, from, to, res, visit) {
  const { batch } = p;
  const { start, dur } = batch;
  const first = level && level.first;
  let c = cellEnding(p, level, from);
  const end = level ? level.n : p.to;
  if (c >= end) return;
  const run = newRun(batch);
  // A run that extends into the view began in this stretch, possibly before the view.
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

/** Computes the longest item and the sums of a run. @param {Run} run */
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

/** Creates the level of res; null if it would not save enough. */
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
