// The roots of slow executions: over whole chains of waits, adding up to the executions' time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOf, randomly, stateNames, statesOf } from "./make.js";
import { atOnce } from "../data/slices.js";
import { rootSteps, rootWords } from "../model/roots.js";
import { runSteps } from "../model/runs.js";

const names = ["", "request", "db.mu", "db.compact", "log.mu", "write"];
const [cpu, sleep, lock, channel] = ["cpu", "sleep", "lock", "channel"].map((s) => stateNames.indexOf(s));
const task = 1, wait = 6, hold = 7;
const title = (/** @type {number} */ key) => (key === 6 ? "worker 6" : `goroutine ${key}`);

/** Returns the roots of the executions of request; those longer than 500 ns are slow. */
function rootsOf(/** @type {any} */ model) {
  const runs = atOnce(runSteps(model.rows("goroutine"), 1, 0, model.end));
  const side = Uint8Array.from(runs.dur, (/** @type {number} */ d) => (d > 500 ? 1 : 2));
  const { roots, followed } = atOnce(rootSteps(model, runs, side));
  const slow = [...runs.dur].filter((d) => d > 500);
  const sum = roots.reduce((s, r) => s + r.slow, 0);
  assert.ok(Math.abs(sum - slow.reduce((a, b) => a + b, 0) / slow.length) < 1e-6 * sum, `the roots add up to ${sum}`);
  return { roots, followed };
}

const say = (/** @type {any} */ r) => [rootWords(r, title), r.slow, r.usual];

test("a chain over two locks ends at the sleeping one", () => {
  // Goroutine 1 waits for log.mu, which 2 holds while it waits for db.mu, which worker 6 holds, asleep, in db.compact.
  const model = modelOf([
    [1, 0, 1, task, 0, 100], [1, 0, 1, task, 1000, 1000], [1, 1, 4, wait, 1100, 800, { args: '{"addr":"0xc1","lock":"mutex","holder":2}' }],
    [2, 0, 5, task, 900, 1100], [2, 1, 4, hold, 1000, 900, { args: '{"addr":"0xc1","lock":"mutex"}' }], [2, 2, 2, wait, 1050, 800, { args: '{"addr":"0xc2","lock":"mutex","holder":6}' }],
    [6, 0, 3, task, 800, 1100], [6, 1, 2, hold, 900, 950, { args: '{"addr":"0xc2","lock":"mutex"}' }],
  ], { names });
  model.waits.take(statesOf([
    [1, 0, [cpu, 1100], [lock, 800, { by: 2 }], [cpu, 100]], [2, 0, [cpu, 1050], [lock, 800, { by: 6 }], [cpu, 150]], [6, 0, [cpu, 1000], [sleep, 850], [cpu, 150]],
  ]));
  const { roots, followed } = rootsOf(model);
  assert.deepEqual(followed, [1, 1]);
  assert.deepEqual(say(roots[0]), ["worker 6 holds db.mu, sleeping, in db.compact", 750, 0]);
  assert.deepEqual(roots[0].longest, { key: 6, from: 1100, to: 1850 });
  const rest = roots.slice(1).map(say);
  assert.deepEqual(rest.find(([text]) => text === "itself on a CPU, in request"), ["itself on a CPU, in request", 200, 100]);
  assert.deepEqual(rest.find(([text]) => text.startsWith("goroutine 2 holds log.mu")), ["goroutine 2 holds log.mu, on a CPU, in write", 50, 0]);
});

test("a wait for a channel leads to the goroutine that ended it", () => {
  const model = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 1, task, 1000, 1000], [3, 0, 5, task, 900, 1100]], { names });
  model.waits.take(statesOf([[1, 0, [cpu, 1200], [channel, 700, { by: 3 }], [cpu, 100]], [3, 0, [cpu, 1000], [sleep, 900], [cpu, 100]]]));
  assert.equal(say(rootsOf(model).roots[0])[0], "waiting until woken by goroutine 3, sleeping, in write");
});

test("the execution's own work is its root, and what nobody recorded is unknown", () => {
  const own = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 1, task, 1000, 1000]], { names });
  own.waits.take(statesOf([[1, 0, [cpu, 2000]]]));
  assert.deepEqual(rootsOf(own).roots.map(say), [["itself on a CPU, in request", 1000, 10]]);
  const blind = modelOf([[1, 0, 1, task, 0, 10], [1, 0, 1, task, 1000, 1000], [1, 1, 2, wait, 1100, 800, { args: '{"addr":"0xc1","lock":"mutex"}' }]], { names });
  assert.deepEqual(rootsOf(blind).roots.map(say), [["waiting for db.mu: for whom is unknown", 800, 0], ["itself activity unknown, in request", 200, 10]]);
});

test("goroutines that wait for each other end the chain", () => {
  const model = modelOf([
    [1, 0, 1, task, 0, 10], [1, 0, 1, task, 1000, 1000], [1, 1, 2, wait, 1000, 1000, { args: '{"addr":"0xc1","lock":"mutex","holder":2}' }],
    [2, 0, 5, task, 0, 2000], [2, 1, 4, wait, 900, 1100, { args: '{"addr":"0xc2","lock":"mutex","holder":1}' }],
  ], { names });
  assert.equal(rootsOf(model).roots[0].kind, "unknown");
});

test("any waits add up", () => {
  const random = randomly(7);
  for (let round = 0; round < 30; round++) {
    const items = [];
    const states = [];
    for (let key = 1; key <= 5; key++) {
      const list = [];
      for (let t = 0; t < 3000;) {
        const d = 1 + random(200);
        list.push([[cpu, sleep, lock, channel][random(4)], d, random(2) ? { by: 1 + random(5) } : {}]);
        t += d;
      }
      states.push([key, 0, ...list]);
      items.push([key, 0, 1, task, 10, 600 + random(900)], [key, 1, 2, wait, 50 + random(50), random(400), { args: `{"addr":"0xc1","lock":"mutex","holder":${random(6)}}` }], [key, 0, 1, task, 2000, 1 + random(100)]);
    }
    const model = modelOf(items, { names });
    model.waits.take(statesOf(states));
    rootsOf(model);
  }
});
