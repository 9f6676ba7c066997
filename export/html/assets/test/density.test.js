import test from "node:test";
import assert from "node:assert/strict";
import { densityOf } from "../model/density.js";
import { container, modelOf, randomly } from "./make.js";

/** The counts of all rows of a model. */
const all = (model) => densityOf(model, "all", model.rows());
const parts = (d, from, to, n) => {
  const got = [];
  d.parts(from, to, n, (...part) => got.push(part.slice(1)));
  return got;
};

test("of 500 alike rows exactly those that are in a scope count, and those that wait", () => {
  const items = [];
  for (let k = 0; k < 500; k++) {
    items.push([k + 1, 0, 1, 1, 100 + k, 1000], [k + 1, 1, 1, 1, 110 + k, 900]);
    if (k % 5 === 0) items.push([k + 1, 2, 2, 6, 200 + k, 100]);
  }
  const d = all(modelOf(items, { names: ["", "handle", "mu"] }));
  for (const t of [0, 99, 100, 101, 250, 599, 600, 1099, 1100, 1101, 1598, 1599, 2000]) {
    let active = 0;
    let waiting = 0;
    for (let k = 0; k < 500; k++) {
      if (100 + k <= t && t < 1100 + k) active++;
      if (k % 5 === 0 && 200 + k <= t && t < 300 + k) waiting++;
    }
    assert.deepEqual(d.at(t), { active, waiting }, `at ${t}`);
  }
  assert.deepEqual([d.most, d.merged], [500, false]);
  assert.deepEqual(d.spread(0, 1599), { min: 0, median: 350, max: 500 });
  assert.deepEqual(d.spread(110, 111), { min: 11, median: 11, max: 11 });
  assert.deepEqual(parts(d, 100, 104, 2), [[1.5, 2, 0, 0], [3.5, 4, 0, 0]]);
});

test("a scope in a scope, or over the end of one, is no second row", () => {
  const d = all(modelOf([[1, 0, 1, 1, 0, 10], [1, 1, 1, 1, 5, 20], [1, 0, 2, 7, 30, 20], [1, 1, 1, 1, 35, 5]], { names: ["", "a", "mu"] }));
  assert.deepEqual([...d.times], [0, 10, 25, 35, 40]);
  assert.deepEqual([...d.active.values], [1, 1, 0, 1, 0]);
});

test("what is open lasts on, what is merged counts by how busy it was", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100, { count: 50, busy: 40 }], [2, 0, 1, 1, 50, 50, { open: true }]], { names: ["", "a"], tile: { res: 10 } });
  const d = all(model);
  assert.deepEqual([[0, 0], [60, 0], [100, 0], [1e9, 0]].map(([t]) => d.at(t).active), [0.4, 1.4, 1, 1]);
  assert.equal(d.merged, true);
});

test("parts have the mean and the most of what was, at any zoom", () => {
  const rand = randomly(5);
  const items = Array.from({ length: 3000 }, (_, k) => [1 + (k % 300), 0, 1, 1, Math.floor(k / 300) * 1000 + rand(500), 1 + rand(499)]);
  const d = all(modelOf(items, { names: ["", "a"] }));
  const count = (t) => items.filter((x) => x[4] <= t && t < x[4] + x[5]).length;
  for (const [from, to, n] of [[0, 10000, 10], [300, 700, 40], [450, 460, 10], [-500, 200, 7]]) {
    const width = (to - from) / n;
    parts(d, from, to, n).forEach(([mean, top], k) => {
      const counts = Array.from({ length: Math.round(width) }, (_, i) => count(from + k * width + i));
      assert.ok(Math.abs(mean - counts.reduce((a, b) => a + b, 0) / width) < 1e-9, `mean of part ${k} of ${from}-${to}`);
      assert.equal(top, Math.max(...counts));
    });
  }
});

test("while a trace grows the counts are made once a second", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 10]], { names: ["", "a"], meta: { writer: "running" }, source: { home: "live" } });
  const now = performance.now;
  let t = now.call(performance);
  performance.now = () => t;
  try {
    const first = all(model);
    model.update(container([[1, 0, 1, 1, 20, 10]], { names: ["", "a"], meta: { writer: "running" } }));
    t += 500;
    assert.equal(all(model), first);
    t += 600;
    assert.equal(all(model).at(25).active, 1);
    assert.equal(first.at(25).active, 0);
    assert.equal(densityOf(model, "all", []).at(25).active, 0, "other rows of the same trace are counted at once");
    model.update(container([[2, 0, 1, 1, 20, 10]], { names: ["", "a"], meta: { writer: "closed" } }));
    assert.equal(all(model).at(25).active, 2, "what has ended is counted to its end");
  } finally {
    performance.now = now;
  }
});

test("what a frame reads of ten thousand rows' steps depends on its parts, not on the rows", async () => {
  const items = [];
  for (let k = 0; k < 100000; k++) items.push([1 + (k % 10000), 0, 1, 1, Math.floor(k / 10000) * 10000 + (k % 7919), 1000]);
  const model = modelOf(items, { names: ["", "a"] });
  assert.equal(all(model), null); // it is counted in slices
  await new Promise((ready) => model.oncomputed(() => ready(null)));
  const d = all(model);
  assert.ok(d.times.length > 50000);
  let read = 0;
  const counted = (array) => new Proxy(array, { get: (of, key) => (read++, of[key]) });
  d.times = counted(d.times);
  for (const steps of [d.active, d.waiting]) for (const key of ["values", "sums", "tops"]) steps[key] = counted(steps[key]);
  d.parts(0, 1e5, 20, () => {});
  assert.ok(read > 0 && read < d.times.length / 4, `${read} reads of ${d.times.length} steps for 20 parts`);
});
