// The elements over the bars: the selection, the range, the pointer's line, marks, lost
// stretches, and the arrows of the selection.

import { extentOf } from "../model/refs.js";
import { thousands } from "./numbers.js";
import { chainLinks, chainOf } from "../model/chain.js";
import { partArrows } from "../model/requests.js";
import { lockedLinks, waitingLinks } from "../model/waitlinks.js";

/** @import { App } from "../app.js" */

/**
 * @param {import("./draw.js").Painter} p
 * @param {App} app
 * @param {number} height
 * @param {(key: number, depth: number, strip?: boolean) => {y: number, h: number}|null} placeY
 */
export function drawOverlay(p, app, height, placeY) {
  const { ctx, colors } = p;
  const x = (/** @type {number} */ t) => (t - p.from) * p.scale;
  for (const [from, to] of app.model.meta.gaps ?? []) {
    const a = Math.max(0, x(from));
    const b = Math.min(p.width, Math.max(x(to), x(from) + 2));
    if (b <= a) continue;
    ctx.fillStyle = colors.loss;
    ctx.globalAlpha = 0.14;
    ctx.fillRect(a, 0, b - a, height);
    ctx.globalAlpha = 1;
    ctx.fillRect(a, 0, b - a, 3);
  }
  for (const [from, to] of app.model.meta.breaks ?? []) line(p, (x(from) + x(to)) / 2, height, colors.loss, [2, 3]);
  for (const m of app.marks) for (const t of new Set([m.from, m.to])) line(p, x(t), height, colors.accent, [4, 3]);
  const end = x(app.model.end);
  if (end < p.width) {
    // The time after the end of the data is shaded, because it is not idle time.
    ctx.fillStyle = colors.shade;
    ctx.fillRect(Math.max(0, end), 0, p.width - Math.max(0, end), height);
    line(p, end, height, app.growing ? colors.accent : colors["fg-dim"], []);
  }
  if (app.range) {
    const a = x(app.range.from);
    const b = x(app.range.to);
    ctx.fillStyle = colors.shade;
    ctx.fillRect(0, 0, Math.max(0, a), height);
    ctx.fillRect(b, 0, Math.max(0, p.width - b), height);
    line(p, a, height, colors.accent, []);
    line(p, b, height, colors.accent, []);
  }
  if (app.selection) {
    const place = app.model.place(app.selection, app.by);
    const at = place && placeY(place.key, place.depth);
    if (at && at.h > 0) {
      const { start, end: stop } = extentOf(app.selection);
      const a = Math.max(-3, x(start));
      const b = Math.min(p.width + 3, Math.max(x(stop), x(start) + 2));
      ctx.strokeStyle = colors.bg;
      ctx.lineWidth = 4;
      ctx.strokeRect(a, at.y + 1, b - a, at.h);
      ctx.strokeStyle = colors.selected;
      ctx.lineWidth = 2;
      ctx.strokeRect(a, at.y + 1, b - a, at.h);
      ctx.lineWidth = 1;
    }
  }
  if (app.stateSelection) {
    const at = placeY(app.stateSelection.key, 0, true);
    const { t0, t1 } = app.stateSelection.run;
    if (at && at.h > 0) {
      ctx.strokeStyle = colors.selected;
      ctx.lineWidth = 2;
      ctx.strokeRect(Math.max(-3, x(t0)), at.y - 1, Math.max(2, Math.min(p.width + 3, x(t1)) - Math.max(-3, x(t0))), at.h + 2);
      ctx.lineWidth = 1;
    }
  }
  if (app.cursor !== null) line(p, x(app.cursor), height, colors["fg-dim"], []);
}

/**
 * @param {import("./draw.js").Painter} p @param {number} x @param {number} height
 * @param {string} color @param {number[]} dash
 */
function line(p, x, height, color, dash) {
  if (x < 0 || x > p.width) return;
  p.ctx.strokeStyle = color;
  p.ctx.setLineDash(dash);
  p.ctx.beginPath();
  p.ctx.moveTo(Math.round(x) + 0.5, 0);
  p.ctx.lineTo(Math.round(x) + 0.5, height);
  p.ctx.stroke();
  p.ctx.setLineDash([]);
}

/**
 * Draws the arrows of the selection: from the creator of its goroutine, from the holder of its lock, from its waker,
 * and those of the whole chain of a wait; and the arrows of the wait under the pointer. All others would hide the bars.
 * @param {import("./draw.js").Painter} p
 * @param {App} app
 * @param {(key: number, depth: number, strip?: boolean) => {y: number, h: number}|null} placeY
 * @param {(key: number) => {y: number, h: number}|null} placeOrGroup position of a row, or of its folded group
 */
export function drawLinks(p, app, placeY, placeOrGroup) {
  const { ctx, colors } = p;
  if (app.by === "thread") return; // the ends are goroutines
  const pointed = app.hoverWait;
  const all = [
    ...app.selection || app.stateSelection ? [...app.links, ...chainLinks(chainOf(app.model, app.chain))] : [],
    ...pointed === null ? [] : "batch" in pointed ? waitingLinks(app.model, pointed, app.redraw) : lockedLinks(app.model, pointed),
  ];
  const requests = requestLinks(p, app);
  for (const link of [...all, ...requests.list]) {
    const depthOf = (/** @type {any} */ e) => (e.ref ? app.model.place(e.ref, app.by).depth : 0);
    const placeOf = (/** @type {any} */ e) => placeY(e.rowKey, depthOf(e), e.strip) ?? (link.kind === "request" ? placeOrGroup(e.rowKey) : null);
    const a = placeOf(link.from);
    const b = placeOf(link.to);
    if (!a || !b) continue;
    p.drawn.arrows++;
    if (link.kind === "request") p.drawn.flows++;
    const x0 = (link.from.time - p.from) * p.scale;
    const x1 = (link.to.time - p.from) * p.scale;
    const y0 = a.y + a.h / 2;
    const y1 = b.y + b.h / 2;
    ctx.strokeStyle = link.kind === "lock" || link.kind === "block" ? colors.arrow : link.kind === "wake" ? colors["state-runnable"] : link.kind === "chain" ? colors.selected : colors.accent;
    ctx.fillStyle = ctx.strokeStyle;
    ctx.lineWidth = link.kind === "chain" ? 2.5 : 1.5;
    const bend = Math.max(14, Math.min(80, Math.abs(x1 - x0) / 2));
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x1 - 7, y1 - 4);
    ctx.lineTo(x1 - 7, y1 + 4);
    ctx.fill();
    ctx.lineWidth = 1;
  }
  if (requests.note !== "") arrowNote(p, app.rows.element.clientHeight, requests.note);
}

/** The maximum number of visible scopes for which the arrows of requests are drawn. */
const mostFlows = 300;

/**
 * Returns the arrows of the requests that are selected or under the pointer, or of all visible ones.
 * @param {import("./draw.js").Painter} p @param {App} app
 */
function requestLinks(p, app) {
  const { requests } = app.model;
  /** @type {import("../model/relate.js").Link[]} */
  const list = [];
  if (!requests.any) return { list, note: "" };
  const selected = app.selection && app.selection.j === undefined ? requests.linkOf(app.selection)?.trace ?? "" : "";
  const hovered = requests.isHere(app.hoverRequest) ? app.hoverRequest : "";
  let more = 0;
  const whole = new Set([app.request, selected, hovered].filter((trace) => trace !== ""));
  for (const trace of whole) {
    const request = requests.of(trace);
    list.push(...request?.arrows ?? []);
    more += request?.more ?? 0;
  }
  for (const ref of p.linked.slice(0, mostFlows)) {
    const up = whole.has(requests.linkOf(ref)?.trace ?? "") ? null : requests.parentOf(ref);
    if (up && up.batch.lanes[up.batch.lane[up.i]].key !== ref.batch.lanes[ref.batch.lane[ref.i]].key) list.push(...partArrows(app.model, up, ref));
  }
  const note = [
    more > 0 ? `${thousands(more)} more arrows of the request are not drawn` : "",
    p.linked.length > mostFlows ? `arrows of ${mostFlows} of ${thousands(p.linked.length)} scopes in view that are part of requests` : "",
  ].filter((text) => text !== "").join("; ");
  return { list, note };
}

/**
 * Draws a note that some arrows are missing.
 * @param {import("./draw.js").Painter} p @param {number} height @param {string} text
 */
function arrowNote(p, height, text) {
  p.drawn.labels.push({ label: text, row: "" });
  const w = p.ctx.measureText(text).width + 8;
  p.ctx.fillStyle = p.colors["bg-raised"];
  p.ctx.fillRect(p.width - w, height - 16, w, 16);
  p.ctx.fillStyle = p.colors["fg-dim"];
  p.ctx.fillText(text, p.width - w + 4, height - 4);
}
