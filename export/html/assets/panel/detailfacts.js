// The facts of one scope, wait, hold or event, as text. Pure functions of the model.

import { extentOf } from "../model/refs.js";
import { Flag, Kind, Quality, isScope } from "../data/kinds.js";
import { ownGoroutine, processOf } from "../model/processes.js";
import { goroutineTitle } from "../model/titles.js";
import { children } from "../model/relate.js";
import { lockArgs } from "../model/waitlinks.js";
import { sampledText, usedCPUs, usedIn } from "../view/beats.js";
import { digits3, moment, thousands, wallClock } from "../view/numbers.js";

/** @import { App } from "../app.js" */

const factKinds = {
  [Kind.task]: "scope", [Kind.taskf]: "scope", [Kind.process]: "process scope: its CPU time is that of the whole process",
  [Kind.event]: "event", [Kind.pending]: "pending event", [Kind.counter]: "counter",
  [Kind.wait]: "wait", [Kind.hold]: "hold of a lock",
};

/** Returns the word for a kind. */
export function kindText(kind) {
  return factKinds[kind] || "record";
}

/** Reports whether a kind has no duration. */
export function isInstant(kind) {
  return kind === Kind.event || kind === Kind.pending || kind === Kind.counter;
}

/**
 * Returns the minimum share of a scope's CPU time, from the known times of the scopes
 * inside. It searches a few levels, and up to some thousand scopes.
 * @param {import("../model/model.js").Model} model
 * @param {import("../data/batch.js").Ref} ref
 * @returns {number} ns
 */
function cpuAtLeast(model, ref, levels = 4) {
  let sum = 0;
  for (const child of factRefs(children(model, ref, 2000))) {
    const quality = child.batch.flags[child.i] & Flag.quality;
    if (!isScope(child.batch.kind[child.i])) continue;
    if (quality === Quality.exact || quality === Quality.likely) sum += child.batch.cpu[child.i];
    else if (levels > 1) sum += cpuAtLeast(model, child, levels - 1);
  }
  return sum;
}

/** Returns the refs of a list of children, with or without additional data. */
export function factRefs(list) {
  return Array.isArray(list) ? list : list.refs || [];
}

/**
 * Returns the CPU time with its quality.
 * @param {App} app
 * @param {import("../data/batch.js").Ref} ref
 * @param {number} dur ns
 * @returns {[string, string][]}
 */
export function cpuFacts(app, ref, dur) {
  const { batch, i } = ref;
  if (batch.flags[i] & Flag.unended) return [["CPU time", "unknown until it ends"]];
  const quality = batch.flags[i] & Flag.quality;
  const cpu = batch.cpu[i];
  if (quality === Quality.unknown || Number.isNaN(cpu)) {
    return [["CPU time", "unknown: it changed threads, or no measurement was possible"]];
  }
  const ratio = (ns) => (dur > 0 ? digits3(ns / dur) : "-");
  if (quality === Quality.atMost) {
    const least = Math.min(cpu, cpuAtLeast(app.model, ref));
    return [
      ["CPU time", `at most ${app.span(cpu)}, and at least ${app.span(least)}`],
      ["CPU ÷ wall", `${ratio(least)} to ${ratio(cpu)}`],
    ];
  }
  const sure = quality === Quality.exact ? "exact" : "likely: nothing else was observed on its thread";
  return [["CPU time", `${app.span(cpu)} (${sure})`], ["CPU ÷ wall", ratio(cpu)]];
}

/** The duration below which the heartbeats say nothing of a scope, in ns. */
const shortForBeats = 1e6;

/**
 * Returns what the heartbeats say of the process during a time: its CPUs, and the cycles of the garbage collector.
 * @param {App} app @param {number} from @param {number} to
 * @returns {[string, string][]} empty: there is no heartbeat then
 */
export function processFacts(app, from, to) {
  const { beats: b = { time: [] }, cpus = 0 } = app.model.meta;
  const used = usedIn(b, (k) => usedCPUs(b, "user", k) + usedCPUs(b, "sys", k), from, to);
  if (used === null || to - from < shortForBeats) return [];
  let [least, most] = [0, 0];
  let known = b.time[0] <= from && b.time[b.time.length - 1] >= to;
  for (let k = 1; k < b.time.length; k++) {
    if (b.time[k] < from || b.time[k - 1] > to) continue;
    const cycles = b.gc?.[k];
    if (cycles === undefined || cycles === null) known = false;
    most += cycles ?? 0;
    if (b.time[k - 1] >= from && b.time[k] <= to) least += cycles ?? 0;
  }
  return [
    ["process CPUs", sampledText(used, digits3, app.time) + (cpus > 0 ? ` of ${digits3(cpus)}, by heartbeats` : ", by heartbeats")],
    ["GC cycles", `${!known ? `at least ${thousands(least)}` : least === most ? thousands(most) : `${thousands(least)} to ${thousands(most)}`}, by heartbeats`],
  ];
}

/** Returns a time in both forms: from the start, and wall-clock. */
export function bothTimes(meta, ns, step) {
  const fraction = /\.(\d+)/.exec(meta.start || "");
  const startMs = Date.parse(meta.start || "");
  const text = moment(ns, step);
  if (Number.isNaN(startMs)) return text;
  const rest = fraction ? Number(fraction[1].padEnd(9, "0").slice(3, 9)) : 0;
  return `${text}, at ${wallClock(startMs, rest, ns, step)}`;
}

/** Returns the row of an item: its key, its title, and the item's depth. */
export function rowOf(model, ref) {
  const place = model.place(ref, "goroutine");
  if (!place) return { key: 0, depth: 0, title: "unknown goroutine", named: false };
  const { row, lane } = place;
  const name = row.nameId ? model.name(row.nameId) : "";
  return { key: row.key, depth: lane.depth, title: goroutineTitle(model, row.key), named: name !== "" };
}

/**
 * Returns all facts of one item, as labels and texts.
 * @param {App} app
 * @param {import("../data/batch.js").Ref} ref
 * @param {number|null} self its self time; null: unknown
 * @returns {[string, string][]}
 */
export function factsOf(app, ref, self) {
  const { model } = app;
  const { batch, i } = ref;
  const kind = batch.kind[i];
  const flags = batch.flags[i];
  const { start } = extentOf(ref);
  const dur = batch.dur[i];
  const step = dur > 0 && dur < 1e5 ? 1 : 1e3;
  /** @type {[string, string][]} */
  const facts = [];
  const open = (flags & Flag.unended) !== 0;
  const atLeast = lockArgs(model, batch, i)?.atLeast;
  if (kind === Kind.pending && open) {
    facts.push(["announced", bothTimes(model.meta, start, step)], ["happened", "not yet"]);
  } else {
    facts.push([isInstant(kind) ? "at" : "start", bothTimes(model.meta, start, step)]);
  }
  if (!isInstant(kind)) {
    if (flags & Flag.across) facts.push(["duration", "unknown: the clock stepped during it"]);
    else facts.push(["duration", flags & Flag.left ? `never ended; its goroutine ended after ${app.span(dur)}` : open ? `not ended; running for at least ${app.span(dur)}` : `${atLeast ? "≥ " : ""}${app.span(dur)}${dur >= 1000 ? ` (${thousands(dur)} ns)` : ""}`]);
    if (isScope(kind) && self !== null && Number.isFinite(self) && !(flags & Flag.across)) facts.push(["self time", app.span(self)]);
    if (!(flags & Flag.across) && kind !== Kind.wait) facts.push(...cpuFacts(app, ref, dur));
    if (!(flags & Flag.across)) facts.push(...processFacts(app, start, start + dur));
  }
  const row = rowOf(model, ref);
  const own = ownGoroutine(model.meta, row.key);
  const numbered = row.named && own > 0 ? ` (goroutine ${own})` : "";
  facts.push(["row", row.title + numbered]);
  const process = processOf(model.meta, row.key);
  if (process) facts.push(["process", process.label + (process.host ? ` on ${process.host}` : "")]);
  if (batch.thread[i]) facts.push(["thread", `${batch.thread[i]}${isInstant(kind) ? "" : ", where it began"}`]);
  const ender = batch.endedBy.get(i);
  if (ender) facts.push(["ended by", goroutineTitle(model, ender)]);
  if (!isInstant(kind)) facts.push(["depth", row.depth === 0 ? "0, outermost" : String(row.depth)]);
  return facts;
}
