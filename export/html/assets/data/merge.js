// docs/merging.md tells the rule by which neighbours are drawn as one. Here and in
// the Go side's internal/timeline/merge.go it is code, and its testdata/merge.json
// has examples that both are tested with.

import { Flag } from "./kinds.js";

/** Bars, and states, are drawn at a resolution of so many px; no tile may be coarser. */
export const barPixels = 1.5;
export const statePixels = 0.75;

/** A run begins in one stretch of so many resolutions. */
const runWidth = 4;

/**
 * Items of lanes, or states. They are ordered by start and do not overlap.
 * @typedef {Object} Items
 * @property {Float64Array} start
 * @property {ArrayLike<number>} dur
 * @property {ArrayLike<number>|null} flags
 * @property {ArrayLike<number>|null} count how many an item stands for; null: each for itself
 * @property {number} res what is narrower is merged already; 0: nothing is
 *
 * Cells are items, or the runs of a finer resolution: run c is the items first[c] up
 * to first[c+1]. Without first each item is a cell.
 * @typedef {Uint32Array|null} First
 */

/** The resolution that counts: a power of two, not above res. @param {number} res */
export function evenRes(res) { return 2 ** Math.floor(Math.log2(res)); }

/** The start of the stretch that t lies in. @param {number} t @param {number} res */
export function stretchOf(t, res) { return Math.floor(t / (runWidth * res)) * (runWidth * res); }

/**
 * The cell behind the run that begins with cell c.
 * @param {Items} items @param {First} first @param {number} c
 * @param {number} end the cell behind the last
 * @param {number} res an even resolution
 */
export function runEnd(items, first, c, end, res) {
  const { start, dur } = items;
  let i = first === null ? c : first[c];
  let j = first === null ? c + 1 : first[c + 1];
  let t1 = start[j - 1] + dur[j - 1];
  c++;
  if (j - i === 1 && isAlone(items, i, res)) return c;
  const limit = stretchOf(start[i], res) + runWidth * res;
  while (c < end) {
    i = j;
    const t0 = start[i];
    if (t0 >= limit || t0 - t1 >= res) break;
    j = first === null ? i + 1 : first[c + 1];
    if (j - i === 1 && isAlone(items, i, res)) break;
    t1 = start[j - 1] + dur[j - 1];
    c++;
  }
  return c;
}

/** Reports whether an item is in no run with others. What one stands for that was merged at such a resolution is narrow. */
function isAlone({ dur, flags, count, res: had }, i, res) {
  return dur[i] >= res && (count === null || count[i] === 1 || had > res) || flags !== null && (flags[i] & Flag.unended) !== 0;
}

/**
 * How many runs the cells from c on make; counts no further than behind most.
 * @param {Items} items @param {First} first @param {number} c @param {number} end @param {number} res @param {number} most
 */
export function countRuns(items, first, c, end, res, most) {
  let n = 0;
  for (; c < end && n <= most; n++) c = runEnd(items, first, c, end, res);
  return n;
}
