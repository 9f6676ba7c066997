import test from "node:test";
import assert from "node:assert/strict";
import { stateDensityOf, statesAt } from "../model/statedensity.js";
import { modelOf, randomly, stateNames, statesOf } from "./make.js";

const [unknown, cpu, runnable, lock, sleep] = [0, 1, 2, 3, 4];

/** A model of rows of states, and its rows. */
function withStates(rows, header) {
  const model = modelOf([], { meta: { end: 1e6 } });
  const { header: h, columns } = statesOf(rows, header);
  model.waits.take({ header: h, columns });
  return { model, rows: rows.map(([key]) => ({ key })) };
}

/** How many rows are in each state at t, by its name. */
function around(density, t) {
  const k = Math.floor((t - density.from) / density.width);
  return Object.fromEntries(density.states.map(({ state, rows }) => [stateNames[state], rows[k]]).filter(([, n]) => n > 0));
}

test("each row counts in the state that it is in, and in none where that is not known", () => {
  const { model, rows } = withStates([[1, 0, [cpu, 8192], [sleep, 8192]], [2, 0, [cpu, 4096], [unknown, 4096], [lock, 8192]], [3, 4096, [runnable, 4096]]]);
  const d = stateDensityOf(model, "g", rows, 0, 16384);
  assert.deepEqual([d.width, d.most], [2, 3]);
  assert.deepEqual([0, 4096, 8191, 8192, 16383].map((t) => around(d, t)), [{ cpu: 2 }, { cpu: 1, runnable: 1 }, { cpu: 1, runnable: 1 }, { lock: 1, sleep: 1 }, { lock: 1, sleep: 1 }]);
  assert.deepEqual(statesAt(model.waits.states, rows, 5000), [{ state: cpu, rows: 1 }, { state: runnable, rows: 1 }]);
  assert.deepEqual(statesAt(model.waits.states, rows, 20000), []);
});

test("parts have means, and no time is lost", () => {
  const random = randomly(7);
  const list = Array.from({ length: 50 }, (_, k) => [k + 1, random(1000), ...Array.from({ length: 400 }, () => [1 + random(4), 1 + random(3000)])]);
  const { model, rows } = withStates(list);
  const end = model.waits.states.to;
  const d = stateDensityOf(model, "g", rows, 0, end);
  for (const state of [cpu, runnable, lock, sleep]) {
    const want = list.reduce((sum, [, , ...items]) => sum + items.reduce((s, x) => s + (x[0] === state ? x[1] : 0), 0), 0);
    const got = d.states.find((s) => s.state === state).rows.reduce((sum, n) => sum + n * d.width, 0);
    assert.ok(Math.abs(got - want) < want * 1e-4, `${stateNames[state]}: ${got}, want ${want}`);
  }
});

test("of what is merged, waits for locks count as such, and the rest as what took most", () => {
  const { model, rows } = withStates([[1, 0, [cpu, 8192, { many: 9, top: 5000, lock: 2048 }]]], { res: 128 });
  assert.deepEqual(around(stateDensityOf(model, "g", rows, 0, 8192), 4000), { cpu: 0.75, lock: 0.25 });
});

test("of alike rows that follow each other, one is there at once", () => {
  const { model, rows } = withStates(Array.from({ length: 300 }, (_, k) => [k + 1, 100 * k, [cpu, 60], [sleep, 40]]));
  assert.equal(stateDensityOf(model, "g", rows, 0, 30000).most, 1);
});

test("it is counted again where one looks closer, or elsewhere, and not while one moves a little", () => {
  const { model, rows } = withStates([[1, 0, [cpu, 500000], [sleep, 500000]]]);
  const first = stateDensityOf(model, "g", rows, 0, 1e6);
  assert.equal(stateDensityOf(model, "g", rows, 200000, 800000), first);
  const near = stateDensityOf(model, "g", rows, 490000, 510000);
  assert.ok(near.width < first.width / 10);
  assert.deepEqual([around(near, 499990), around(near, 500010)], [{ cpu: 1 }, { sleep: 1 }]);
  assert.equal(stateDensityOf(model, "g", rows, 495000, 515000), near);
  assert.notEqual(stateDensityOf(model, "g", rows, 700000, 720000), near);
  assert.equal(stateDensityOf(model, "g", rows, 2e6, 3e6), null, "nothing is known of it");
});
