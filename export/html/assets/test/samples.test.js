import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fromBase64, inflate, readContainer } from "../data/columns.js";
import { Samples } from "../data/samples.js";
import { callTree, callerTree, callersOf, functionCosts, lineCosts, totalCost, totalFunc, weigh } from "../model/callgraph.js";
import { difference, differenceText } from "../model/difference.js";
import { Model } from "../model/model.js";
import { container } from "./make.js";
import { callRemark } from "../panel/callersview.js";
import { commentary, excerptOf } from "../panel/sourceview.js";

const everything = { from: -Infinity, to: Infinity, rows: null, scope: null, executions: "all" };
const fixtures = JSON.parse(readFileSync(new URL("samples.json", import.meta.url), "utf8"));

async function read(container) {
  const { header, columns } = readContainer(await inflate(fromBase64(container)));
  return new Samples(header.samples, columns);
}

// Containers as the Go side packs them, with the sums of its package callgraph: see
// TestSampleFixtures in internal/timeline.
for (const [k, f] of fixtures.entries()) {
  test(`sums of samples are those of the tool: ${k}`, async () => {
    const s = await read(f.container);
    const weights = weigh(s, everything, [0, 1]);
    const costs = functionCosts(s, weights);
    const four = ({ excl, incl }) => [...excl, ...incl];
    assert.deepEqual(Object.fromEntries([...costs.values()].map((c) => [s.funcs[c.func], four(c)]).sort()), f.functions);
    const name = (func) => (func === totalFunc ? "<Total>" : s.funcs[func]);
    const edges = (list) => (list.length === 0 ? null : list.map((e) => ({ func: name(e.func), attr: e.attr })).sort((a, b) => (a.func < b.func ? -1 : 1)));
    for (const func of costs.keys()) {
      const { callers, callees } = callersOf(s, weights, func, costs);
      assert.deepEqual(edges(callers), f.callers[s.funcs[func]], s.funcs[func]);
      assert.deepEqual(edges(callees), f.callees[s.funcs[func]], s.funcs[func]);
      const incl = costs.get(func).incl;
      assert.deepEqual(callTree(s, weights, func).parts, incl);
      assert.deepEqual(callerTree(s, weights, func).parts, incl);
    }
    const rows = [];
    const walk = (node, depth) => {
      rows.push([depth, name(node.nameId), node.parts]);
      for (const c of node.children) walk(c, depth + 1);
    };
    walk(callTree(s, weights), 0);
    const sorted = (list) => list.map((r) => JSON.stringify(r)).sort();
    assert.deepEqual(sorted(rows), sorted(f.tree));
    const total = totalCost(weights);
    assert.deepEqual(total.incl, [0, 1].map((m) => [...costs.values()].reduce((sum, c) => sum + c.excl[m], 0)));
    const lines = lineCosts(s, weights, s.files.indexOf("a.go"));
    assert.deepEqual(Object.fromEntries([...lines.values()].map((c) => [String(c.func), four(c)])), f.lines);

    const side = (executions, label, n) => ({ choice: { ...everything, scope: 7, executions }, label, executions: n });
    const d = difference(s, side("others", "others", 99), side("slow", "slow", 1));
    const rounded = (v) => Math.round(v * 1000);
    const base = (file) => file.slice(file.lastIndexOf("/") + 1);
    const contrasts = (list) => list.map((c) => JSON.stringify([s.metrics[c.metric].name, rounded(c.a), rounded(c.b), s.funcs[s.frameFunc[c.frame]], base(s.files[s.frameFile[c.frame]]), s.metrics[c.metric].sampled ? 0 : s.frameLine[c.frame]])).sort();
    const tools = (list) => list.map((c) => JSON.stringify([c.metric, rounded(c.others_ns), rounded(c.slow_ns), c.function ?? "", base(c.file ?? ""), c.line ?? 0])).sort();
    assert.deepEqual(contrasts(d.metrics), tools(f.slowest.metrics));
    assert.deepEqual(contrasts(d.places), tools(f.slowest.places));
  });
}

test("a selection by time cuts waits, and takes samples or leaves them", async () => {
  const s = await read(fixtures[1].container);
  const sum = (choice) => weigh(s, { ...everything, ...choice }, [0, 1]).map((w) => w.reduce((a, b) => a + b, 0));
  const want = [0, 0];
  for (let i = 0; i < s.n; i++) {
    if (s.metric[i] === 0) want[0] += s.at[i] >= 1000 && s.at[i] < 3000 ? s.value[i] : 0;
    else want[1] += Math.max(0, Math.min(s.at[i] + s.over[i], 3000) - Math.max(s.at[i], 1000));
  }
  const got = sum({ from: 1000, to: 3000 });
  assert.ok(want[0] > 0 && want[1] > 0 && Math.abs(got[0] - want[0]) < 1e-6 && Math.abs(got[1] - want[1]) < 1e-6, `${got} ${want}`);
  const byRow = [1, 2, 3].map((goid) => sum({ rows: new Set([goid]) }));
  assert.deepEqual([0, 1].map((m) => byRow.reduce((a, b) => a + b[m], 0)), sum({}));
});

test("a selection by scope and by its executions", async () => {
  const s = await read(fixtures[1].container);
  const sum = (choice) => weigh(s, { ...everything, ...choice }, [0, 1]).flatMap((w) => [...w]).reduce((a, b) => a + b, 0);
  const of = (want) => Array.from({ length: s.n }, (_, i) => (want(i) ? s.value[i] : 0)).reduce((a, b) => a + b, 0);
  assert.equal(sum({ scope: 7 }), of((i) => i % 3 === 0));
  assert.equal(sum({ scope: 7, executions: "slow" }), of((i) => i % 9 === 0));
  assert.equal(sum({ scope: 7, executions: "others" }), of((i) => i % 3 === 0 && i % 9 !== 0));
  assert.equal(sum({ scope: 8 }), sum({ scope: 7 }));
  assert.equal(sum({ scope: 9 }), 0);
  assert.deepEqual(s.slow.get(7), { count: 100, slow: 1, limit: 1000 });
});

test("what two selections differ in, in one sentence", () => {
  const metrics = [{ name: "cpu", title: "CPU time", unit: "nanoseconds", sampled: true }, { name: "lock", title: "waits for a mutex", unit: "nanoseconds" }];
  const header = { metrics, preset: "cpu", funcs: ["", "main.work", "sync.(*Mutex).Lock"], files: ["", "work.go", "mutex.go"], slow: [[5, 100, 1, 9]], notes: [] };
  const columns = new Map(Object.entries({
    funcOwn: [0, 1, 0], frameFunc: [0, 1, 1, 2], frameFile: [0, 1, 1, 2], frameLine: [0, 10, 20, 30],
    stackUp: [0, 0, 0, 2], stackFrame: [0, 1, 2, 3], inUp: [0, 0, 0], inName: [0, 5, 5], inSlow: [0, 0, 1],
    at: [0, 100, 200], over: [0, 0, 900], goid: [1, 1, 1], metric: [0, 0, 1], more: [990, 10, 0], stack: [1, 1, 3], in: [1, 2, 2],
  }).map(([k, v]) => [k, Uint32Array.from(v)]));
  const s = new Samples(header, columns);
  const side = (executions, n) => ({ choice: { ...everything, scope: 5, executions }, label: executions, executions: n });
  const d = difference(s, side("others", 99), side("slow", 1));
  assert.deepEqual(d.metrics, [{ metric: 1, frame: 0, a: 0, b: 900 }, { metric: 0, frame: 0, a: 10, b: 10 }]);
  const words = { span: (v) => `${v} ns`, share: (x) => `${100 * x}%`, place: (m, f) => `${header.funcs[s.frameFunc[f]]}:${s.frameLine[f]}` };
  assert.equal(differenceText(s, d, words), "a slow execution takes 900 ns longer, 100% of it: waits for a mutex, most in main.work:20");
  assert.equal(differenceText(s, difference(s, side("slow", 1), side("others", 99)), words), "");
});

test("a function's source is the piece that its lines are in", async () => {
  const s = await read(fixtures[1].container);
  assert.equal(excerptOf(s, s.funcs.indexOf("main.f0")), s.sources[0]);
  assert.equal(excerptOf(s, s.funcs.indexOf("main.f3")), null);
});

test("what the compiler did with a call stands before its line and at its edge", async () => {
  const s = await read(fixtures[1].container);
  const [f0, f1] = ["main.f0", "main.f1"].map((f) => s.funcs.indexOf(f));
  const { file } = s.sources[0];
  s.calls = [{ from: "main.f0", to: "main.f1", file, line: 2, text: "inlined" }, { from: "main.f0", to: "main.f1", text: "gone" }, { from: "main.f1", to: "main.f0", file, line: 3, text: "recursive" }];
  assert.deepEqual(commentary(s, file, 2, "\twork()"), ["\t// call of main.f1, inlined"]);
  assert.deepEqual(commentary(s, file, 1, ""), []);
  assert.equal(callRemark(s, f0, f1), "line 2, inlined; gone");
  assert.equal(callRemark(s, f0, f0), "");
});

test("samples that make no sense are refused", async () => {
  const { header, columns } = readContainer(await inflate(fromBase64(fixtures[1].container)));
  const broken = (name, change) => {
    const copy = new Map(columns);
    const list = Array.from(columns.get(name));
    change(list);
    copy.set(name, Uint32Array.from(list));
    return () => new Samples(header.samples, copy);
  };
  for (const name of ["frameFunc", "frameFile", "stackFrame", "stack", "in", "metric"]) assert.throws(broken(name, (l) => (l[l.length - 1] = 1e6)), /refer to a missing/, name);
  for (const name of ["stackUp", "inUp"]) assert.throws(broken(name, (l) => (l[1] = 1)), /inside itself/, name);
  for (const name of ["at", "more", "frameLine", "stackUp", "inSlow", "funcOwn"]) assert.throws(broken(name, (l) => l.pop()), /lengths|without an owner/, name);
});

test("samples that could not be read say why; those that can be read come from the server when they are wanted", async () => {
  const { header, columns } = readContainer(await inflate(fromBase64(fixtures[1].container)));
  const answers = [
    async () => { throw new Error("gone"); },
    async () => ({ header: { samples: { notes: ["The samples could not be read: damaged."], metrics: null } }, columns: new Map() }),
    async () => ({ header, columns }),
    async () => ({ header: {}, columns: new Map() }),
  ];
  const model = new Model({ home: "live", samples: () => answers.shift()() });
  const ask = async () => {
    model.meta.end = (model.meta.end ?? 0) + 1; // the trace has grown
    model.samplesAsked.at = -Infinity;
    await model.wantSamples();
  };
  assert.ok(model.mayHaveSamples);
  await ask();
  assert.match(model.samplesProblem, /gone/);
  model.samplesAsked.at = -Infinity;
  await model.wantSamples(); // nothing is new, but there was no answer
  assert.match(model.samplesProblem, /damaged/);
  assert.equal(model.samples, null);
  await ask();
  assert.equal(model.samplesProblem, "");
  assert.equal(model.samples.n, 60);
  await model.wantSamples(); // nothing is new
  assert.equal(answers.length, 1);
  await ask();
  assert.equal(model.samples.n, 60);
});

test("who wants samples that are just being rested from hears when it is time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { header, columns } = readContainer(await inflate(fromBase64(fixtures[1].container)));
  let asked = 0;
  const model = new Model({ home: "live", samples: async () => { asked++; return { header, columns }; } });
  model.meta.end = 1;
  await model.wantSamples();
  model.meta.end = 2; // and the writer has ended: no news will come
  await model.wantSamples();
  assert.equal(asked, 1);
  let changes = 0;
  model.onchange(() => changes++);
  t.mock.timers.tick(2000);
  assert.equal(changes, 1);
});

test("another trace's samples are forgotten, also those under way", async () => {
  const { header, columns } = readContainer(await inflate(fromBase64(fixtures[1].container)));
  let answer;
  const model = new Model({ home: "live", samples: () => new Promise((done) => { answer = () => done({ header, columns }); }) });
  const whole = container([[1, 0, 1, 1, 0, 5]], { names: ["", "a"], meta: { end: 5 } });
  model.replace(whole);
  const asked = model.wantSamples();
  model.replace(whole);
  answer();
  await asked;
  assert.equal(model.samples, null);
  const again = model.wantSamples();
  answer();
  await again;
  assert.equal(model.samples.n, 60);
  model.replace(whole);
  assert.equal(model.samples, null);
});

test("what a function has is at least so much where stacks without it were cut off", () => {
  // <truncated> > deep > leaf, and main > g > leaf; by stack: its function, and the stack around it.
  const s = /** @type {any} */ ({ stacks: 6, funcs: ["", "<truncated>", "deep", "leaf", "main", "g"], func: [0, 1, 2, 3, 4, 5], stackUp: [0, 0, 1, 2, 0, 4] });
  const least = (weights) => [...functionCosts(s, [Float64Array.from(weights)]).values()].filter((c) => c.least?.[0]).map((c) => s.funcs[c.func]);
  assert.deepEqual(least([0, 0, 2, 5, 0, 7]), ["leaf", "main", "g"]); // a sample of deep itself may have been called by leaf
  assert.deepEqual(least([0, 0, 0, 5, 0, 7]), ["main", "g"]);
  assert.deepEqual(least([0, 0, 0, 0, 0, 7]), []);
});
