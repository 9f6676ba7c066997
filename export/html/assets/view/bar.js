// Draws one bar: its colour, shape, CPU line and label.

import { argumentsText } from "../data/args.js";
import { colorBy } from "./colorby.js";
import { cutText, textWidth } from "./label.js";
import { withoutLink } from "../data/itemlinks.js";
import { Flag, Kind, Quality } from "../data/kinds.js";
import { sizes } from "./layout.js";

/**
 * @typedef {import("./draw.js").Painter} Painter
 * @typedef {import("../data/batch.js").Batch} Batch
 *
 * The position of a bar, in px, and its row's title.
 * @typedef {{x0: number, x1: number, y: number, row: string}} Box
 */

/** The height of a bar, and the position of its text, px. */
const barHigh = () => sizes.line - 2;
export const baseline = () => Math.round(sizes.line / 2) + 3;
/** The opacity of a bar that a search did not match: low, so that its label is readable in the page's ink. */
export const dimAlpha = 0.2;

/**
 * Creates the hatch over merged scopes, which distinguishes them from a single bar.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} color
 */
export function makeHatch(ctx, color) {
  const tile = document.createElement("canvas");
  tile.width = 4;
  tile.height = 4;
  const c = tile.getContext("2d");
  if (!c) return null;
  c.strokeStyle = color;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(-1, 5);
  c.lineTo(5, -1);
  c.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** @param {Painter} p @param {Batch} batch @param {number} i */
export function fillOf(p, batch, i) {
  switch (batch.kind[i]) {
    case Kind.wait:
      return p.colors.wait;
    case Kind.hold:
      return p.colors.hold;
  }
  return colorBy(p.model, p.colorBy, batch, i) ?? p.colors.busy;
}

/**
 * Reports whether items [i, j) do not match the search and are not selected. Their fill
 * fades into the background; their labels stay readable.
 * @param {Painter} p @param {Batch} batch @param {number} i @param {number} j
 */
export function isDim({ hits, chosen, chosenTo }, batch, i, j) {
  if (hits === null || hits.has(batch, i, j)) return false;
  return chosen === null || chosen.batch !== batch || chosen.i >= j || (chosenTo ?? chosen.i + 1) <= i;
}

/**
 * Draws several scopes that are too narrow to be drawn: in the colour of the longest,
 * hatched, with the share of the waits among them.
 * @param {Painter} p @param {import("../data/pyramid.js").Run} run @param {Box} box
 */
export function drawMerged(p, { batch, i, j, top, busy, wait }, { x0, x1, y }) {
  const { ctx } = p;
  const waits = wait / busy;
  const left = Math.max(x0, -2);
  const w = Math.max(1.5, Math.min(x1, p.width + 2) - left);
  ctx.globalAlpha = isDim(p, batch, i, j) ? 0.15 : 0.6;
  ctx.fillStyle = fillOf(p, batch, top);
  ctx.fillRect(left, y + 1, w, barHigh());
  if (waits > 0 && batch.kind[top] !== Kind.wait) {
    const h = Math.max(1, Math.round(barHigh() * Math.min(1, waits)));
    ctx.fillStyle = p.colors.wait;
    ctx.fillRect(left, y + 1 + barHigh() - h, w, h);
  }
  if (p.hits?.has(batch, i, j)) outlineHit(p, left, w, y);
  if (w >= 4 && p.hatch) {
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = p.hatch;
    ctx.fillRect(left, y + 1, w, barHigh());
  }
  ctx.globalAlpha = 1;
}

/** @param {Painter} p @param {Batch} batch @param {number} i @param {Box} box */
export function drawBar(p, batch, i, box) {
  const { ctx } = p;
  const { x0, x1, y } = box;
  const left = Math.max(x0, -3);
  const right = Math.min(x1, p.width + 3);
  const w = Math.max(1.5, right - left);
  const open = (batch.flags[i] & Flag.unended) !== 0;
  const hold = batch.kind[i] === Kind.hold;
  const dim = isDim(p, batch, i, i + 1);
  ctx.globalAlpha = dim ? dimAlpha : hold ? 0.45 : 1;
  ctx.fillStyle = fillOf(p, batch, i);
  if (open && x1 <= p.width + 3) openShape(p, left, w, y);
  else ctx.fillRect(left, y + 1, w, barHigh());
  ctx.globalAlpha = dim ? dimAlpha : 1;
  if (hold && w >= 3) {
    // Held locks are drawn as a frame with a faint fill, so that they do not obscure.
    ctx.strokeStyle = p.colors.hold;
    ctx.strokeRect(left + 0.5, y + 1.5, w - 1, barHigh() - 1);
  } else if (w >= 2 && !open) { // neighbours of one name stay apart
    ctx.fillStyle = p.colors["bar-edge"];
    ctx.fillRect(left + w - 1, y + 1, 1, barHigh());
  }
  if (p.hoverName === batch.name[i] && w >= 2) {
    ctx.strokeStyle = p.colors.accent;
    ctx.strokeRect(left + 0.5, y + 1.5, w - 1, barHigh() - 1);
  }
  if (w >= 4 && !hold) drawCPU(p, batch, i, box);
  ctx.globalAlpha = 1;
  if (p.hits?.has(batch, i)) outlineHit(p, left, w, y);
  if (w >= 22) drawLabel(p, batch, i, { ...box, x0: Math.max(left, 0), x1: right }, dim);
}

/** Frames a match of the search. @param {Painter} p @param {number} x @param {number} w @param {number} y */
function outlineHit({ ctx, colors }, x, w, y) {
  if (w < 3) return;
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.fg;
  ctx.strokeRect(x + 0.5, y + 1.5, w - 1, barHigh() - 1);
}

/**
 * Draws the end of an open scope: soft while the writer runs, torn off if the writer is gone.
 * @param {Painter} p @param {number} x @param {number} w @param {number} y
 */
function openShape(p, x, w, y) {
  const { ctx } = p;
  const edge = Math.min(p.growing ? 18 : 6, w);
  if (p.growing) {
    const fill = ctx.fillStyle;
    const alpha = ctx.globalAlpha;
    ctx.fillRect(x, y + 1, w - edge, barHigh());
    for (let k = 0; k < 6; k++) {
      ctx.globalAlpha = alpha * (1 - (k + 1) / 7);
      ctx.fillRect(x + w - edge + (k * edge) / 6, y + 1, edge / 6, barHigh());
    }
    ctx.globalAlpha = alpha;
    ctx.fillStyle = fill;
    return;
  }
  ctx.beginPath();
  ctx.moveTo(x, y + 1);
  ctx.lineTo(x + w, y + 1);
  for (let k = 1; k <= 4; k++) {
    ctx.lineTo(x + w - (k % 2 ? edge : 0), y + 1 + (k * barHigh()) / 4);
  }
  ctx.lineTo(x, y + 1 + barHigh());
  ctx.fill();
}

/**
 * Draws the CPU line in a bar: solid up to the known CPU time, hatched up to an upper bound; none if unknown.
 * @param {Painter} p @param {Batch} batch @param {number} i @param {Box} box
 */
function drawCPU(p, batch, i, { x0, x1, y }) {
  const quality = batch.quality[i];
  const dur = batch.dur[i];
  if (quality === Quality.unknown || !(dur > 0)) return;
  const end = x0 + (x1 - x0) * Math.min(1, batch.cpu[i] / dur);
  const a = Math.max(x0, 0);
  const b = Math.min(end, p.width);
  if (b - a < 1) return;
  const top = y + barHigh() - 2;
  p.ctx.fillStyle = p.colors["cpu-line"];
  if (quality !== Quality.atMost) {
    p.ctx.fillRect(a, top, b - a, 2);
    return;
  }
  for (let x = a; x < b; x += 5) p.ctx.fillRect(x, top, Math.min(2, b - x), 2);
}

/** @param {Painter} p @param {Batch} batch @param {number} i @param {Box} box what of the bar is in sight @param {boolean} dim */
function drawLabel(p, batch, i, { x0: left, x1: right, y, row }, dim) {
  const { ctx } = p;
  const room = Math.min(right, p.width) - left - 6;
  const kind = batch.kind[i];
  const hold = kind === Kind.hold;
  const name = p.model.name(batch.name[i]);
  const label = kind === Kind.wait ? `wait ${name}` : hold ? `holds ${name}` : name;
  const text = cutText(p, label, room);
  if (text === "") return;
  ctx.fillStyle = hold || dim ? p.colors.fg : p.colors["bar-text"];
  ctx.fillText(text, left + 3, y + baseline());
  p.drawn.labels.push({ label, row });
  // A lock's address is shown in the panel only.
  if (hold || kind === Kind.wait || text !== label || !batch.args[i]) return;
  const used = textWidth(p, label) + 8;
  if (room - used < 30) return;
  const rest = cutText(p, argumentsText(withoutLink(p.model.argsText(batch, i))), room - used);
  ctx.globalAlpha = dim ? 1 : 0.7;
  ctx.fillText(rest, left + 3 + used, y + baseline());
  ctx.globalAlpha = 1;
}
