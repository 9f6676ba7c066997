import test from "node:test";
import assert from "node:assert/strict";
import { barsOf, container, modelOf } from "./make.js";
import { same } from "../model/refs.js";

const names = ["", "work", "read", "worker", "lock"];

test("rows and lanes are in the order of first activity", () => {
  const model = modelOf([
    [7, 0, 1, 1, 100, 50], [7, 1, 2, 1, 110, 10], [7, 1, 2, 1, 130, 10], [7, "i", 2, 3, 120, 0],
    [3, 0, 1, 1, 10, 500],
  ], { names, rowNames: { 7: 3 } });
  const rows = model.rows("goroutine");
  assert.deepEqual(rows.map((r) => [r.key, r.title, r.named, r.first, r.last, r.depth, r.scopes, r.outer, r.instants]), [
    [3, "goroutine 3", false, 10, 510, 1, 1, 1, false],
    [7, "worker", true, 100, 150, 2, 3, 1, true],
  ]);
  const seen = barsOf(model, rows[1].lanes[1], 0, 1000, 0).map((b) => [b.t0, b.t1]);
  assert.deepEqual(seen, [[110, 120], [130, 140]]);
  const flags = [];
  model.eachBar(rows[1].flags, 0, 1000, 1, ({ batch, i }) => flags.push(batch.start[i]));
  assert.deepEqual(flags, [120]);
});

test("a scope that was open and has ended is shown once", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100, { open: true }], [1, 1, 2, 1, 10, 20]], { names });
  const lane = () => model.rows()[0].lanes[0];
  assert.deepEqual(barsOf(model, lane(), 0, 1000, 0).map((b) => [b.t0, b.t1]), [[0, 100]]);
  const open = barsOf(model, lane(), 0, 1000, 0)[0];
  model.update(container([], { meta: { end: 200, names: undefined }, open: { rows: [[1, 0]], items: [[0, 0, 1, 1, 0, 0, ""]] } }));
  assert.deepEqual(barsOf(model, lane(), 0, 1000, 0).map((b) => [b.t0, b.t1]), [[0, 200]]);
  model.update(container([[1, 0, 1, 1, 0, 250]], { meta: { end: 300, names: undefined }, open: { rows: [], items: [] } }));
  assert.deepEqual(barsOf(model, lane(), 0, 1000, 0).map((b) => [b.t0, b.t1]), [[0, 250]]);
  const now = model.resolve({ batch: open.batch, i: open.i });
  assert.equal(now.batch.dur[now.i], 250);
});

test("rows by thread have what began there, without overlaps", () => {
  const model = modelOf([
    [1, 0, 1, 1, 0, 100, { thread: 5 }], [1, 1, 2, 1, 10, 20, { thread: 5 }],
    [2, 0, 1, 1, 20, 200, { thread: 5 }], [2, 1, 2, 1, 150, 10, { thread: 6 }], [3, 0, 1, 1, 110, 10],
  ], { names });
  const rows = model.rows("thread");
  assert.deepEqual(rows.map((r) => [r.title, r.depth, r.scopes]), [["thread 5", 3, 3], ["unknown thread", 1, 1], ["thread 6", 1, 1]]);
  const at = model.place(model.find(2, 0, 20), "thread");
  assert.equal(at.row.title, "thread 5");
  assert.equal(at.lane.depth, 2);
  assert.ok(same(at.ref, model.find(2, 0, 20)));
  model.update(container([[4, 0, 1, 1, 240, 10, { thread: 5 }], [5, 0, 1, 1, 90, 200, { thread: 5 }]], { meta: { end: 300, names: undefined } }));
  const lanes = model.rows("thread")[0].lanes;
  for (const lane of lanes) {
    const bars = barsOf(model, lane, 0, 1000, 0).sort((a, b) => a.t0 - b.t0);
    for (let k = 1; k < bars.length; k++) assert.ok(bars[k - 1].t1 <= bars[k].t0);
  }
  assert.equal(lanes.reduce((n, lane) => n + barsOf(model, lane, 0, 1000, 0).length, 0), 5);
});

test("counters are joined by name", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100]], { names, series: [[2, [[1, 5], [2, 6]]]] });
  model.update(container([], { meta: { end: 200, names: undefined }, series: [[2, [[150, 7]]], [3, [[160, 8]]]] }));
  assert.deepEqual(model.series().map((s) => [s.nameId, [...s.time], [...s.value]]), [[2, [1, 2, 150], [5, 6, 7]], [3, [160], [8]]]);
});
