// The rows of Go's processors and of threads: the goroutines on them, and their scopes.

import { isDark } from "./strip.js";
import { baseline, fillOf } from "./bar.js";
import { cutText } from "./label.js";
import { sizes } from "./layout.js";
import { percentText, thousands } from "./numbers.js";
import { goroutineTitle } from "../model/titles.js";
import { stateAt } from "./waitfacts.js";
import { barPixels, statePixels } from "../data/merge.js";
import { stateText } from "../data/states.js";
import { scopesDuring, whatCameNext } from "../model/procs.js";
import { same } from "../model/refs.js";

/**
 * @import { App } from "../app.js"
 * @typedef {import("./draw.js").Painter} Painter
 * @typedef {import("../data/states.js").StateRun} StateRun
 */

/** The width from which on scopes are drawn one by one, and the one from which on they have labels, px. */
const wideHeld = 3;
const labelHeld = 26;
const trackHigh = () => sizes.line - 3;
/** The height of the line that marks a state other than computing. */
const stateLine = 4;

/** States whose colour the bar has; in the others it has the scope's. */
const ownColor = new Set(["syscall", "blocked", "gc"]);

/** @param {Painter} p @param {number} key of the track @param {number} y @param {string} row its title */
export function drawTrack(p, key, y, row) {
  const set = p.model.waits.tracks;
  set?.lanes.get(key)?.each(p.from, p.to, statePixels / p.scale, (run) => {
    const x0 = Math.max((run.t0 - p.from) * p.scale, 0);
    const x1 = Math.min((run.t1 - p.from) * p.scale, p.width);
    const name = set.nameOf(run.top);
    if (x1 <= x0) return;
    p.drawn.held++;
    if (run.n > 1) return drawShare(p, name, run, x0, Math.max(1, x1 - x0), y);
    if (name === "idle") return;
    if (name === "unknown") {
      p.ctx.fillStyle = p.colors.line;
      p.ctx.fillRect(x0, y + trackHigh() / 2, x1 - x0, 1);
    } else if (x1 - x0 < wideHeld) {
      p.ctx.fillStyle = stateColor(p, name);
      p.ctx.fillRect(x0, y, Math.max(1, x1 - x0), trackHigh());
    } else {
      drawHeld(p, name, set.by[run.i], run, { x0, x1, y, row });
    }
  });
}

/** @param {Painter} p @param {string} name of a state */
function stateColor(p, name) { return p.colors[`state-${name}`] || p.colors["state-other"]; }

/**
 * Draws a merged run: the most frequent state, or the busy rest if that is idle, as high as its share.
 * @param {Painter} p
 * @param {string} name
 * @param {StateRun} run
 * @param {number} x
 * @param {number} w
 * @param {number} y
 */
function drawShare(p, name, run, x, w, y) {
  const idle = name === "idle" || name === "unknown";
  const share = run.time / (run.t1 - run.t0);
  const h = trackHigh() * (idle ? 1 - share : share);
  p.ctx.fillStyle = idle ? p.colors.busy : stateColor(p, name);
  p.ctx.fillRect(x, y + trackHigh() - h, w, h);
}

/**
 * Draws one goroutine's time, scope by scope.
 * @param {Painter} p @param {string} name of the state @param {number} goid @param {StateRun} run @param {import("./bar.js").Box} box
 */
function drawHeld(p, name, goid, run, { x0, x1, y, row }) {
  const { ctx, model } = p;
  const who = goroutineTitle(model, goid);
  for (const piece of scopesDuring(model, goid, Math.max(run.t0, p.from), Math.min(run.t1, p.to), barPixels / p.scale)) {
    const a = Math.max(x0, (piece.t0 - p.from) * p.scale);
    const b = Math.min(x1, (piece.t1 - p.from) * p.scale);
    const scope = piece.ref && model.name(piece.ref.batch.name[piece.ref.i]);
    ctx.fillStyle = ownColor.has(name) ? stateColor(p, name) : piece.ref === null ? p.colors.busy : fillOf(p, piece.ref.batch, piece.ref.i);
    ctx.globalAlpha = piece.n > 1 ? 0.6 : 1;
    ctx.fillRect(a, y, b - a, trackHigh());
    ctx.globalAlpha = 1;
    if (name !== "cpu" && name !== "running") {
      ctx.fillStyle = stateColor(p, name);
      ctx.fillRect(a, y + trackHigh() - stateLine, b - a, stateLine);
    }
    if (p.chosen && same(piece.ref, p.chosen)) {
      ctx.strokeStyle = p.colors.selected;
      ctx.strokeRect(a + 0.5, y + 0.5, b - a - 1, trackHigh() - 1);
    }
    if (b - a < labelHeld) continue;
    const label = scope === null ? who : piece.n > 1 ? `${who}: ${piece.n} scopes` : `${who}: ${scope || "(no name)"}`;
    ctx.fillStyle = ownColor.has(name) && isDark(stateColor(p, name)) ? "#ffffff" : p.colors["bar-text"];
    const text = cutText(p, label, b - a - 5);
    if (text === "") continue;
    ctx.fillText(text, a + 3, y + baseline() - 1);
    p.drawn.labels.push({ label, row });
  }
}

/**
 * Returns the run of a track at a time.
 * @param {import("../model/model.js").Model} model
 * @param {number} key
 * @param {number} t
 * @param {number} scale px per ns
 * @returns {StateRun|null}
 */
export function heldOn(model, key, t, scale) {
  const lane = model.waits.tracks?.lanes.get(key);
  return lane ? stateAt(lane, t, statePixels / scale) : null;
}

/**
 * @param {App} app @param {import("./layout.js").Strip} strip @param {StateRun} run
 * @returns {[title: string, facts: [string, string|null][]]}
 */
export function heldFacts(app, strip, run) {
  const set = /** @type {import("../data/states.js").StateSet} */ (app.model.waits.tracks);
  const name = set.nameOf(run.top);
  const goid = run.n > 1 ? 0 : set.by[run.i];
  const when = (/** @type {number} */ from, /** @type {number} */ to) => /** @type {[string, string][]} */ ([["since", app.time(from)], [run.n > 1 ? "over" : "for", app.span(to - from)], ["on", strip.title]]);
  if (run.n > 1) return [`${thousands(set.intervalCount(run))} intervals, each too short to show`, [["most of it", `${stateText(name)}, ${percentText(run.time / (run.t1 - run.t0))}`], ...when(run.t0, run.t1)]];
  if (goid === 0) return [name === "idle" ? "idle: no goroutine ran on it" : "not recorded", when(run.t0, run.t1)];
  const { from, to, states } = wholeStretch(set, /** @type {number} */ (strip.track), run.i);
  const who = goroutineTitle(app.model, goid);
  const scopes = scopesDuring(app.model, goid, from, to, (to - from) / 100).map(({ ref, n }) => (ref === null ? "" : n > 1 ? `${n} short ones` : app.model.name(ref.batch.name[ref.i]) || "(no name)"));
  const known = [...new Set(scopes.filter((s) => s !== ""))];
  const did = [...states].sort((a, b) => b[1] - a[1]).map(([state, ns]) => stateText(state) + (states.size > 1 ? ` ${percentText(ns / (to - from))}` : ""));
  return [known.length === 1 ? `${who}: ${known[0]}` : who, [
    ["goroutine", String(goid)], ["scope", known.length === 0 ? "none" : known.length > 6 ? `${known.slice(0, 6).join(", ")}, …` : known.join(", ")],
    ["states", did.join(", ")], ["", name === "syscall" || name === "blocked" ? "a system call may lose its processor before its end" : null], ...when(from, to), ["then", nextText(app, goid, to)],
  ]];
}

/**
 * Returns the whole stretch of a goroutine on a track with its time by state: the system may
 * have preempted the thread in between.
 * @param {import("../data/states.js").StateSet} set @param {number} key @param {number} i an item of it
 */
function wholeStretch(set, key, i) {
  const lane = /** @type {import("../data/states.js").StateLane} */ (set.lanes.get(key));
  const alike = (/** @type {number} */ k) => set.by[k] === set.by[i] && (set.count === null || set.count[k] === 1);
  let [a, b] = [i, i + 1];
  while (a > lane.from && alike(a - 1)) a--;
  while (b < lane.to && alike(b)) b++;
  const states = /** @type {Map<string, number>} */ (new Map());
  for (let k = a; k < b; k++) states.set(set.nameOf(set.state[k]), (states.get(set.nameOf(set.state[k])) ?? 0) + set.dur[k]);
  return { from: set.start[a], to: set.start[b - 1] + set.dur[b - 1], states };
}

/** Returns why a goroutine left the track. @param {App} app @param {number} goid @param {number} end */
function nextText(app, goid, end) {
  const next = whatCameNext(app.model, goid, end);
  if (next === null) return end >= (app.model.waits.lane(goid)?.last ?? Infinity) ? "the goroutine or the recording ended" : "unknown at this zoom";
  const text = next.state === "runnable" ? "preempted or yielded: waiting for a processor" : stateText(next.state);
  return `${text}${next.reason ? ` (${next.reason})` : ""}${next.at ? `\n${next.at}` : ""}`;
}

/** Selects the state of the goroutine that a track shows. @param {App} app @param {StateRun} run */
export function selectHeld(app, run) {
  const goid = run.n > 1 ? 0 : app.model.waits.tracks?.by[run.i] ?? 0;
  const lane = goid ? app.model.waits.lane(goid) : null;
  const of = lane && stateAt(lane, (run.t0 + run.t1) / 2, 0);
  if (lane && of) app.selectState({ key: goid, title: goroutineTitle(app.model, goid), set: lane.set, run: of });
  else app.announce(run.n > 1 ? "zoom in to separate the goroutines" : "no goroutine ran on it then");
}
