// The visible time whose states are not known yet, because they are being loaded or computed. Drawn as nothing it would
// read as idle.

import { makeHatch } from "./bar.js";

/**
 * @typedef {[number, number][]} Parts of the visible time
 * @typedef {{states: Parts, derived: Parts, hatch: CanvasPattern|null}} Awaited derived: of processors, threads and counts
 */

/** The opacity of the hatch. */
const faint = 0.35;

/** The latest hatch. @type {{color: string, pattern: CanvasPattern|null}} */
let awaitedHatch = { color: "", pattern: null };

/**
 * @param {CanvasRenderingContext2D} ctx @param {import("../app.js").App} app
 * @returns {Awaited}
 */
export function awaitedOf(ctx, { model, view, colors }) {
  const [states, derived] = [false, true].map((of) => model.waits.awaited(view.from, view.to, of));
  const color = colors["fg-dim"];
  if (awaitedHatch.color !== color) awaitedHatch = { color, pattern: makeHatch(ctx, color) };
  return { states, derived, hatch: awaitedHatch.pattern };
}

/**
 * Hatches parts of the visible time.
 * @param {Pick<import("./draw.js").Painter, "ctx"|"from"|"scale"|"awaited"> & {drawn: {awaited: number}}} p @param {Parts} parts @param {number} y @param {number} h
 */
export function drawAwaited({ ctx, from, scale, awaited, drawn }, parts, y, h) {
  if (!awaited.hatch) return;
  ctx.fillStyle = awaited.hatch;
  ctx.globalAlpha = faint;
  for (const [a, b] of parts) {
    ctx.fillRect((a - from) * scale, y, (b - a) * scale, h);
    drawn.awaited++;
  }
  ctx.globalAlpha = 1;
}
