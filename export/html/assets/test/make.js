// Containers and models for the tests, made of plain lists.

import { Model } from "../model/model.js";

/**
 * A tile of items [key, depth, name, kind, start, dur, more]; depth "i": an
 * instant. more: {quality, cpu, open, across, thread, args, count, busy}.
 */
export function container(items, { names = [""], rowNames = {}, meta = {}, tile = {}, open, series = [], gos = [] } = {}) {
  const rows = [];
  const rowAt = new Map();
  for (const [key] of [...items].sort((a, b) => a[4] - b[4])) {
    if (!rowAt.has(key)) rowAt.set(key, rows.push([key, rowNames[key] ?? 0]) - 1);
  }
  const d = (x) => x[1] === "i" ? 255 : x[1];
  const sorted = [...items].sort((a, b) => rowAt.get(a[0]) - rowAt.get(b[0]) || d(a) - d(b) || a[4] - b[4]);
  const lanes = [];
  const strings = [""];
  const col = { start: [], dur: [], slack: [], kind: [], flags: [], name: [], thread: [], args: [], count: [], busy: [] };
  for (const x of sorted) {
    const [key, , name, kind, start, dur, more = {}] = x;
    const last = lanes.at(-1);
    if (last && last[0] === rowAt.get(key) && last[1] === d(x)) last[2]++;
    else lanes.push([rowAt.get(key), d(x), 1]);
    const quality = more.quality ?? 0;
    col.start.push(start);
    col.dur.push(dur);
    col.slack.push(quality ? dur - more.cpu : 0);
    col.kind.push(kind);
    col.flags.push(quality | (more.open ? 4 : 0) | (more.across ? 8 : 0));
    col.name.push(name);
    col.thread.push(more.thread ?? 0);
    let text = 0;
    if (more.args) text = strings.includes(more.args) ? strings.indexOf(more.args) : strings.push(more.args) - 1;
    col.args.push(text);
    col.count.push(more.count ?? 1);
    col.busy.push(more.busy ?? dur);
  }
  const columns = new Map([
    ["laneRow", Uint32Array.from(lanes, (l) => l[0])], ["laneDepth", Uint32Array.from(lanes, (l) => l[1])], ["laneCount", Uint32Array.from(lanes, (l) => l[2])],
    ["start", Float64Array.from(col.start)], ["dur", Float64Array.from(col.dur)], ["slack", Float64Array.from(col.slack)],
    ["kind", Uint8Array.from(col.kind)], ["flags", Uint8Array.from(col.flags)], ["name", Uint32Array.from(col.name)],
    ["thread", Uint32Array.from(col.thread)], ["args", Uint32Array.from(col.args)],
    ["goChild", Uint32Array.from(gos, (g) => g[0])], ["goCreator", Uint32Array.from(gos, (g) => g[1])],
    ["goCreated", Uint32Array.from(gos, (g) => g[2])], ["goStart", Uint32Array.from(gos, (g) => g[3])],
    ["seriesName", Uint32Array.from(series, (s) => s[0])], ["seriesCount", Uint32Array.from(series, (s) => s[1].length)],
    ["seriesTime", Float64Array.from(series.flatMap((s) => s[1].map((p) => p[0])))], ["seriesValue", Float64Array.from(series.flatMap((s) => s[1].map((p) => p[1])))],
  ]);
  if (tile.res > 0) {
    columns.set("count", Uint32Array.from(col.count));
    columns.set("busy", Float64Array.from(col.busy));
  }
  const end = items.reduce((t, x) => Math.max(t, x[4] + x[5]), 0);
  const header = { meta: { names, end, writer: "closed", ...meta }, tile: { from: 0, to: end, res: 0, strings, rows, ...tile } };
  if (open) header.open = open;
  return { header, columns };
}

/** A model of such items. */
export function modelOf(items, options = {}) {
  const model = new Model({ home: "file", whole: async () => null, ...options.source });
  model.replace(container(items, options));
  return model;
}

/** The states of statesOf. */
export const stateNames = ["unknown", "cpu", "runnable", "lock", "sleep", "channel", "syscall"];

/** Columns of states: rows are [goid, start, [state, dur, more]…]. */
export function statesOf(rows, header = {}) {
  const items = rows.flatMap(([, , ...list]) => list);
  const col = (key, missing) => Uint32Array.from(items, (x) => x[2]?.[key] ?? missing(x));
  const columns = new Map([
    ["stateGoid", Uint32Array.from(rows, (r) => r[0])], ["stateCount", Uint32Array.from(rows, (r) => r.length - 2)],
    ["stateStart", Float64Array.from(rows, (r) => r[1])], ["stateFunc", Uint32Array.from(rows, () => 0)], ["stateSystem", Uint8Array.from(rows, (r) => (r[0] > 100 ? 1 : 0))],
    ["state", Uint8Array.from(items, (x) => x[0])], ["stateDur", Uint32Array.from(items, (x) => x[1])],
    ["stateReason", col("reason", () => 0)], ["stateThread", col("thread", () => 0)], ["stateStack", col("stack", () => 0)],
    ["stateBy", col("by", () => 0)], ["stateByStack", col("byStack", () => 0)],
    ["stateMany", col("many", () => 1)], ["stateTop", col("top", (x) => x[1])], ["stateLock", col("lock", (x) => (x[0] === 3 ? x[1] : 0))],
  ]);
  const end = Math.max(...rows.map(([, start, ...list]) => list.reduce((t, x) => t + x[1], start)));
  return { header: { states: { from: 0, to: end, res: 0, names: stateNames, frames: ["", "sync.lock m.go:1", "main.f f.go:2"], stacks: [[], [1, 2]], reasons: ["", "sync"], ...header } }, columns };
}

/** Columns of locks: rows are {name, addr, kind, held: [start, dur, goid, scope, many, flags]…, steps: [time, count]…}; scope is a name's id. */
export function locksOf(rows, res = 0) {
  const held = rows.flatMap((r) => r.held ?? []);
  const steps = rows.flatMap((r) => r.steps ?? []);
  const columns = new Map([
    ["holdStart", Float64Array.from(held, (h) => h[0])], ["holdDur", Float64Array.from(held, (h) => h[1])], ["holdGoid", Uint32Array.from(held, (h) => h[2])],
    ["holdScope", Uint32Array.from(held, (h) => (h[3] ?? -1) + 1)], ["holdMany", Uint32Array.from(held, (h) => h[4] ?? 1)], ["holdFlags", Uint8Array.from(held, (h) => h[5] ?? 0)],
    ["waitTime", Float64Array.from(steps, (s) => s[0])], ["waitCount", Uint32Array.from(steps, (s) => s[1])], ["waitSum", Uint32Array.from(steps, () => 0)],
  ]);
  const locks = rows.map((r) => ({ name: r.name, addr: r.addr, kind: r.kind ?? "mutex", waits: 0, wait: 0, waitMax: 0, holds: 0, hold: 0, holdMax: 0, most: 0, held: r.held?.length ?? 0, steps: r.steps?.length ?? 0 }));
  return { header: { locks: { from: 0, to: 0, res, locks } }, columns };
}

/** Numbers that look random and are the same every time. */
export function randomly(seed) {
  let s = seed >>> 0 || 1;
  return (n) => {
    s ^= s << 13; s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5; s >>>= 0;
    return s % n;
  };
}

/** All that eachBar visits. */
export function barsOf(model, lane, from, to, res) {
  const bars = [];
  model.eachBar(lane, from, to, res, (run) => bars.push({ ...run }));
  return bars;
}
