import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fromBase64, inflate, readContainer } from "../data/columns.js";
import { modelOf, randomly } from "./make.js";
import { StateSet } from "../data/states.js";
import { countSteps, newCounts } from "../model/counts.js";
import { trackKey, trackSteps } from "../model/tracks.js";
import { otherThreads } from "../model/waits.js";
import { scopesDuring, whatCameNext } from "../model/procs.js";
import { atOnce } from "../data/slices.js";
import { sampledIn, sampledText, usedIn, usedCPUs } from "../view/beats.js";
import { countsText } from "../view/countplot.js";
import { layoutRows, newChoices } from "../view/layout.js";
import { niceBytes, niceNumber } from "../view/plot.js";
import { heldFacts, heldOn } from "../view/procs.js";

const tracksOf = (set) => atOnce(trackSteps(set));
const countsOf = (set) => atOnce(countSteps(set));
const names = ["unknown", "cpu", "preempted", "runnable", "syscall", "lock", "gc"];
const [unknown, cpu, preempted, runnable, syscall, lock, gc] = names.keys();

/** Columns of states: items are [goid, from, to, state, processor or -1, thread, {stack, reason}], those of a goroutine follow each other. */
function heldStates(items, header = {}, more = []) {
  const rows = [];
  for (const x of items) {
    if (rows.at(-1)?.[0][0] === x[0]) rows.at(-1).push(x);
    else rows.push([x]);
  }
  const of = (f) => Uint32Array.from(items, f);
  const zero = () => of(() => 0);
  const columns = new Map([
    ["stateGoid", Uint32Array.from(rows, ([x]) => x[0])], ["stateCount", Uint32Array.from(rows, (r) => r.length)], ["stateStart", Float64Array.from(rows, ([x]) => x[1])],
    ["stateFunc", Uint32Array.from(rows, () => 0)], ["stateSystem", Uint8Array.from(rows, ([x]) => (x[0] > 100 ? 1 : 0))],
    ["state", Uint8Array.from(items, (x) => x[3])], ["stateDur", of((x) => x[2] - x[1])], ["stateThread", of((x) => x[5] ?? 0)], ["stateProc", of((x) => (x[4] ?? -1) + 1)],
    ["stateReason", of((x) => x[6]?.reason ?? 0)], ["stateStack", of((x) => x[6]?.stack ?? 0)], ["stateBy", zero()], ["stateByStack", zero()], ...more,
  ]);
  const end = Math.max(...items.map((x) => x[2]));
  return { header: { states: { from: 0, to: end, res: 0, names, known: [[0, end]], procs: 2, frames: ["", "sync.lock m.go:1", "main.f f.go:2"], stacks: [[], [1, 2]], reasons: ["", "sync"], ...header } }, columns };
}

const setOf = (items, header) => {
  const c = heldStates(items, header);
  return new StateSet(c.header.states, c.columns);
};

/** Returns tracks as lines, in the format of the Go side's test. */
function linesOf(set) {
  return [...set.lanes.values()].map((lane) => {
    const list = [];
    lane.each(-Infinity, Infinity, 0, (r) => list.push(`${r.t0} ${set.nameOf(r.top)}${set.by[r.i] ? ` of ${set.by[r.i]}` : ""}`));
    return `${lane.key % 2 ? "thread" : "processor"} ${lane.key >> 1}: ${list.join(", ")}, ${lane.last}`;
  });
}

const twoProcs = [
  [1, 0, 100, cpu, 0, 11], [1, 100, 150, lock, -1, 0, { stack: 1, reason: 1 }], [1, 150, 200, cpu, 1, 12],
  [2, 60, 100, runnable], [2, 100, 160, syscall, 0, 11],
  [3, 120, 140, cpu, 0, 13], [3, 140, 180, runnable], [3, 180, 190, cpu, 0, 13], [3, 190, 600, unknown], [3, 600, 640, cpu, 0, 13],
];

// The same states twice, without and with the Go side's tracks and counts: see TestStateFixtures in internal/timeline.
for (const [k, f] of JSON.parse(readFileSync(new URL("states.json", import.meta.url), "utf8")).entries()) {
  test(`tracks and counts are those of the tool: ${k}`, async () => {
    const read = async (container) => {
      const { header, columns } = readContainer(await inflate(fromBase64(container)));
      return new StateSet(header.states, columns);
    };
    const [own, tools] = [await read(f.Exact), await read(f.Merged)];
    assert.deepEqual(linesOf(tracksOf(own)), linesOf(tracksOf(tools)));
    const exact = countsOf(own);
    let bins = 0;
    for (const { time, values, n } of countsOf(tools)) {
      for (let b = 0; b < n; b++, bins++) {
        const at = exact.find((c) => c.stepAt(time[b]) >= 0)?.between(time[b], time[b + 1]);
        assert.deepEqual(at?.mean ?? [0, 0, 0], values.map((v) => v[b]), `from ${time[b]} to ${time[b + 1]}`);
      }
    }
    assert.ok(bins > 100);
  });
}

test("beside merged states there are tracks of their own", () => {
  const more = [
    ["stateMany", Uint32Array.of(9)], ["stateTop", Uint32Array.of(50)], ["stateLock", Uint32Array.of(0)],
    ["trackKey", Uint32Array.of(0, 23)], ["trackCount", Uint32Array.of(2, 1)], ["trackStart", Float64Array.of(10, 20)], ["track", Uint8Array.of(cpu, names.length, cpu)],
    ["trackDur", Uint32Array.of(50, 30, 8)], ["trackBy", Uint32Array.of(7, 0, 7)], ["trackMany", Uint32Array.of(4, 1, 1)], ["trackTop", Uint32Array.of(40, 30, 8)],
    ["countRunning", Uint32Array.of(64, 96)], ["countReady", Uint32Array.of(0, 64)], ["countBlocked", Uint32Array.of(128, 32)],
  ];
  const c = heldStates([[7, 0, 128, cpu, -1, 0]], { res: 16, known: [[0, 128]], countFrom: 0, bin: 64 }, more);
  const set = new StateSet(c.header.states, c.columns);
  assert.deepEqual(linesOf(tracksOf(set)), ["processor 0: 10 cpu of 7, 60 idle, 90", "thread 11: 20 cpu of 7, 28"]);
  const lane = tracksOf(set).lanes.get(0);
  lane.each(0, 20, 0, (r) => assert.deepEqual([r.n, r.time], [4, 40]));
  const [counts] = countsOf(set);
  assert.equal(counts.exact, false);
  assert.deepEqual(counts.between(32, 96).mean, [1.25, 0.5, 1.25]);
  assert.deepEqual(countsText([counts], 70, 70), [["running", "1.50", "cpu"], ["runnable", "1", "runnable"], ["blocked", "0.50 (means of 64 ns)", "blocked"]]);
  c.columns.delete("trackBy");
  assert.equal(tracksOf(new StateSet(c.header.states, c.columns)), null);
  c.columns.set("trackBy", Uint32Array.of(7));
  assert.throws(() => new StateSet(c.header.states, c.columns), /differ in length/);
});

test("how many ran, could have run, and waited, is counted to the moment", () => {
  const [a, b, ...rest] = countsOf(setOf(twoProcs, { known: [[0, 400], [500, 640]] }));
  assert.equal(rest.length, 0);
  const at = (c, t) => c.values.map((v) => v[c.stepAt(t)]);
  assert.deepEqual([0, 59, 60, 99, 100, 119, 120, 145, 150, 165, 185, 300].map((t) => at(a, t)), [
    [1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 2], [0, 0, 2], [1, 0, 2], [0, 1, 2], [1, 1, 1], [1, 1, 0], [2, 0, 0], [0, 0, 0],
  ]);
  assert.deepEqual(at(b, 620), [1, 0, 0]);
  assert.deepEqual([a.stepAt(-1), a.stepAt(400)], [-1, -1]); // recording was interrupted: it is not known
  assert.deepEqual(a.between(90, 130), { t0: 90, t1: 130, least: [0, 0, 0], most: [1, 1, 2], mean: [0.5, 0.25, 1.5] });
  assert.equal(a.between(410, 490), null);
  assert.deepEqual(countsText([a, b], 90, 130).map((x) => x[1]), ["0–1", "0–1", "0–2"]);
  assert.deepEqual(countsText([a, b], 620, 620).map((x) => x[1]), ["1", "0", "0"]);
  assert.equal(countsText([a, b], 450, 450), null);
  assert.deepEqual(countsOf(setOf(twoProcs, { known: [] })), []); // some goroutines are left out
});

test("time in system calls and in the collector is not running; the runtime's own goroutines count while they run", () => {
  const [c] = countsOf(setOf([
    [1, 0, 10, preempted, 0, 5], [1, 10, 20, preempted, 0, 5, { stack: 1 }], [1, 20, 30, gc], [1, 30, 40, gc, 0, 5],
    [200, 0, 10, lock], [200, 10, 20, runnable], [200, 20, 40, cpu, 1, 6],
  ]));
  assert.deepEqual([5, 15, 25, 35].map((t) => c.values.map((v) => v[c.stepAt(t)])), [[1, 0, 0], [0, 0, 1], [1, 0, 1], [2, 0, 0]]);
});

test("blocks of steps have the values of their steps", () => {
  const random = randomly(3);
  const time = Float64Array.from({ length: 2001 }, (_, k) => 10 * k);
  const values = [0, 1, 2].map(() => Uint32Array.from({ length: 2000 }, () => random(50)));
  const c = atOnce(newCounts(time, values, true));
  for (let k = 0; k < 200; k++) {
    const from = random(20000);
    const to = from + 1 + random(20000 - from);
    const want = values.map((v) => {
      const inside = Array.from(v, (n, i) => [n, Math.min(to, time[i + 1]) - Math.max(from, time[i])]).filter(([, long]) => long > 0);
      return [Math.min(...inside.map((x) => x[0])), Math.max(...inside.map((x) => x[0])), inside.reduce((s, [n, long]) => s + n * long, 0) / (to - from)];
    });
    const got = c.between(from, to);
    want.forEach(([least, most, mean], n) => {
      assert.deepEqual([got.least[n], got.most[n]], [least, most]);
      assert.ok(Math.abs(got.mean[n] - mean) < 1e-9);
    });
  }
});

/** worker 1 (goroutine 1) is in scopes: outer from 20 to 180, in it inner from 40 to 60 and from 60 to 80. */
const worker = () => {
  const model = modelOf([[1, 0, 1, 1, 20, 160], [1, 1, 2, 1, 40, 20], [1, 1, 2, 1, 60, 20], [1, 1, 3, 7, 90, 5]], { names: ["", "outer", "inner", "mu", "worker 1"], rowNames: { 1: 4 } });
  model.waits.take(heldStates(twoProcs));
  return model;
};
const pieces = (model, from, to) => scopesDuring(model, 1, from, to, 0).map(({ t0, t1, ref }) => [t0, t1, ref && model.name(ref.batch.name[ref.i])]);

test("in which scope a goroutine was while it ran: the innermost one, holds of locks aside", () => {
  const model = worker();
  assert.deepEqual(pieces(model, 0, 100), [[0, 20, null], [20, 40, "outer"], [40, 60, "inner"], [60, 80, "inner"], [80, 100, "outer"]]);
  assert.deepEqual(pieces(model, 50, 70), [[50, 60, "inner"], [60, 70, "inner"]]);
  assert.deepEqual(pieces(model, 150, 200), [[150, 180, "outer"], [180, 200, null]]);
  assert.deepEqual(scopesDuring(model, 99, 0, 10, 0), [{ t0: 0, t1: 10, ref: null, n: 1 }]);
});

test("a stretch on a processor says who, in what, since when, and why it ended", () => {
  const app = { model: worker(), time: (t) => `@${t}`, span: (t) => `${t} ns` };
  const facts = (key, t) => {
    const [title, list] = heldFacts(app, { title: "CPU 0", track: key }, heldOn(app.model, key, t, 1));
    return [title, ...list.filter(([, v]) => v !== null).map(([k, v]) => `${k}: ${v}`)];
  };
  assert.deepEqual(facts(trackKey(0, false), 50), ["worker 1", "goroutine: 1", "scope: outer, inner", "states: on a CPU", "since: @0", "for: 100 ns", "on: CPU 0", "then: waiting for a lock (sync)\nmain.f f.go:2"]);
  assert.deepEqual(facts(trackKey(0, false), 130).at(-1), "then: preempted or yielded: waiting for a processor");
  assert.deepEqual(facts(trackKey(0, false), 110).slice(0, 4), ["goroutine 2", "goroutine: 2", "scope: none", "states: in a system call"]);
  assert.deepEqual(facts(trackKey(0, false), 160), ["idle: no goroutine ran on it", "since: @140", "for: 40 ns", "on: CPU 0"]);
  assert.deepEqual(facts(trackKey(1, false), 160).at(-1), "then: the goroutine or the recording ended");
  assert.equal(heldOn(app.model, trackKey(7, false), 50, 1), null);
  assert.equal(whatCameNext(app.model, 1, 55), null);
});

test("processors are rows at the top; threads have what ran on them, or say that they don't", () => {
  const model = worker();
  const rows = () => model.rows("thread").map((row) => ({ kind: "row", row }));
  const choices = newChoices();
  const shown = (arranged) => layoutRows(model, arranged, choices).strips.map((s) => [s.kind, s.title, s.track]);
  assert.deepEqual(shown([]), [["procs", "Processors (2)", undefined], ["proc", "CPU 0", 0], ["proc", "CPU 1", 2]]);
  choices.filter = "1";
  assert.deepEqual(shown([]).slice(1), [["proc", "CPU 1", 2]]);
  choices.filter = "";
  choices.procs = false;
  const others = otherThreads(model.waits, model.rowSet("thread").rows);
  assert.deepEqual(shown([...rows(), ...others]), [["row", "unknown thread", undefined], ["row", "thread 11", 23], ["row", "thread 12", 25], ["row", "thread 13", 27]]);
  model.waits.states = null;
  assert.deepEqual(shown(rows()).map((s) => s[1]), ["Each scope is on the thread on which it began", "unknown thread"]);
});

test("what was sampled is of its moment, and of no other", () => {
  const b = { time: [0, 1e9, 2e9, 3e9], goroutines: [4, 10, null, 500], user: [0, 1e9, 5e8, null], sys: [0, 0, 5e8, 0] };
  const text = (from, to) => sampledText(sampledIn(b, "goroutines", from, to), String, (t) => `${t / 1e9} s`);
  assert.equal(text(1.5e9, 1.5e9), "10, at 1 s");
  assert.equal(text(2.5e9, 2.9e9), "10, at 1 s"); // with the beat between it was not known
  assert.equal(text(0.5e9, 3.5e9), "10–500");
  assert.equal(text(2.5e9, 3.5e9), "500");
  assert.equal(text(4e9, 5e9), "500, at 3 s");
  assert.equal(sampledText(sampledIn({ time: [] }, "rss", 0, 1), String, String), "unknown");
  const used = (k) => usedCPUs(b, "user", k) + usedCPUs(b, "sys", k);
  assert.deepEqual(usedIn(b, used, 0.2e9, 0.4e9), { low: 1, high: 1, at: null });
  assert.equal(usedIn(b, used, 2.2e9, 2.4e9), null);
  assert.equal(sampledText({ low: 1.25e6, high: 2e6, at: null }, (v) => `${v / 1e6} MB`, String), "1.25–2 MB");
});

test("scales end with round numbers", () => {
  assert.deepEqual([0, 1, 2.1, 7, 9, 10, 84, 101].map(niceNumber), [1, 1, 3, 8, 10, 10, 100, 200]);
  assert.deepEqual([1, 1500, 14.2 * 2 ** 20, 2 ** 30].map(niceBytes), [1, 2048, 16 * 2 ** 20, 2 ** 30]);
});
