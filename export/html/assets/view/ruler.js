// The time axis and its vertical lines.

import { createHandles } from "./handles.js";
import { make } from "./make.js";
import { beginCanvas } from "./plot.js";
import { moment, niceStep, thousands, wallClock } from "./numbers.js";

/** @import { App } from "../app.js" */

const rulerHeight = 20;

/**
 * Returns the times of the ticks in a range that is width px wide. Steps below a microsecond
 * are labelled relative to the preceding microsecond, because nine decimals are unreadable.
 * @param {number} from @param {number} to @param {number} width
 * @returns {{step: number, base: number, ticks: number[]}} base -1: ticks are relative to the trace's start
 */
export function ticksOf(from, to, width) {
  const step = niceStep(((to - from) * 95) / Math.max(width, 95));
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to && ticks.length < 100; k++) ticks.push(k * step);
  const base = step < 1e3 ? Math.floor(Math.max(0, from) / 1e3) * 1e3 : -1;
  return { step, base, ticks };
}

/** Returns the label of a tick. @param {App} app @param {number} t @param {{step: number, base: number}} of */
export function tickText(app, t, { step, base }) {
  if (base < 0) return momentText(app, t, step);
  return `${t < base ? "−" : "+"}${thousands(Math.abs(t - base))} ns`;
}

/**
 * Formats a time as chosen by the user: from the start, or wall-clock.
 * @param {App} app @param {number} ns @param {number} step
 */
export function momentText(app, ns, step) {
  return app.wall ? wallClock(app.startMs, app.startRest, ns, step) : moment(ns, step);
}

/** @param {App} app @returns {{element: HTMLElement, draw(colors: Record<string, string>): void}} */
export function createRuler(app) {
  const legend = make("div", { class: "legend" });
  const canvas = make("canvas", { role: "img", "aria-label": "Time axis" });
  canvas.style.height = `${rulerHeight}px`;
  const element = make("div", { class: "plot ruler" }, legend, canvas);
  const handles = createHandles(app, element, canvas);
  /**
   * The positions of the marks' flags, px; the last one is on top.
   * @type {{mark: import("../state.js").Mark, from: number, to: number}[]}
   */
  let flags = [];
  const markAt = (/** @type {number} */ x) => flags.findLast((f) => f.from <= x && x <= f.to)?.mark;
  let pressed = 0;
  canvas.addEventListener("pointerdown", (e) => { pressed = e.offsetX; });
  canvas.addEventListener("pointermove", (e) => {
    const mark = markAt(e.offsetX);
    canvas.style.cursor = mark ? "pointer" : "";
    canvas.title = mark ? `${mark.name || "Mark"}, at ${app.time(mark.from)}` : "";
  });
  canvas.addEventListener("click", (e) => {
    const mark = markAt(pressed);
    if (mark && Math.abs(e.offsetX - pressed) <= 4) app.visitMark(mark, true);
  });

  /** @param {Record<string, string>} colors */
  function draw(colors) {
    const { ctx, width, height } = beginCanvas(canvas, canvas.clientWidth, rulerHeight, colors);
    const { from, to } = app.view;
    const scale = width / (to - from);
    const axis = ticksOf(from, to, width);
    for (const t of axis.ticks) {
      const x = Math.round((t - from) * scale);
      ctx.fillStyle = colors.line;
      ctx.fillRect(x, height - 6, 1, 6);
      ctx.fillStyle = colors["fg-dim"];
      ctx.fillText(tickText(app, t, axis), x + 4, height - 6);
    }
    const shown = `${app.span(to - from)} shown${axis.base < 0 ? "" : `, ${momentText(app, axis.base, 1e3)} +`}`;
    if (legend.textContent !== shown) legend.textContent = shown;
    handles.place();
    if (app.range) {
      const a = (app.range.from - from) * scale;
      const b = (app.range.to - from) * scale;
      pill(ctx, `${app.span(app.range.to - app.range.from)}`, (Math.max(0, a) + Math.min(width, b)) / 2, width, colors.accent, colors.bg);
    }
    if (app.cursor !== null) {
      const x = (app.cursor - from) * scale;
      pill(ctx, momentText(app, app.cursor, (to - from) / width / 2), x, width, colors.fg, colors.bg);
    }
    flags = [];
    for (const m of app.marks) flag(ctx, m, (m.from - from) * scale, (m.to - from) * scale, width, colors);
  }

  /**
   * Draws a mark: a flag with its name, over its whole time.
   * @param {CanvasRenderingContext2D} ctx
   * @param {import("../state.js").Mark} mark
   * @param {number} x0
   * @param {number} x1
   * @param {number} width
   * @param {Record<string, string>} colors
   */
  function flag(ctx, mark, x0, x1, width, colors) {
    if (x1 < 0 || x0 > width) return;
    const { name } = mark;
    const left = Math.max(0, x0);
    const wide = name === "" ? 0 : ctx.measureText(name).width + 16;
    ctx.fillStyle = colors.bg;
    ctx.fillRect(left, 0, wide, rulerHeight);
    flags.push({ mark, from: x0 - 6, to: Math.max(left + wide, x0 + 6) });
    if (x1 > x0) flags.push({ mark, from: x1 - 6, to: x1 + 6 });
    ctx.fillStyle = colors.accent;
    if (x1 > x0) ctx.fillRect(left, 0, Math.min(width, x1) - left, 3);
    ctx.beginPath();
    for (const x of new Set([x0, x1])) {
      ctx.moveTo(x - 5, 0);
      ctx.lineTo(x + 5, 0);
      ctx.lineTo(x, 8);
    }
    ctx.fill();
    ctx.fillText(name, left + 8, rulerHeight - 6);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} x @param {number} width @param {string} fill @param {string} ink */
  function pill(ctx, text, x, width, fill, ink) {
    const w = ctx.measureText(text).width + 10;
    const left = Math.max(0, Math.min(width - w, x - w / 2));
    ctx.fillStyle = fill;
    ctx.beginPath();
    ctx.roundRect(left, 2, w, rulerHeight - 5, 3);
    ctx.fill();
    ctx.fillStyle = ink;
    ctx.fillText(text, left + 5, rulerHeight - 7);
  }
  return { element, draw };
}
