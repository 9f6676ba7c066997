// The overview of the whole trace, or of the available part of a ring: the number of rows in a scope and of waiting
// rows, the visible range, and the hits of the search. Dragging moves the view.

import { createPlot } from "./plot.js";
import { viewOfAll } from "./viewport.js";

/** @import { App } from "../app.js" */

const mapHeight = 20;
/** The number of rows above which a sample of them is used. */
const mapRows = 3000;

/** @param {App} app @returns {{element: HTMLElement, draw(colors: Record<string, string>): void, changed(): void}} */
export function createMinimap(app) {
  const plot = createPlot("map", mapHeight, "The whole trace: rows in a scope, waits, and the visible part");
  /** @type {{version: number, width: number, begin: number, end: number, busy: Float64Array, wait: Float64Array, top: number}|null} */
  let density = null;
  /** @type {{hits: any, of: any, bins: Uint32Array}|null} */
  let found = null;
  let measured = 0;
  /** Returns the extent of the strip. */
  const ends = () => {
    const { from } = viewOfAll(app.model);
    return { begin: from, end: Math.max(from + 1, app.model.end) };
  };

  /** @param {number} width */
  function measure(width) {
    const { model } = app;
    const { begin, end } = ends();
    const n = Math.max(1, Math.floor(width / 2));
    const busy = new Float64Array(n);
    const wait = new Float64Array(n);
    const rows = model.rows(app.by);
    const step = Math.max(1, Math.ceil(rows.length / mapRows));
    const res = (end - begin) / n;
    for (let r = 0; r < rows.length; r += step) {
      const { lanes } = rows[r];
      for (let d = 0; d < Math.min(lanes.length, 16); d++) {
        model.eachBar(lanes[d], begin, end, res, ({ t0, t1, busy: sum, wait: waits }) => {
          // A run counts with the sum of its scopes.
          const long = Math.max(t1 - t0, 1);
          const at = (t0 - begin) / res;
          if (d === 0) spread(busy, at, at + long / res, (step * Math.min(sum, long)) / long);
          if (waits > 0) spread(wait, at, at + long / res, (step * waits) / long);
        });
      }
    }
    if (rows.length === 0) countRunning(busy, wait, begin, res);
    let top = 1;
    for (let k = 0; k < n; k++) top = Math.max(top, busy[k]);
    density = { version: model.version, width, begin, end, busy, wait, top };
    measured = performance.now();
  }

  /**
   * Fills the bins with the numbers of goroutines that ran and that waited for a processor: a trace may have no scopes.
   * @param {Float64Array} busy @param {Float64Array} wait @param {number} begin @param {number} res
   */
  function countRunning(busy, wait, begin, res) {
    for (const counts of app.model.waits.counts) {
      for (let k = 0; k < busy.length; k++) {
        const some = counts.between(begin + k * res, begin + (k + 1) * res);
        if (!some) continue;
        const [running, ready] = some.mean;
        busy[k] = running + ready;
        wait[k] = ready;
      }
    }
  }

  /**
   * Adds weight to the bins that [a, b) overlaps, in proportion.
   * @param {Float64Array} bins @param {number} a @param {number} b @param {number} weight
   */
  function spread(bins, a, b, weight) {
    const last = Math.min(bins.length - 1, Math.floor(b));
    for (let k = Math.max(0, Math.floor(a)); k <= last; k++) {
      bins[k] += weight * Math.max(0, Math.min(b, k + 1) - Math.max(a, k));
    }
  }

  /** @param {Record<string, string>} colors */
  function draw(colors) {
    const { ctx, width, height } = plot.begin(colors);
    const stale = !density || density.version !== app.model.version;
    // While a trace grows, once a second is sufficient.
    if (!density || density.width !== width || (stale && (!app.growing || performance.now() - measured > 1000))) measure(width);
    plot.setLegend([[["whole", app.model.rows(app.by).length > 0 ? "rows busy, waiting" : "goroutines running, runnable"]]]);
    const d = /** @type {NonNullable<typeof density>} */ (density);
    const { begin, end } = ends();
    const x = (/** @type {number} */ t) => ((t - begin) / (end - begin)) * width;
    const bin = x(d.end) / d.busy.length;
    for (let k = 0; k < d.busy.length; k++) {
      const h = (d.busy[k] / d.top) * (height - 6);
      const w = Math.min(h, (d.wait[k] / d.top) * (height - 6));
      ctx.fillStyle = colors.busy;
      ctx.fillRect(k * bin, height - h, bin + 0.3, h - w);
      ctx.fillStyle = colors.wait;
      ctx.fillRect(k * bin, height - w, bin + 0.3, w);
    }
    const lit = app.brush ?? app.lit ?? app.hits;
    if (lit) {
      // Counted once and not per frame, because it reads every scope.
      if (found?.hits !== lit || found.of !== d) found = { hits: lit, of: d, bins: lit.bins(d.begin, d.end, d.busy.length) };
      ctx.fillStyle = colors.accent;
      for (let k = 0; k < d.busy.length; k++) if (found.bins[k]) ctx.fillRect(k * bin, 0, 2, 4);
    }
    for (const [from, to] of app.model.meta.gaps ?? []) {
      ctx.fillStyle = colors.loss;
      ctx.fillRect(x(from), 0, Math.max(2, x(to) - x(from)), 3);
    }
    const a = x(app.view.from);
    const b = Math.max(a + 3, x(app.view.to));
    ctx.fillStyle = colors.shade;
    ctx.fillRect(0, 0, a, height);
    ctx.fillRect(b, 0, width - b, height);
    ctx.strokeStyle = colors.accent;
    ctx.strokeRect(Math.max(0.5, a + 0.5), 0.5, Math.min(width - 1, b) - Math.max(0.5, a + 0.5), height - 1);
  }

  /** @type {{mode: "move"|"left"|"right", grab: number}|null} */
  let drag = null;
  const timeAt = (/** @type {PointerEvent} */ e) => {
    const { begin, end } = ends();
    return begin + (e.offsetX / plot.canvas.clientWidth) * (end - begin);
  };
  plot.canvas.addEventListener("pointerdown", (e) => {
    const px = (ends().end - ends().begin) / plot.canvas.clientWidth;
    const reach = (e.pointerType === "touch" ? 12 : 5) * px;
    const t = timeAt(e);
    const { from, to } = app.aim;
    plot.canvas.setPointerCapture(e.pointerId);
    if (Math.abs(t - from) < reach) drag = { mode: "left", grab: 0 };
    else if (Math.abs(t - to) < reach) drag = { mode: "right", grab: 0 };
    else {
      if (t < from || t > to) app.setView(t - (to - from) / 2, t + (to - from) / 2);
      drag = { mode: "move", grab: t - app.aim.from };
    }
  });
  plot.canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const t = timeAt(e);
    const { from, to } = app.aim;
    if (drag.mode === "left") app.setView(Math.min(t, to - 1), to);
    else if (drag.mode === "right") app.setView(from, Math.max(t, from + 1));
    else app.setView(t - drag.grab, t - drag.grab + to - from);
  });
  plot.canvas.addEventListener("pointerup", () => { drag = null; });
  plot.canvas.addEventListener("pointercancel", () => { drag = null; });
  return { element: plot.element, draw, changed() { density = null; } };
}
