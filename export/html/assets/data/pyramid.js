// The merged levels of a lane: what is narrower than a resolution and lies
// closer together than it is one run. So drawing a lane costs what there are
// runs on the screen, however many scopes lie below.
//
// The rule, for a resolution r: an item joins the run before it if all of both
// are narrower than r, less than r lies between them, and both begin in the same
// of the stretches of 4·r that time is cut into. The last condition keeps runs
// where they are when one pans, and it makes that of runs by r the runs by 2·r
// can be made, just as of the items themselves: levels need not know the level
// below.

import { bisect } from "./bisect.js";
import { Flag, Kind } from "./kinds.js";

/** A run begins in one stretch of so many resolutions. */
const runWidth = 4;
/** A level is kept if it has at most this part of the cells of the one below. */
const keepShare = 1 / 3;

/**
 * What is drawn as one. It is good until the next one is visited.
 * @typedef {Object} Run
 * @property {import("./segment.js").Segment} seg
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
   * @param {import("./segment.js").Segment} seg
   * @param {number} from
   * @param {number} to
   */
  constructor(seg, from, to) {
    this.seg = seg;
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
   * Calls visit with what touches [from, to], in the order of time: with each
   * item that is not narrower than res alone, with the others in runs.
   * @param {number} from
   * @param {number} to
   * @param {number} res
   * @param {VisitRun} visit
   */
  each(from, to, res, visit) {
    if (res >= 1) {
      const r = 2 ** Math.floor(Math.log2(res));
      eachRun(this, this.levelFor(r), from, to, r, visit);
      return;
    }
    const { seg } = this;
    const { start, dur } = seg;
    for (let i = cellEnding(this, null, from); i < this.to && start[i] <= to; i++) {
      visit({ seg, i, j: i + 1, t0: start[i], t1: start[i] + dur[i], top: i, busy: busyOf(seg, i), wait: waitOf(seg, i) });
    }
  }
}

/** The cell from which on they do not end before t. */
function cellEnding(p, level, t) {
  const { start, dur } = p.seg;
  return bisect(level ? 0 : p.from, level ? level.n : p.to, (k) => {
    const i = level ? level.first[k + 1] - 1 : k;
    return start[i] + dur[i] < t;
  });
}

/** The cell from which on they do not begin before t. */
function cellFrom(p, level, hi, t) {
  const { start } = p.seg;
  return bisect(level ? 0 : p.from, hi, (k) => start[level ? level.first[k] : k] < t);
}

function busyOf(seg, i) { return seg.busy === null ? seg.dur[i] : seg.busy[i]; }

function waitOf(seg, i) { return seg.kind[i] === Kind.wait ? busyOf(seg, i) : 0; }

/** Visits runs by res, made of a level's cells or of the items. */
function eachRun(p, level, from, to, res, visit) {
  const { seg } = p;
  const { start, dur, flags } = seg;
  const stretch = runWidth * res;
  const first = level && level.first;
  let c = cellEnding(p, level, from);
  const end = level ? level.n : p.to;
  if (c >= end) return;
  const run = { seg, i: 0, j: 0, t0: NaN, t1: NaN, top: 0, busy: NaN, wait: NaN };
  // A run that reaches into the view began in this stretch, maybe before it.
  c = cellFrom(p, level, c, Math.floor(start[first ? first[c] : c] / stretch) * stretch);
  while (c < end) {
    const i = first ? first[c] : c;
    const t0 = start[i];
    if (t0 > to) return;
    let j = first ? first[c + 1] : c + 1;
    let t1 = start[j - 1] + dur[j - 1];
    let top = level ? level.top[c] : i;
    let busy = level ? level.busy[c] : busyOf(seg, i);
    let wait = level ? level.wait[c] : waitOf(seg, i);
    c++;
    if (j - i > 1 || t1 - t0 < res && !(flags[i] & Flag.open)) {
      const limit = (Math.floor(t0 / stretch) + 1) * stretch;
      for (; c < end; c++) {
        const a = first ? first[c] : c;
        const b = first ? first[c + 1] : c + 1;
        const u0 = start[a];
        const u1 = start[b - 1] + dur[b - 1];
        if (u0 >= limit || u0 - t1 >= res || b - a === 1 && (u1 - u0 >= res || flags[a] & Flag.open)) break;
        const longest = level ? level.top[c] : a;
        if (dur[longest] > dur[top]) top = longest;
        busy += level ? level.busy[c] : busyOf(seg, a);
        wait += level ? level.wait[c] : waitOf(seg, a);
        j = b;
        t1 = u1;
      }
    }
    if (t1 < from) continue;
    run.i = i;
    run.j = j;
    run.t0 = t0;
    run.t1 = t1;
    run.top = top;
    run.busy = busy;
    run.wait = wait;
    visit(run);
  }
}

/** Makes the level of res; null if it would not save enough. */
function mergeLevel(p, below, res) {
  const cells = below ? below.n : p.to - p.from;
  const most = Math.floor(cells * keepShare);
  if (most < 1) return null;
  if (countRuns(p, below, res, most) > most) return null;
  const first = new Uint32Array(most + 1);
  const top = new Uint32Array(most);
  const busy = new Float64Array(most);
  const wait = new Float64Array(most);
  let n = 0;
  eachRun(p, below, -Infinity, Infinity, res, (run) => {
    first[n] = run.i;
    first[n + 1] = run.j;
    top[n] = run.top;
    busy[n] = run.busy;
    wait[n] = run.wait;
    n++;
  });
  return { res, n, first: first.slice(0, n + 1), top: top.slice(0, n), busy: busy.slice(0, n), wait: wait.slice(0, n) };
}

/** How many runs there are; counts no further than behind most. */
function countRuns(p, level, res, most) {
  const { start, dur, flags } = p.seg;
  const stretch = runWidth * res;
  const first = level && level.first;
  const end = level ? level.n : p.to;
  let n = 0;
  let limit = -Infinity; // where the run's stretch ends; none: nothing can join
  let t1 = 0;
  for (let c = level ? 0 : p.from; c < end && n <= most; c++) {
    const a = first ? first[c] : c;
    const b = first ? first[c + 1] : c + 1;
    const u0 = start[a];
    const u1 = start[b - 1] + dur[b - 1];
    const wide = b - a === 1 && (u1 - u0 >= res || (flags[a] & Flag.open) !== 0);
    if (wide || u0 >= limit || u0 - t1 >= res) {
      n++;
      limit = wide ? -Infinity : (Math.floor(u0 / stretch) + 1) * stretch;
    }
    t1 = u1;
  }
  return n;
}
