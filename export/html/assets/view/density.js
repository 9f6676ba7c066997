// Draws a group's row: the number of its rows in a scope and, in front, the number of waiting ones.

import { drawAwaited } from "./awaited.js";
import { densityOf } from "../model/density.js";
import { fillArea, sharesFacts } from "./shares.js";
import { thousands } from "./numbers.js";

/** @import { App } from "../app.js" */

/**
 * Reports whether a strip has counts: goroutines without scopes have none.
 * @param {import("./layout.js").Strip} strip
 */
export function hasDensity(strip) { return strip.kind === "group" && !strip.bare; }

/** @param {import("../model/model.js").Model} model @param {import("./layout.js").Strip} strip */
function densityOfStrip(model, strip) { return densityOf(model, strip.id, /** @type {any[]} */ (strip.rows)); }

/** Formats a number of rows; with merged scopes it is approximate. @param {number} n @param {boolean} merged */
function countText(n, merged) { return `${merged ? "≈ " : ""}${thousands(Math.round(n))}`; }

/**
 * Draws the mean of each pixel and, faintly, the maximum.
 * @param {import("./draw.js").Painter} p @param {import("./layout.js").Strip} strip @param {number} y
 */
export function drawDensity(p, strip, y) {
  if (!hasDensity(strip)) return;
  const { ctx, colors } = p;
  const density = densityOfStrip(p.model, strip);
  if (density === null) return drawAwaited(p, [[Math.max(p.from, 0), Math.min(p.to, p.model.end)]], y + 1, strip.h - (strip.statesHigh ?? 0) - 1);
  const end = Math.min(p.to, p.model.end);
  const n = Math.floor((end - p.from) * p.scale);
  if (density.most === 0 || n < 1) return;
  p.drawn.densities++;
  const [active, activeTop, waiting, waitingTop] = [0, 1, 2, 3].map(() => new Float32Array(n));
  density.parts(p.from, p.from + n / p.scale, n, (x, a, aTop, w, wTop) => {
    active[x] = a;
    activeTop[x] = aTop;
    waiting[x] = w;
    waitingTop[x] = wTop;
  });
  const high = strip.h - (strip.statesHigh ?? 0);
  const base = y + high - 1;
  const scale = (high - 4) / density.most;
  /** @type {[Float32Array, string, number][]} */
  const areas = [[activeTop, colors.busy, 0.5], [active, colors.busy, 1], [waitingTop, colors["wait-soft"], 1], [waiting, colors.wait, 1]];
  for (const [heights, color, alpha] of areas) {
    ctx.globalAlpha = alpha;
    ctx.fillStyle = color;
    fillArea(ctx, heights, scale, base);
  }
  ctx.globalAlpha = 1;
  ctx.fillStyle = colors["fg-dim"];
  ctx.fillRect(0, Math.round(base - density.most * scale), 4, 1); // the mark of the scale
  ctx.fillStyle = colors.fg;
  ctx.fillText(countText(density.most, density.merged), 6, y + 11);
}

/**
 * Returns the minimum, median and maximum number of rows of a group in a scope in the view.
 * @param {App} app @param {import("./layout.js").Strip} strip
 */
export function spreadText(app, strip) {
  const density = densityOfStrip(app.model, strip);
  if (density === null) return "";
  const { min, median, max } = density.spread(Math.max(0, app.view.from), Math.min(app.view.to, app.model.end));
  return `${density.merged ? "≈ " : ""}${[min, median, max].map(thousands).join(" – ")} active`;
}

/**
 * Returns the facts of a group's row at a time.
 * @param {App} app
 * @param {import("./layout.js").Strip} strip
 * @param {number} time
 * @returns {[string, string|null][]}
 */
export function densityFacts(app, strip, time) {
  const rows = /** @type {any[]} */ (strip.rows).length;
  if (!hasDensity(strip)) return [["rows", thousands(rows)], ...sharesFacts(app, strip, time)];
  const density = densityOfStrip(app.model, strip);
  if (density === null) return [["rows", `${thousands(rows)}; being counted`], ...sharesFacts(app, strip, time)];
  const { active, waiting } = density.at(time);
  return [
    ["at", app.time(time)], ["in a scope", `${countText(active, density.merged)} of ${thousands(rows)}`], ["waiting", countText(waiting, density.merged)],
    ...sharesFacts(app, strip, time),
    ["in view", `${spreadText(app, strip)}: minimum, median, maximum`],
    ["≈", density.merged ? "scopes are merged here: each counts by its busy share" : null],
  ];
}
