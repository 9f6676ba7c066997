// Draws the strip of states under a goroutine's bars, and the rows of locks.

import { bisect, lowerBound } from "../data/bisect.js";
import { statePixels } from "../data/merge.js";
import { shortText } from "../data/names.js";
import { baseline } from "./bar.js";
import { colorOf } from "./color.js";
import { cutText, textWidth } from "./label.js";
import { sizes, waitLine } from "./layout.js";
import { nameText } from "./make.js";
import { goroutineTitle } from "../model/titles.js";
import { stateText } from "../data/states.js";

/** @typedef {import("./draw.js").Painter} Painter */

/** @type {Map<string, boolean>} */
const darkColors = new Map();

/** Reports whether white is more readable on a colour than black. @param {string} color #rrggbb */
export function isDark(color) {
  let dark = darkColors.get(color);
  if (dark === undefined) {
    const part = (/** @type {number} */ at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2;
    dark = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) < 0.18;
    darkColors.set(color, dark);
  }
  return dark;
}

/** The width from which on a hold has a label, px. */
const labelHold = 24;
/** The minimum share of a merged stretch at which waiting for locks is shown in it. */
const lockShown = 0.01;

/** @param {Painter} p @param {import("../data/states.js").StateLane} lane @param {number} y @param {number} h */
export function drawStates(p, lane, y, h) {
  const { ctx } = p;
  const { set } = lane;
  lane.each(p.from, p.to, statePixels / p.scale, (run) => {
    const x0 = Math.max((run.t0 - p.from) * p.scale, 0);
    const x1 = Math.min((run.t1 - p.from) * p.scale, p.width);
    if (x1 <= 0 || x0 >= p.width) return;
    const name = set.nameOf(run.top);
    const w = Math.max(1, x1 - x0);
    p.drawn.states++;
    if (name === "unknown") {
      ctx.fillStyle = p.colors.line;
      ctx.fillRect(x0, y + h / 2, w, 1);
    } else {
      ctx.fillStyle = p.colors[`state-${name}`] || p.colors["state-other"];
      ctx.fillRect(x0, y, w, h);
    }
    const share = run.lock / (run.t1 - run.t0);
    if (run.top !== set.lockState && share >= lockShown) {
      // Many short waits count like a long one: they show beside the most frequent state.
      const high = Math.max(1.5, h * share);
      ctx.fillStyle = p.colors["state-lock"];
      ctx.fillRect(x0, y + h - high, w, high);
    }
    if (h >= 12 && w >= 40 && run.n === 1) {
      ctx.fillStyle = isDark(p.colors[`state-${name}`]) ? "#ffffff" : "#14171b";
      const text = stateText(name);
      if (ctx.measureText(text).width < w - 6) ctx.fillText(text, x0 + 3, y + h - 3);
    }
  });
}

/**
 * Draws the samples of a row as ticks, one per pixel.
 * @param {Painter} p @param {number[]} ticks @param {number} y @param {number} h
 */
export function drawTicks(p, ticks, y, h) {
  const s = /** @type {import("../data/samples.js").Samples} */ (p.model.samples);
  p.ctx.fillStyle = p.colors.fg;
  for (let k = firstTick(s, ticks, p.from); k < ticks.length && s.at[ticks[k]] < p.to;) {
    const x = Math.floor((s.at[ticks[k]] - p.from) * p.scale);
    p.ctx.fillRect(x, y, 1, h);
    p.drawn.ticks++;
    k = Math.max(k + 1, firstTick(s, ticks, p.from + (x + 1) / p.scale));
  }
}

/**
 * Returns the index of a row's first sample from t on.
 * @param {import("../data/samples.js").Samples} s @param {number[]} ticks @param {number} t
 */
function firstTick(s, ticks, t) { return bisect(0, ticks.length, (k) => s.at[ticks[k]] < t); }

/**
 * Returns the sample nearest to t; -1: none within near ns.
 * @param {import("../data/samples.js").Samples} s
 * @param {number[]} ticks
 * @param {number} t
 * @param {number} near
 */
export function tickAt(s, ticks, t, near) {
  const k = firstTick(s, ticks, t);
  const distance = (/** @type {number} */ i) => (i >= 0 && i < ticks.length ? Math.abs(s.at[ticks[i]] - t) : Infinity);
  const best = distance(k - 1) <= distance(k) ? k - 1 : k;
  return distance(best) <= near ? ticks[best] : -1;
}

/**
 * Draws one object's row: its holders above, the number of waiting goroutines below.
 * @param {Painter} p @param {import("./layout.js").Strip} strip @param {number} y
 */
export function drawLock(p, strip, y) {
  /** @type {import("../data/lockset.js").LockRow} */
  const l = strip.lock;
  drawHolders(p, l, y + 1, strip.title);
  drawWaiters(p, l, y + 1 + sizes.line, waitLine - 2);
}

/** @param {Painter} p @param {import("../data/lockset.js").LockRow} l @param {number} y @param {string} title */
function drawHolders(p, l, y, title) {
  const { ctx } = p;
  let until = -Infinity; // a hold that ends before this px is covered
  for (let k = lowerBound(l.ends, p.from); k < l.starts.length && l.starts[k] <= p.to; k++) {
    const x0 = Math.max((l.starts[k] - p.from) * p.scale, -2);
    const x1 = Math.min(Math.max((l.ends[k] - p.from) * p.scale, x0 + 1), p.width + 2);
    if (x1 < until + 0.5) continue;
    until = x1;
    const many = l.many[k] > 1;
    ctx.globalAlpha = many ? 0.6 : 1;
    ctx.fillStyle = l.scopes[k] < 0 ? p.colors.hold : colorOf(p.model.name(l.scopes[k]));
    ctx.fillRect(x0, y + 1, x1 - x0, sizes.line - 3);
    ctx.globalAlpha = 1;
    p.drawn.holds++;
    if (x1 - x0 < labelHold) continue;
    const label = holderText(p.model, l, k);
    const text = cutText(p, label, Math.min(x1, p.width) - Math.max(x0, 0) - 5);
    if (text === "") continue;
    ctx.fillStyle = p.colors["bar-text"];
    ctx.fillText(text, Math.max(x0, 0) + 3, y + baseline());
    p.drawn.labels.push({ label, row: title });
  }
}

/**
 * Describes the holders of a stretch.
 * @param {import("../model/model.js").Model} model
 * @param {import("../data/lockset.js").LockRow} l
 * @param {number} k
 */
export function holderText(model, l, k) {
  const name = goroutineTitle(model, l.goids[k]);
  const scope = l.scopes[k] < 0 ? "" : `, in ${nameText(model.name(l.scopes[k]))}`;
  return l.many[k] > 1 ? `${l.many[k]} holds, the longest by ${name}${scope}` : name + scope;
}

/**
 * Draws the number of waiting goroutines: the mean and, faintly, the maximum.
 * @param {Painter} p @param {import("../data/lockset.js").LockRow} l @param {number} y @param {number} h
 */
function drawWaiters(p, l, y, h) {
  const { times, counts, sums } = l;
  const most = Math.max(1, l.most);
  const first = Math.max(0, lowerBound(times, p.from) - 1);
  let from = times[first]; // begin of the pixel being summed up
  let high = 0;
  let sum = 0;
  const flush = (/** @type {number} */ to) => {
    if (high > 0) drawWaiterCount(p, { from, to, high, mean: sum / Math.max(1, to - from) }, most, y, h);
    from = to;
    high = sum = 0;
  };
  for (let k = first; k < times.length && times[k] <= p.to; k++) {
    const next = k + 1 < times.length ? times[k + 1] : times[k];
    const wide = (next - times[k]) * p.scale >= 1;
    if (wide) flush(times[k]);
    high = Math.max(high, counts[k]);
    sum += sums[k];
    if (wide || (next - from) * p.scale >= 1) flush(next);
  }
  flush(from + 1 / p.scale);
}

/**
 * @param {Painter} p @param {{from: number, to: number, high: number, mean: number}} some the maximum and the mean number of waiting goroutines
 * @param {number} most of the whole row @param {number} y @param {number} h
 */
function drawWaiterCount(p, { from, to, high, mean }, most, y, h) {
  const x = Math.max(0, (from - p.from) * p.scale);
  const w = Math.max(1, Math.min(p.width, (to - p.from) * p.scale) - x);
  for (const [n, color] of /** @type {[number, string][]} */ ([[high, p.colors["wait-soft"]], [mean, p.colors.wait]])) {
    const up = Math.max(1.5, h * Math.min(1, n / most));
    p.ctx.fillStyle = color;
    p.ctx.fillRect(x, y + h - up, w, up);
  }
  if (w < 14 || textWidth(p, String(high)) > w - 4) return;
  p.ctx.fillStyle = h * (high / most) >= 12 ? p.colors["bar-text"] : p.colors.fg;
  p.ctx.fillText(String(high), x + 3, y + h - 3);
}

/**
 * Returns the maximum number of waiting goroutines at a time.
 * @param {import("../data/lockset.js").LockRow} l @param {number} t
 */
export function waitersAt(l, t) {
  const k = lowerBound(l.times, t + 1) - 1;
  return k < 0 ? 0 : l.counts[k];
}

/**
 * Returns the stretch in which a lock was held at t, or within near; -1: none.
 * @param {import("../data/lockset.js").LockRow} l @param {number} t @param {number} near ns
 */
export function heldAt(l, t, near) {
  const k = lowerBound(l.ends, t - near);
  return k < l.starts.length && l.starts[k] <= t + near ? k : -1;
}
