// The rule for drawing neighbours as one; docs/merging.md describes it. The Go side has the
// same code in internal/timeline/merge.go; testdata/merge.json has examples to test both.

import { Flag } from "./kinds.js";

/** The resolution at which bars and states are drawn, in px; no tile may be coarser. */
export const barPixels = 1.5;
export const statePixels = 0.75;

/** The width in which a run begins, in resolutions. */
const runWidth = 4;

/**
 * Items of a lane, or states. They are sorted by start and do not overlap.
 * @typedef {Object} Items
 * @property {Float64Array} start
 * @property {ArrayLike<number>} dur
 * @property {ArrayLike<number>|null} flags
 * @property {ArrayLike<number>|null} count number of scopes that an item represents; null: one each
 * @property {number} res shorter items are already merged; 0: none
 *
 * Cells are items, or the runs of a finer resolution: run c is the items first[c] up
 * to first[c+1]. Without first each item is a cell.
 * @typedef {Uint32Array|null} First
 */

/** Returns the effective resolution: the largest power of two that is not above res. @param {number} res */
export function evenRes(res) { return 2 ** Math.floor(Math.log2(res)); }

/** Returns the start of the stretch that contains t. @param {number} t @param {number} res */
export function stretchOf(t, res) { return Math.floor(t / (runWidth * res)) * (runWidth * res); }

/**
 * Returns the cell after the run that begins with cell c.
 * @param {Items} items @param {First} first @param {number} c
 * @param {number} end the cell after the last
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

/**
 * Reports whether an item is never merged with others. An item that was merged at such a resolution counts as narrow.
 */
function isAlone({ dur, flags, count, res: had }, i, res) {
  return dur[i] >= res && (count === null || count[i] === 1 || had > res) || flags !== null && (flags[i] & Flag.unended) !== 0;
}

/**
 * Counts the runs that the cells from c on form, and stops above most.
 * @param {Items} items @param {First} first @param {number} c @param {number} end @param {number} res @param {number} most
 */
export function countRuns(items, first, c, end, res, most) {
  let n = 0;
  for (; c < end && n <= most; n++) c = runEnd(items, first, c, end, res);
  return n;
}
