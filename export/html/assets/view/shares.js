// Draws the states of a group's rows as stacked counts, with running at the bottom.

import { drawAwaited } from "./awaited.js";
import { stateDensityOf, statesAt } from "../model/statedensity.js";
import { stateText } from "../data/states.js";
import { thousands } from "./numbers.js";

/** The maximum number of states listed for a time. */
const namedStates = 5;

/**
 * Draws the number of rows by state, relative to the maximum number of rows at once.
 * @param {import("./draw.js").Painter} p @param {import("./layout.js").Strip} strip @param {number} y @param {number} h
 */
export function drawShares(p, strip, y, h) {
  const density = stateDensityOf(p.model, strip.id, /** @type {any[]} */ (strip.rows), p.from, p.to);
  const n = Math.floor((Math.min(p.to, p.model.end) - p.from) * p.scale);
  const set = p.model.waits?.states;
  if (!set || n < 1) return;
  const [lo, hi] = [Math.max(p.from, set.from), Math.min(p.to, set.to)];
  const [a, b] = density === null ? [hi, hi] : [Math.max(density.from, lo), Math.min(density.to, hi)];
  drawAwaited(p, /** @type {[number, number][]} */ ([[lo, Math.min(a, hi)], [Math.max(b, lo), hi]]).filter(([from, to]) => to > from), y, h);
  if (density === null) return;
  p.drawn.shares++;
  const below = new Float32Array(n);
  const areas = density.states.map(({ state, rows: counts }) => {
    addPixels(p, density, counts, below);
    return { name: density.set.names[state], heights: below.slice() };
  });
  for (const { name, heights } of areas.reverse()) {
    p.ctx.fillStyle = p.colors[`state-${name}`] || p.colors["state-other"];
    fillArea(p.ctx, heights, h / density.most, y + h);
  }
}

/**
 * Adds the mean of each pixel.
 * @param {import("./draw.js").Painter} p
 * @param {import("../model/statedensity.js").StateDensity} density
 * @param {Float32Array} counts
 * @param {Float32Array} to
 */
function addPixels(p, { from, width }, counts, to) {
  const placeOf = (/** @type {number} */ x) => (p.from + x / p.scale - from) / width;
  for (let x = 0; x < to.length; x++) {
    const first = Math.floor(placeOf(x));
    const end = Math.max(first + 1, Math.floor(placeOf(x + 1)));
    let sum = 0;
    for (let k = Math.max(first, 0); k < end && k < counts.length; k++) sum += counts[k];
    to[x] += sum / (end - first);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Float32Array} heights one a pixel @param {number} scale @param {number} base */
export function fillArea(ctx, heights, scale, base) {
  ctx.beginPath();
  ctx.moveTo(0, base);
  for (let x = 0, from = 0; x < heights.length; x = from) {
    while (from < heights.length && heights[from] === heights[x]) from++;
    // A nonzero count is at least one pixel high.
    const top = base - (heights[x] === 0 ? 0 : Math.max(1, heights[x] * scale));
    ctx.lineTo(x, top);
    ctx.lineTo(from, top);
  }
  ctx.lineTo(heights.length, base);
  ctx.fill();
}

/**
 * Returns the states of a group's rows at a time.
 * @param {import("../app.js").App} app
 * @param {import("./layout.js").Strip} strip
 * @param {number} time
 * @returns {[string, string][]}
 */
export function sharesFacts(app, strip, time) {
  const set = app.model.waits?.states;
  if (!set || !strip.statesHigh) return [];
  const merged = set.res > 0 ? "≈ " : "";
  return statesAt(set, /** @type {any[]} */ (strip.rows), time).slice(0, namedStates).map((s) => [stateText(set.nameOf(s.state)), merged + thousands(s.rows)]);
}
