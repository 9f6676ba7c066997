// Facts about states and locks, as label and text.

import { shortFunc, shortText } from "../data/names.js";
import { stateText } from "../data/states.js";
import { explain } from "../model/explain.js";
import { goroutineTitle } from "../model/titles.js";
import { heldAt, holderText, waitersAt } from "./strip.js";
import { nameText, pluralText } from "./make.js";
import { percentText, thousands } from "./numbers.js";

/** @import { App } from "../app.js" */
/** @import { Model } from "../model/model.js" */

/** The value of what the server has and the page does not have yet. */
export const notLoaded = "not loaded yet";

/** The number of functions of a stack in the pop-up. */
export const popupFrames = 8;

/**
 * Returns the run of a strip of states at a time.
 * @param {import("../data/states.js").StateLane} lane @param {number} t @param {number} res ns
 * @returns {import("../data/states.js").StateRun|null}
 */
export function stateAt(lane, t, res) {
  /** @type {import("../data/states.js").StateRun|null} */
  let found = null;
  lane.each(t - res, t + res, res, (run) => {
    if (run.t0 <= t && t < run.t1) found = { ...run };
  });
  return found;
}

/** Describes a wait. @param {import("../model/explain.js").Wait} wait */
function waitText({ name, state }) { return name ? `waits for ${name}` : stateText(state).replace(/^waiting/, "waits"); }

/**
 * Describes a part of a wait: its holder, and the kind of part.
 * @param {Model} model @param {import("../model/explain.js").WaitPart} part
 */
export function partText(model, { kind, key, scope, state, many }) {
  const who = `${goroutineTitle(model, key)}${scope < 0 ? "" : `, in ${nameText(model.name(scope))}`}`;
  switch (kind) {
    case "shared": return `${pluralText(many, "hold")} of readers, who share it; the longest by ${who}`;
    case "merged": return `${pluralText(many, "hold")}, merged here; the longest by ${who}`;
    case "atMost": return `at most ${who}`;
    case "waker": return `until woken by ${who}`;
    case "own": return `no other goroutine: itself ${stateText(state)}`;
    case "unknown": return "unknown";
  }
  return who;
}

/**
 * Returns one line with the holders during a wait and the number of waiting goroutines.
 * @param {App} app @param {import("../model/explain.js").Wait} wait
 */
export function heldByText(app, wait) {
  const { parts, queue, wanted } = explain(app.model, wait, false);
  const known = parts.filter((p) => p.kind !== "own" && p.kind !== "unknown");
  const holds = known.filter((p) => p.kind !== "waker");
  const holders = holds.length > 0 ? holds : known;
  const share = (/** @type {import("../model/explain.js").WaitPart} */ p) => `${p.kind === "atMost" ? "≤ " : ""}${percentText(p.ns / Math.max(1, wait.to - wait.from))}`;
  const short = (/** @type {import("../model/explain.js").WaitPart} */ p) => partText(app.model, p.kind === "atMost" ? { ...p, kind: "hold" } : p);
  const list = holders.slice(0, 2).map((p) => `${short(p)} (${share(p)})`);
  if (holders.length > 2) list.push(`and ${pluralText(holders.length - 2, "other")}`);
  return `${list.join("; ") || (wanted ? notLoaded : "unknown")}${queue ? `; ${queue.exact ? "" : "at most "}${queue.max} waiting` : ""}`;
}

/**
 * Describes one goroutine of a chain of waits.
 * @param {Model} model @param {import("../model/chain.js").ChainStep[]} steps @param {number} k
 */
export function stepText(model, steps, k) {
  const { key, part, object, wait, root } = steps[k];
  const had = part === null ? "" : part.kind === "waker" ? " woke it" : ` ${part.kind === "atMost" ? "held" : "holds"} ${object || "it"}`;
  const does = wait ? waitText(wait) : root;
  return `${goroutineTitle(model, key)}${had}${had && does ? "," : ""}${does ? ` ${does}` : ""}`;
}

/**
 * Describes the end of a chain of waits.
 * @param {Model} model @param {import("../model/chain.js").ChainStep[]} steps
 */
export function rootText(model, steps) {
  const { key, wait, activity, activityShare, root } = steps[steps.length - 1];
  return `root: ${goroutineTitle(model, key)}${wait ? ` ${waitText(wait)}` : ""}, ${root}${activity && !wait && activityShare < 0.95 ? `, ${percentText(activityShare)} of the time` : ""}`;
}

/**
 * Returns a stack's functions, with a note if they were truncated.
 * @param {import("../data/states.js").StateSet} set @param {number} stack @param {number} most
 */
function stackText(set, stack, most) {
  const list = set.stackOf(stack);
  return list.length > most ? [...list.slice(0, most), `… ${list.length - most} more`] : list;
}

/**
 * @param {App} app @param {import("../data/states.js").StateSet} set @param {import("../data/states.js").StateRun} run
 * @param {number} most functions of a stack
 * @returns {[string, string|null][]}
 */
export function stateFacts(app, set, run, most) {
  const k = run.i;
  const dur = run.t1 - run.t0;
  const single = run.n === 1;
  const name = set.nameOf(run.top);
  const reason = run.j - run.i === 1 ? set.reasons[set.reason[k]] : "";
  const stack = run.j - run.i === 1 ? stackText(set, set.stack[k], most) : [];
  const by = run.j - run.i === 1 ? set.by[k] : 0;
  const where = by ? set.stackOf(set.byStack[k]).find((/** @type {string} */ f) => !/^(runtime|internal\/|sync\b)/.test(f)) : "";
  return [
    ["start", app.time(run.t0)],
    [single ? "duration" : "over", app.span(dur)],
    ["most of it", single ? null : `${stateText(name)}, ${percentText(run.time / dur)}`],
    ["CPU", name === "running" && !set.switches ? "unknown whether its thread was on a CPU" : null],
    ["locks", single || run.lock === 0 || name === "lock" ? null : `waiting for locks, ${percentText(run.lock / dur)}`],
    ["reason", reason || null],
    ["at", stack.length > 0 ? stack.join("\n") : null],
    ["woken by", by ? goroutineTitle(app.model, by) + (where ? ` in ${where}` : "") : null],
    ["thread", single && run.j - run.i === 1 && set.thread[k] ? String(set.thread[k]) : null],
  ];
}

/**
 * Describes a sample: a title and facts.
 * @param {App} app @param {number} i index into the model's samples
 * @returns {[string, [string, string|null][]]}
 */
export function sampleFacts(app, i) {
  const s = /** @type {import("../data/samples.js").Samples} */ (app.model.samples);
  const metric = s.metrics[s.metric[i]];
  const value = metric.unit === "nanoseconds" ? app.span(s.value[i]) : thousands(s.value[i]);
  const frames = s.frames(s.stack[i]).map((f) => {
    const place = s.frameLine[f] ? ` ${s.files[s.frameFile[f]]}:${s.frameLine[f]}` : "";
    return shortFunc(s.funcs[s.frameFunc[f]]) + place;
  });
  const stack = frames.length > popupFrames ? [...frames.slice(0, popupFrames), `… ${frames.length - popupFrames} more`] : frames;
  const scope = s.in[i] ? app.model.name(s.inName[s.in[i]]) : "";
  return [s.over[i] ? "samples, merged" : "a sample", [
    ["at", app.time(s.at[i])], ["over", s.over[i] ? app.span(s.over[i]) : null], [metric.name, value], ["in scope", scope || null], ["stack", stack.join("\n")],
  ]];
}

/**
 * Returns the title of a stretch of states.
 * @param {import("../data/states.js").StateSet} set
 * @param {import("../data/states.js").StateRun} run
 */
export function stateTitle(set, run) {
  return run.n === 1 ? stateText(set.nameOf(run.top)) : `${thousands(set.intervalCount(run))} states, each too short to show`;
}

/** Describes the lock of a wait or a hold. @param {{addr: string, kind: string, shared: boolean}} lock */
export function lockText(lock) { return `${lock.kind}${lock.shared ? ", with other readers" : ""}${lock.addr ? ` at ${lock.addr}` : ""}`; }

/** @param {App} app @param {import("../data/lockset.js").LockRow} l @returns {[string, string][]} */
export function lockFacts(app, l) {
  /** @type {[string, string][]} */
  const facts = [["kind", l.kind], ["address", l.addr]];
  facts.push(["waits", l.waits === 0 ? "none recorded" : `${thousands(l.waits)}, ${app.span(l.wait)} in total, the longest ${app.span(l.waitMax)}, at most ${l.most} at once`]);
  if (l.counted) {
    const had = l.counted.had < 0 ? "an unknown number" : thousands(l.counted.had);
    const short = l.counted.short > 0 ? `; ${thousands(l.counted.short)} waits, ${app.span(l.counted.brief)} in total, were too short to be recorded` : "";
    facts.push(["acquisitions", `${had}; ${thousands(l.counted.not)} of them had to wait${short}`]);
  }
  facts.push(["holds", l.holds === 0 ? "none recorded" : `${thousands(l.holds)}, ${app.span(l.hold)} in total, the longest ${app.span(l.holdMax)}`]);
  return facts;
}

/**
 * Returns the facts of a lock's row at a time.
 * @param {App} app @param {import("../data/lockset.js").LockRow} l @param {number} t @param {number} near ns
 * @returns {[string, string][]}
 */
export function lockNow(app, l, t, near) {
  if (app.model.waits.awaited(t, t + 1, false).length > 0) return [["held by", notLoaded], ["waiting", notLoaded]];
  const k = heldAt(l, t, near);
  /** @type {[string, string][]} */
  const facts = [];
  if (k >= 0) {
    facts.push(["held by", holderText(app.model, l, k)], ["from", app.time(l.starts[k])], ["for", app.span(l.ends[k] - l.starts[k])]);
    if (l.shared[k]) facts.push(["mode", "shared with other readers"]);
  } else {
    facts.push(["held by", "no known holder"]);
  }
  facts.push(["waiting", String(waitersAt(l, t))]);
  return facts;
}
