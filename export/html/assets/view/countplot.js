// The graph of the number of goroutines: below, stacked, those that ran and those that
// waited for a processor; above, with a scale of its own, the others.

import { countNames } from "../model/counts.js";
import { drawScale, niceNumber } from "./plot.js";
import { digits3, span, thousands } from "./numbers.js";

/** @typedef {import("../model/counts.js").Counts} Counts */

/** Indexes into countNames. */
const runningAt = 0;
const runnableAt = 1;
const blockedAt = 2;
/** The share of the height for the lower part. */
const lowerPart = 0.6;
const countStates = ["cpu", "runnable", "blocked"];

/**
 * Returns the maximum counts in [from, to]: below, above, and in total at most.
 * @param {Counts[]} counts @param {number} from @param {number} to
 */
export function highestCounts(counts, from, to) {
  let [lower, upper] = [1, 1];
  for (const c of counts) {
    const all = c.between(from, to);
    if (all === null) continue;
    lower = Math.max(lower, all.most[runningAt] + all.most[runnableAt]);
    upper = Math.max(upper, all.most[blockedAt]);
  }
  return { lower: niceNumber(Math.ceil(lower)), upper: niceNumber(Math.ceil(upper)), all: lower + upper };
}

/**
 * Returns the legend for a time, or for [from, to]: name, value and the state with its
 * colour. null: there are no counts.
 * @param {Counts[]} counts @param {number} from @param {number} to
 * @returns {[string, string, string?][]|null}
 */
export function countsText(counts, from, to) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-1, -1, -1];
  let over = 0; // width of the stretch of which a value is the mean
  for (const c of counts) {
    const k = from === to ? c.stepAt(from) : -1;
    const some = k >= 0 ? c.between(c.time[k], c.time[k + 1]) : from === to ? null : c.between(from, to);
    if (some === null) continue;
    if (!c.exact) over = c.time[1] - c.time[0];
    for (let n = 0; n < countNames.length; n++) {
      low[n] = Math.min(low[n], some.least[n]);
      high[n] = Math.max(high[n], some.most[n]);
    }
  }
  if (high[0] < 0) return null;
  const text = (/** @type {number} */ v) => (over > 0 ? digits3(v) : thousands(v));
  const values = countNames.map((_, n) => (text(low[n]) === text(high[n]) ? text(low[n]) : `${text(low[n])}–${text(high[n])}`));
  if (over > 0) values[blockedAt] += ` (means of ${span(over)})`;
  return countNames.map((name, n) => [name, values[n], countStates[n]]);
}

/**
 * Draws the mean of each pixel and, faintly, its maximum.
 * @param {CanvasRenderingContext2D} ctx @param {import("../app.js").App} app @param {Record<string, string>} colors
 * @param {Counts[]} counts @param {number} width @param {number} height
 */
export function drawCounts(ctx, app, colors, counts, width, height) {
  const { from, to } = app.view;
  const top = highestCounts(counts, from, to);
  const floor = height - 1;
  const middle = Math.round(floor - (height - 3) * lowerPart);
  const lower = (floor - middle - 1) / top.lower;
  const upper = (middle - 2) / top.upper;
  const bar = (/** @type {number} */ x, /** @type {number} */ foot, /** @type {number} */ mean, /** @type {number} */ most, /** @type {string} */ color) => {
    ctx.fillStyle = color;
    ctx.globalAlpha = 0.35;
    ctx.fillRect(x, foot - most, 1, most);
    ctx.globalAlpha = 1;
    ctx.fillRect(x, foot - mean, 1, mean);
  };
  for (let x = 0; x < width; x++) {
    const t0 = from + (x / width) * (to - from);
    const t1 = from + ((x + 1) / width) * (to - from);
    for (const c of counts) {
      const some = c.between(t0, t1);
      if (some === null) continue;
      const { mean, most } = some;
      bar(x, floor, mean[runningAt] * lower, most[runningAt] * lower, colors["state-cpu"]);
      bar(x, floor - mean[runningAt] * lower, mean[runnableAt] * lower, Math.min(most[runnableAt], top.lower - mean[runningAt]) * lower, colors["state-runnable"]);
      bar(x, middle, mean[blockedAt] * upper, most[blockedAt] * upper, colors["state-blocked"]);
    }
  }
  drawScale(ctx, colors, thousands(top.lower), floor - top.lower * lower, width);
  drawScale(ctx, colors, thousands(top.upper), middle - top.upper * upper, width);
}
