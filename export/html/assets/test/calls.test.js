import test from "node:test";
import assert from "node:assert/strict";
import { Samples } from "../data/samples.js";
import { callData, choiceText, newCalls, valueOf } from "../model/calls.js";
import { callTree, weigh } from "../model/callgraph.js";
import { differenceText } from "../model/difference.js";
import { commands } from "../commands.js";
import { newChoices } from "../view/layout.js";
import { fakeModel } from "./fakemodel.js";

// Scope 1 has executions on the goroutines 1, 2 and 3; that on 2 is the slow one.
const names = ["", "read", "other"];
const metrics = [{ name: "cpu", title: "CPU time", unit: "nanoseconds", sampled: true }, { name: "lock", title: "waits for a mutex", unit: "nanoseconds" }];

function samplesOf(rows, funcs = ["", "main.work"]) {
  const column = (of) => Uint32Array.from(rows, of);
  const frames = funcs.map((_, k) => k);
  return new Samples({ metrics, preset: "cpu", funcs, files: ["", "a.go"], slow: [[1, 100, 1, 500]], notes: [] }, new Map(Object.entries({
    funcOwn: Uint32Array.from(frames, () => 1), frameFunc: Uint32Array.from(frames), frameFile: Uint32Array.from(frames, (k) => Number(k > 0)), frameLine: Uint32Array.from(frames),
    stackUp: new Uint32Array(frames.length), stackFrame: Uint32Array.from(frames), inUp: Uint32Array.of(0, 0, 0), inName: Uint32Array.of(0, 1, 1), inSlow: Uint32Array.of(0, 0, 1),
    at: column((r) => r.at), over: column((r) => r.over ?? 0), goid: column((r) => r.goid), metric: column((r) => r.metric ?? 0), more: column((r) => r.value), stack: column((r) => r.stack ?? 1), in: column((r) => r.in ?? 0),
  })));
}

function appOf(calls, more = {}) {
  const item = (start, dur, name = "read", depth = 0) => ({ start, dur, name, depth });
  const model = fakeModel(names, [
    { key: 1, name: "one", items: [item(0, 100), item(200, 100), item(210, 20, "read", 1)] }, { key: 2, name: "two", items: [item(0, 600)] }, { key: 3, name: "three", items: [item(600, 100), item(800, 100, "other")] },
  ]);
  Object.assign(model, { samples: samplesOf([{ at: 10, goid: 1, value: 1, in: 1 }, { at: 20, goid: 2, value: 20, in: 2 }, { at: 650, goid: 3, value: 300, in: 1 }, { at: 850, goid: 3, value: 4000 }]), reduced: false, waits: null });
  const arranged = [...model.rows().slice(0, 2).map((row) => ({ kind: "row", row })), { kind: "group", id: "n7", title: "1 × read", rows: model.rows().slice(2) }];
  return { model, calls: { ...newCalls(), ...calls }, range: null, by: "goroutine", chosenRow: "", choices: newChoices(), arranged, time: (t) => `${t} ns`, span: (t) => `${t} ns`, ...more };
}

const sum = (app) => { const data = callData(app); return valueOf(data, data.total.incl, 0); };

test("of a scope that the trace does not have there is nothing", () => {
  assert.equal(sum(appOf({ scope: "read" })), 321);
  assert.equal(sum(appOf({ scope: "not there" })), 0);
  assert.equal(sum(appOf({ scope: "not there", executions: "compare" })), 0);
});

test("the chosen row, and none", () => {
  assert.equal(sum(appOf({ rows: "chosen" }, { chosenRow: "g3" })), 4300);
  const none = appOf({ rows: "chosen" });
  assert.equal(sum(none), 0);
  assert.equal(choiceText(none), "no row (none is chosen)");
  assert.equal(sum(appOf({ rows: "chosen" }, { by: "thread" })), 4321);
});

test("an area of rows, unless others are chosen", () => {
  const area = { area: new Set(["g1", "g3"]), range: { from: 0, to: Infinity } };
  assert.equal(sum(appOf({}, area)), 4301);
  assert.match(choiceText(appOf({}, { ...area, time: String })), / of 2 rows$/);
  assert.equal(sum(appOf({ rows: "chosen" }, { ...area, chosenRow: "g3" })), 4300);
});

test("rows in sight are those that are drawn", () => {
  const shown = (choices) => sum(appOf({ rows: "shown" }, { choices: { ...newChoices(), ...choices } }));
  assert.equal(shown({}), 4321);
  assert.equal(shown({ filter: "TWO" }), 20);
  assert.equal(shown({ hidden: new Set(["g1"]) }), 4320);
  assert.equal(shown({ hidden: new Set(["n7"]) }), 21);
  assert.equal(shown({ hidden: new Set(["n7"]), pinned: new Set(["g3"]) }), 4321);
});

test("what was summed up is not taken for the sums of something else", () => {
  const app = appOf({ rows: "shown" });
  assert.equal(sum(app), 4321);
  app.arranged = [app.arranged[0], app.arranged[0], app.arranged[0]]; // as many as before
  assert.equal(sum(app), 1);
  assert.equal(sum(appOf({ rows: "shown" }, { model: { ...app.model, samples: samplesOf([{ at: 10, goid: 1, value: 5 }]) } })), 5);
  const kept = (goid) => ({ choice: { from: -Infinity, to: Infinity, rows: new Set([goid]), scope: null, executions: "all" }, label: "the chosen row", executions: undefined });
  app.calls = { ...newCalls(), kept: kept(1) };
  assert.equal(callData(app).difference.metrics[0].a, 1);
  app.calls = { ...newCalls(), kept: kept(2) };
  assert.equal(callData(app).difference.metrics[0].a, 20);
});

test("executions are compared by how many of them are selected", () => {
  const of = (more) => { const { a, b, metrics: m } = callData(appOf({ scope: "read", executions: "compare" }, more)).difference; return [a.executions, b.executions, m[0].a, m[0].b]; };
  assert.deepEqual(of({}), [99, 1, 301 / 99, 20]);
  assert.deepEqual(of({ range: { from: 5, to: 300 } }), [2, 1, 0.5, 20]); // one in another is none
  assert.deepEqual(of({ range: { from: 5, to: 650 } }), [3, 1, 1 / 3, 20]);
});

test("where nobody knows how many executions are selected they are not compared", () => {
  const app = appOf({ scope: "read", executions: "compare" }, { range: { from: 5, to: 300 } });
  app.model.reduced = true;
  assert.equal(callData(app).difference, null);
  app.range = null;
  assert.notEqual(callData(app).difference, null);
});

test("one slow execution is one, and no selection that was kept", () => {
  const { samples, difference } = callData(appOf({ scope: "read", executions: "compare" }, { range: { from: 0, to: 150 } }));
  assert.equal(differenceText(samples, difference, { span: (v) => `${v} ns`, share: (x) => `${100 * x}%`, place: () => "here" }), "a slow execution takes 19 ns longer, 100% of it: CPU time, most in here");
});

test("as many functions as there are", () => {
  const n = 300_000;
  const s = samplesOf(Array.from({ length: n }, (_, k) => ({ at: k, goid: 1, value: 1, stack: k + 1 })), Array.from({ length: n + 1 }, (_, k) => (k ? `main.f${k}` : "")));
  const tree = callTree(s, weigh(s, { from: -Infinity, to: Infinity, rows: null, scope: null, executions: "all" }, [0]));
  assert.equal(tree.children.length, n);
});

test("who looks at the rows in sight, or at the chosen one, hears that they are others", () => {
  const app = { ...appOf({}), events: [], notify: (event) => app.events.push(event), announce() {}, draw() {}, keepState() {}, aim: { from: 0, to: 1 } };
  globalThis.requestAnimationFrame = () => 0;
  Object.assign(app, commands(app));
  app.model.waits = { others: () => [] };
  Object.assign(app.model, { goroutines: {}, cached: (_, make) => make() });
  const heard = (rows, change) => {
    app.calls = { ...newCalls(), rows };
    app.events.length = 0;
    change();
    return app.events.includes("calls");
  };
  const changes = [() => app.chooseRow("g2"), () => app.toggleRow("hidden", "g2"), () => app.filterRows("two")];
  assert.deepEqual(["all", "chosen", "shown"].map((rows) => changes.map((change) => heard(rows, change))), [[false, false, false], [true, false, false], [false, true, true]]);
});
