import test from "node:test";
import assert from "node:assert/strict";
import { randomly } from "./make.js";
import { atOnce, byNumber, inSlices, sortSteps } from "../data/slices.js";

test("sorting in steps is sorting, and equals stay in their order", () => {
  const random = randomly(3);
  for (const n of [0, 1, 2, 1000, 16384, 16385, 100000]) {
    const key = Float64Array.from({ length: n }, () => random(50));
    const order = atOnce(sortSteps(Uint32Array.from(key.keys()), (a, b) => key[a] - key[b]));
    assert.deepEqual(order, Uint32Array.from(key.keys()).sort((a, b) => key[a] - key[b] || a - b));
    assert.deepEqual(atOnce(sortSteps(key.slice(), byNumber)), key.slice().sort());
  }
});

/** Steps that take 3 ms each. */
function* slowly(n, done) {
  for (let k = 0; k < n; k++) {
    for (const begin = performance.now(); performance.now() - begin < 3;);
    done.steps++;
    yield;
  }
  return "all";
}

test("between slices others have their turn, and what nobody wants ends", async () => {
  const done = { steps: 0 };
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  assert.equal(await inSlices(slowly(30, done), () => false), "all");
  clearInterval(timer);
  assert.equal(done.steps, 30);
  assert.ok(turns >= 2, String(turns));
  const given = { steps: 0 };
  assert.equal(await inSlices(slowly(1000, given), () => true), undefined);
  assert.ok(given.steps < 20, String(given.steps));
});
