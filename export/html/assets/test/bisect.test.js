import test from "node:test";
import assert from "node:assert/strict";
import { bisect, lowerBound } from "../data/bisect.js";

test("the first for which it does not hold, wherever that is", () => {
  for (let n = 0; n < 20; n++) {
    for (let first = 0; first <= n; first++) assert.equal(bisect(5, 5 + n, (k) => k < 5 + first), 5 + first);
  }
});

test("the first of equal values", () => {
  const list = [1, 3, 3, 3, 8];
  assert.deepEqual([0, 1, 2, 3, 4, 8, 9].map((v) => lowerBound(list, v)), [0, 0, 1, 1, 4, 4, 5]);
  assert.equal(lowerBound([], 1), 0);
});
