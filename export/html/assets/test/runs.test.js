import test from "node:test";
import assert from "node:assert/strict";
import { container, modelOf, randomly, stateNames, statesOf } from "./make.js";
import { StateSet } from "../data/states.js";
import { Brush } from "../model/brush.js";
import { facetSteps, groupSteps } from "../model/facets.js";
import { argsOfRun, orderSteps, runSteps, runsBetween } from "../model/runs.js";
import { rootWords } from "../model/roots.js";
import { slowSteps, slowText } from "../model/slow.js";
import { atOnce } from "../data/slices.js";
import { summarize } from "../model/stats.js";

const names = ["", "get", "load", "cache.mu", "serve", "other"];
const task = 1, wait = 6, hold = 7;
const runsOf = (model, name = 1, from = 0, to = model.end) => atOnce(runSteps(model.rows("goroutine"), name, from, to));
const facetsOf = (model, runs) => atOnce(facetSteps(runs, (id) => model.name(id)));
const words = { span: (ns) => `${ns} ns`, percent: (x) => `${Math.round(100 * x)}%`, count: String, root: (r) => rootWords(r, (key) => `goroutine ${key}`) };

/**
 * 200 executions of get on two rows, each in a scope serve on row 1. Two of them have
 * tenant=7 and wait 1000 ns for the lock; the others take 100 ns and a bit.
 */
function tenants() {
  const items = [];
  for (let k = 0; k < 200; k++) {
    const key = 1 + k % 2;
    const t = 10000 * k;
    const slow = k === 51 || k === 151;
    const dur = slow ? 1100 : 90 + k % 21;
    if (key === 1) items.push([key, 0, 4, task, t - 5 + 10, dur + 10]);
    items.push([key, key === 1 ? 1 : 0, 1, task, t + 10, dur, { args: `{"tenant":${slow ? 7 : k % 5},"size":${k * 3}}`, quality: 1, cpu: 50 }]);
    const d = key === 1 ? 2 : 1;
    items.push([key, d, 2, task, t + 20, slow ? 1040 : 40]);
    if (slow) items.push([key, d + 1, 3, wait, t + 30, 1000, { args: '{"addr":"0xc1","holder":9}' }]);
  }
  return modelOf(items, { names });
}

test("what each execution took, had for itself, waited, and lay in", () => {
  const model = modelOf([
    [1, 0, 4, task, 0, 1000], [1, 1, 1, task, 100, 500, { args: '{"k":1}', quality: 1, cpu: 77 }], [1, 2, 2, task, 150, 200], [1, 3, 3, wait, 200, 50], [1, 2, 1, task, 400, 100], [1, 3, 3, wait, 420, 30],
    [1, 2, 3, hold, 520, 10], [1, 1, 1, task, 700, 10, { quality: 3, cpu: 9 }], [2, 0, 1, task, 900, 100, { open: true }], [0, 0, 1, task, 5, 5], [3, 0, 5, task, 0, 1], [3, 0, 1, task, 50, 20, { across: true }],
  ], { names });
  const runs = runsOf(model);
  const list = Array.from({ length: runs.n }, (_, k) => [runs.start[k], runs.dur[k], runs.self[k], runs.waited[k], runs.parent[k], runs.outer[k], argsOfRun(runs, k)]);
  assert.deepEqual(list.sort((a, b) => a[0] - b[0]), [
    [5, 5, NaN, NaN, -2, 0, ""], [100, 500, 200, 80, 4, 1, '{"k":1}'], [400, 100, 70, 30, 1, 0, ""], [700, 10, 10, 0, 4, 1, ""],
  ]);
  assert.deepEqual([runs.open, runs.across], [1, 1]);
  assert.deepEqual(Array.from(runs.order, (k) => runs.dur[k]), [5, 10, 100, 500]);
  // Of a range those that touch it, whole.
  const part = runsOf(model, 1, 450, 460);
  assert.deepEqual(Array.from(part.order, (k) => [part.dur[k], part.self[k], part.waited[k], part.parent[k]]), [[100, 70, 30, 1], [500, 200, 80, 4]]);
  assert.equal(runsOf(model, 1, 650, 660).n, 0);
});

test("self times are those of the summary", () => {
  const random = randomly(4);
  const items = [];
  for (let key = 1; key <= 3; key++) for (let t = 0; t < 50000; t += 300) {
    items.push([key, 0, 1, task, t, 250], [key, 1, 1 + random(2), task, t + 10, 100 + random(50)], [key, 1, 3, wait, t + 180, random(60)]);
  }
  const model = modelOf(items, { names });
  for (const name of [1, 2]) {
    const runs = runsOf(model, name);
    const [s] = summarize(model, 0, model.end, true).scopes.filter((x) => x.name === name);
    assert.deepEqual([runs.n, runs.dur.reduce((a, b) => a + b), runs.self.reduce((a, b) => a + b)], [s.count, s.total, s.self]);
  }
});

test("of merged scopes inside it is unknown what they were", () => {
  const model = modelOf([[1, 0, 1, task, 0, 1000], [1, 1, 2, task, 100, 50, { count: 9, busy: 40 }], [1, 0, 1, task, 2000, 100]], { names, tile: { res: 64 } });
  const runs = runsOf(model);
  assert.deepEqual(Array.from(runs.order, (k) => [runs.dur[k], runs.self[k], runs.waited[k]]), [[100, 100, 0], [1000, NaN, NaN]]);
});

test("groups by argument, scope around and row", () => {
  const model = tenants();
  const runs = runsOf(model);
  assert.equal(runs.n, 200);
  const facets = facetsOf(model, runs);
  assert.deepEqual(facets.map((f) => [f.kind, f.key]), [["argument", "tenant"], ["parent", ""], ["argument", "size"], ["row", ""]]);
  const [seven] = atOnce(groupSteps(runs, facets[0], runs.order)).groups.filter((g) => g.label === "7");
  assert.deepEqual([seven.count, seven.total, seven.p50, seven.p99, seven.max], [2, 2200, 1100, 1100, 1100]);
  const sizes = atOnce(groupSteps(runs, facets[2], runs.order));
  assert.deepEqual(sizes.groups.map((g) => g.label).sort(), ["0", "128 – 256", "16 – 32", "2 – 4", "256 – 512", "32 – 64", "4 – 8", "512 – 1,024", "64 – 128", "8 – 16"]);
  assert.equal(sizes.groups.find((g) => g.label === "256 – 512").count, Array.from({ length: 200 }, (_, k) => 3 * k).filter((v) => v >= 256 && v < 512).length);
  assert.deepEqual(atOnce(groupSteps(runs, facets[1], runs.order)).groups.map((g) => [g.label, g.count]), [["serve", 100]]);
  assert.deepEqual(atOnce(groupSteps(runs, facets[3], runs.order)).groups.map((g) => [g.label, g.count]).sort(), [["goroutine 1", 100], ["goroutine 2", 100]]);
  // Of some of them.
  assert.deepEqual(atOnce(groupSteps(runs, facets[0], runs.order.subarray(198))).groups.map((g) => [g.label, g.count, g.share]), [["7", 2, 1]]);
});

test("an argument that is different each time is no grouping", () => {
  const model = modelOf(Array.from({ length: 100 }, (_, k) => [1, 0, 1, task, 10 * k, 5, { args: `{"id":"r-${k}","user":"u${k % 3}"}` }]), { names });
  assert.deepEqual(facetsOf(model, runsOf(model)).map((f) => f.key || f.kind), ["user", "row"]);
});

test("the slowest hundredth against the middle half", () => {
  const model = tenants();
  const runs = runsOf(model);
  const s = atOnce(slowSteps(model, runs, facetsOf(model, runs)));
  const durs = Array.from(runs.order, (k) => runs.dur[k]);
  const usual = durs.filter((d) => d >= durs[49] && d <= durs[149]);
  const mean = usual.reduce((a, b) => a + b) / usual.length;
  assert.deepEqual([s.of, s.limit, s.counts, s.means, s.merged, s.stated], [200, 1100, [2, usual.length], [1100, mean], false, [0, 0]]);
  assert.deepEqual(s.causes.slice(0, 2), [{ kind: "callee", label: "load", slow: 1040, usual: 40 }, { kind: "lock", label: "cache.mu", slow: 1000, usual: 0 }]);
  assert.ok(Math.abs(s.causes[2].slow - 60) < 1e-9 && s.causes[2].kind === "self");
  assert.deepEqual(s.traits[0], { kind: "argument", label: "tenant=7", slow: 2, usual: 0 });
  assert.equal(slowText("get", s, words),
    `The slowest 1% (2 of 200) of get take ${1100 - mean} ns longer than the middle half (${usual.length}); ${Math.round(100000 / (1100 - mean))}% of it: waiting for cache.mu, held by goroutine 9; 2 of 2 have tenant=7, of the middle half 0%.`);
});

test("of nested executions the outermost counts, and where all are alike nothing is said", () => {
  const model = modelOf([[1, 0, 1, task, 0, 900], [1, 1, 1, task, 100, 800], [1, 0, 1, task, 1000, 10], [1, 0, 1, task, 1100, 10], [1, 0, 1, task, 1200, 12]], { names });
  const runs = runsOf(model);
  const s = atOnce(slowSteps(model, runs, facetsOf(model, runs)));
  assert.deepEqual([s.of, s.limit, s.counts, s.means[1]], [4, 900, [1, 3], 32 / 3]);
  const same = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 1, task, 20, 10]], { names });
  assert.equal(atOnce(slowSteps(same, runsOf(same), [])), null);
  assert.equal(atOnce(slowSteps(same, runsOf(same, 2), [])), null);
});

test("a column orders them, what is unknown last", () => {
  const { order, known } = atOnce(orderSteps(Float64Array.of(NaN, 3, 1, NaN, 2)));
  assert.deepEqual([Array.from(order), known], [[2, 4, 1, 0, 3], 3]);
  assert.deepEqual(Array.from(atOnce(orderSteps(["row 10", "row 9", "a", "row 9"])).order), [2, 1, 3, 0]);
  const many = Array.from({ length: 30000 }, (_, k) => `id ${(k * 7919) % 30000}`);
  assert.deepEqual(Array.from(atOnce(orderSteps(many)).order, (k) => many[k]), many.slice().sort());
  const runs = runsOf(tenants());
  assert.deepEqual(Array.from(runsBetween(runs, { lo: 110, hi: 1101 }), (k) => runs.dur[k]), [...Array(9).fill(110), 1100, 1100]);
  assert.equal(runsBetween(runs, null).length, 200);
});

test("the brush knows its items in any batch, and the runs of them", () => {
  const model = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 5, task, 20, 100], [1, 0, 1, task, 200, 100], [1, 0, 1, task, 400, 101], [1, 0, 1, task, 600, 150, { open: true }]], { names });
  const brush = new Brush(model, "get", 100, 101);
  const hits = [];
  for (const batch of [...model.batches(), model.rowSet("thread").list()[0].lanes[0].parts[0].batch]) {
    for (let i = 0; i < batch.n; i++) if (brush.has(batch, i)) hits.push(batch.start[i]);
  }
  assert.deepEqual(hits, [200, 200]);
  assert.deepEqual([brush.has(model.base, 0, 2), brush.has(model.base, 0, 3)], [false, true]);
  assert.deepEqual(Array.from(brush.bins(0, 800, 8)), [0, 0, 1, 1, 0, 0, 0, 0]);
});

test("while a trace grows executions are added, and of a merged trace the server sends them", async () => {
  const model = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 1, task, 20, 30, { open: true }]], { names });
  model.update(container([[1, 0, 1, task, 20, 40], [2, 0, 1, task, 70, 5]], { names }));
  assert.deepEqual(Array.from(runsOf(model).order, (k) => runsOf(model).dur[k]), [5, 10, 40]);
  const sent = container([[1, 0, 4, task, 0, 100], [1, 1, 1, task, 10, 50], [1, 2, 3, wait, 20, 8]], { names, rowNames: { 1: 5 }, tile: { alone: false, left: 3 } });
  model.source = { home: "live", runs: async (...asked) => (assert.deepEqual(asked, [1, 0, 100]), sent) };
  const { rows, alone, left } = await model.runs(1, 0, 100);
  const runs = atOnce(runSteps(rows, 1, 0, 100, alone));
  assert.deepEqual([alone, left, rows[0].title, runs.dur[0], runs.self[0], runs.waited[0], runs.parent[0]], [false, 3, "other", 50, 42, 8, 4]);
  const [only] = [atOnce(runSteps(rows, 1, 0, 100, true))];
  assert.deepEqual([only.dur[0], only.self[0], only.waited[0], only.parent[0]], [50, NaN, NaN, -2]);
  model.source = { home: "file" };
  assert.equal(await model.runs(1, 0, 100), null);
});

test("what their goroutines did, of those of which that is known", () => {
  const model = modelOf([[7, 0, 1, task, 0, 100], [7, 0, 1, task, 200, 100], [7, 0, 1, task, 400, 1000], [8, 0, 1, task, 0, 100]], { names });
  const [cpu, lock] = [stateNames.indexOf("cpu"), stateNames.indexOf("lock")];
  const { header, columns } = statesOf([[7, 0, [cpu, 450], [lock, 900], [cpu, 150]]], {});
  model.waits.states = new StateSet(header.states, columns);
  const s = atOnce(slowSteps(model, runsOf(model), []));
  assert.deepEqual([s.counts, s.stated], [[1, 3], [1, 2]]);
  assert.deepEqual(s.causes, [
    { kind: "self", label: "get", slow: 1000, usual: 100 }, { kind: "state", label: "waiting for a lock", slow: 900, usual: 0 }, { kind: "state", label: "on a CPU", slow: 100, usual: 100 },
  ]);
  assert.equal(slowText("get", s, words),
    "The slowest 1% (1 of 4) of get take 900 ns longer than the middle half (3); 100% of it: in itself, waiting for a lock; no argument, row or enclosing scope sets them apart.");
});
