// Draws strips: rows of bars and flags, folded groups, counters. The cost depends on the
// number of pixels, not of scopes.

import { drawAnswer } from "./answerbars.js";
import { drawAwaited } from "./awaited.js";
import { baseline, drawBar, drawMerged, fillOf, isDim } from "./bar.js";
import { lowerBound } from "../data/bisect.js";
import { linkAt } from "../data/itemlinks.js";
import { colorOf } from "./color.js";
import { drawDensity } from "./density.js";
import { Kind } from "../data/kinds.js";
import { barPixels } from "../data/merge.js";
import { clockText } from "../model/processes.js";
import { span, thousands } from "./numbers.js";
import { sizes, flagHeight, tickHeight } from "./layout.js";
import { drawTrack } from "./procs.js";
import { drawShares } from "./shares.js";
import { drawLock, drawStates, drawTicks } from "./strip.js";

/**
 * The parameters of drawing.
 * @typedef {Object} Painter
 * @property {CanvasRenderingContext2D} ctx
 * @property {import("../model/model.js").Model} model
 * @property {Record<string, string>} colors
 * @property {number} from
 * @property {number} to
 * @property {number} width px
 * @property {number} scale px per ns
 * @property {Pick<import("../model/lit.js").Lit, "has"|"bins">|null} hits of the search, or the brushed items; the others are dimmed
 * @property {import("../data/batch.js").Ref|null} chosen the selected item, which a search does not dim
 * @property {number=} chosenTo index after the last item of a selected run
 * @property {string} colorBy meaning of the colours
 * @property {number} hoverName name id to emphasise, -1: none
 * @property {boolean} growing the writer runs
 * @property {CanvasPattern|null} hatch
 * @property {Map<string, number>} widths of texts
 * @property {Drawn} drawn
 * @property {boolean} flows draw arrows of all visible requests
 * @property {{batch: import("../data/batch.js").Batch, i: number}[]} linked with flows, the items that are linked to a parent
 * @property {import("./awaited.js").Awaited} awaited the visible time that is not known yet
 *
 * The drawn elements: labels, and counts.
 * @typedef {{labels: {label: string, row: string}[], bars: number, waits: number, states: number, held: number, ticks: number, holds: number, densities: number, shares: number, arrows: number, flows: number, path: number, awaited: number, answers: number}} Drawn
 */

/** @returns {Drawn} */
export function nothingDrawn() { return { labels: [], bars: 0, waits: 0, states: 0, held: 0, ticks: 0, holds: 0, densities: 0, shares: 0, arrows: 0, flows: 0, path: 0, awaited: 0, answers: 0 }; }

/** @param {Painter} p @param {import("./layout.js").Strip} strip @param {number} y */
export function drawStrip(p, strip, y) {
  switch (strip.kind) {
    case "row":
      drawRow(p, strip, y);
      break;
    case "group":
      drawDensity(p, strip, y);
      if (!strip.statesHigh) break;
      drawShares(p, strip, y + /** @type {number} */ (strip.statesAt), strip.statesHigh);
      drawAwaited(p, p.awaited.states, y + /** @type {number} */ (strip.statesAt), strip.statesHigh);
      break;
    case "process":
      p.ctx.fillStyle = p.colors["fg-dim"];
      p.ctx.fillText(processText(strip.process), 4, y + baseline());
      break;
    case "series":
      drawSeries(p, strip, y);
      break;
    case "answer":
      drawAnswer(p, /** @type {import("../model/answertrack.js").AnswerTrack} */ (strip.answer), y + 1, strip.title);
      break;
    case "lock":
      drawLock(p, strip, y);
      drawAwaited(p, p.awaited.states, y + 1, strip.h - 1);
      break;
    case "proc":
      drawTrack(p, /** @type {number} */ (strip.track), y + 1, strip.title);
      drawAwaited(p, p.awaited.derived, y + 1, strip.h - 1);
      break;
  }
}

/**
 * Returns the facts in the heading of a process besides its name.
 * @param {import("../data/meta.js").Process} process
 */
export function processText(process) {
  const { host, lost, lacks } = process;
  return [host, clockText(process, span), lost ? `${thousands(lost)} records lost` : "", lacks].filter(Boolean).join(" · ");
}

/** @param {Painter} p @param {import("./layout.js").Strip} strip @param {number} y */
function drawRow(p, strip, y) {
  let top = y + 1;
  if (strip.flags) {
    drawFlags(p, strip.row, top);
    top += flagHeight;
  }
  for (const lane of strip.lanes) {
    drawLane(p, lane, top, strip.title);
    top += sizes.line;
  }
  if (strip.track !== undefined) {
    drawTrack(p, strip.track, top, strip.title);
    drawAwaited(p, p.awaited.derived, top, sizes.line);
  }
  if (strip.states) {
    drawStates(p, strip.states, y + /** @type {number} */ (strip.statesAt), /** @type {number} */ (strip.statesHigh));
    drawAwaited(p, p.awaited.states, y + /** @type {number} */ (strip.statesAt), /** @type {number} */ (strip.statesHigh));
  }
  if (strip.ticks?.length) drawTicks(p, strip.ticks, y + strip.h - tickHeight - 1, tickHeight - 1);
}

/** The minimum width of an item with an arrow, unless its request is selected, px. */
const wideFlow = 3;

/** @param {Painter} p @param {import("../model/rowset.js").Lane} lane @param {number} y @param {string} row its title */
function drawLane(p, lane, y, row) {
  const box = { x0: 0, x1: 0, y, row };
  p.model.eachBar(lane, p.from, p.to, barPixels / p.scale, (run) => {
    const { batch, i, j } = run;
    box.x0 = (run.t0 - p.from) * p.scale;
    box.x1 = (run.t1 - p.from) * p.scale;
    p.drawn.bars++;
    if (batch.kind[i] === Kind.wait) p.drawn.waits++;
    if (p.flows && box.x1 - box.x0 >= wideFlow && j - i === 1 && batch.many(i) === 1 && linkAt(batch, i)?.parent) p.linked.push({ batch, i });
    if (j - i > 1 || batch.many(i) > 1) drawMerged(p, run, box);
    else drawBar(p, batch, i, box);
  });
}

/** @param {Painter} p @param {import("../model/rowset.js").Row} row @param {number} y */
function drawFlags(p, row, y) {
  const { ctx } = p;
  p.model.eachBar(row.flags, p.from, p.to, 3 / p.scale, ({ batch, i, j, t0 }) => {
    const x = Math.round((t0 - p.from) * p.scale) + 0.5;
    ctx.globalAlpha = isDim(p, batch, i, j) ? 0.2 : 1;
    ctx.fillStyle = p.colors.fg;
    ctx.fillRect(x - 0.5, y, 1, flagHeight);
    ctx.fillStyle = colorOf(p.model.name(batch.name[i]));
    ctx.strokeStyle = p.colors.fg;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + 7, y + 3.5);
    ctx.lineTo(x, y + 7);
    ctx.closePath();
    if (batch.kind[i] !== Kind.pending) ctx.fill();
    ctx.stroke();
    ctx.globalAlpha = 1;
  });
}

/** @param {Painter} p @param {import("./layout.js").Strip} strip @param {number} y */
function drawSeries(p, strip, y) {
  const { ctx } = p;
  const { time, value } = strip.series;
  if (time.length === 0) return;
  let lo = lowerBound(time, p.from) - 1;
  const hi = lowerBound(time, p.to);
  lo = Math.max(lo, 0);
  let min = Infinity;
  let max = -Infinity;
  for (let k = lo; k < Math.max(hi, lo + 1); k++) {
    min = Math.min(min, value[k]);
    max = Math.max(max, value[k]);
  }
  min = Math.min(min, 0);
  const h = strip.h - 4;
  const at = (/** @type {number} */ v) => y + 2 + h - (max > min ? ((v - min) / (max - min)) * (h - 2) : 1);
  ctx.fillStyle = p.colors.count;
  ctx.globalAlpha = 0.35;
  let x = Math.max(0, (time[lo] - p.from) * p.scale);
  let top = at(value[lo]);
  for (let k = lo + 1; k <= hi; k++) {
    const next = k < time.length ? Math.min(p.width, (time[k] - p.from) * p.scale) : Math.min(p.width, (p.model.end - p.from) * p.scale);
    // Of several values in one pixel the highest is shown.
    if (next - x < 1 && k < hi) {
      top = Math.min(top, at(value[k]));
      continue;
    }
    ctx.globalAlpha = 0.35;
    ctx.fillRect(x, top, next - x, y + 2 + h - top);
    ctx.globalAlpha = 1;
    ctx.fillRect(x, top, next - x, 1.5);
    x = next;
    if (k < time.length) top = at(value[k]);
  }
  ctx.globalAlpha = 1;
}
