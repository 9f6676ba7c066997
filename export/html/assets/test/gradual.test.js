// Values computed in slices.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Gradual } from "../model/gradual.js";

test("little work is done at once, much in slices, and the earlier value serves meanwhile", async () => {
  /** @type {boolean[]} */
  const ready = [];
  /** @type {(() => void)|null} */
  let called = null;
  const g = new Gradual((layout) => { ready.push(layout); called?.(); });
  const next = () => new Promise((done) => { called = () => done(null); });
  const steps = (/** @type {string} */ value) => function* () { yield; return value; };
  assert.equal(g.make("a", 10, steps("first")), "first");
  assert.equal(g.make("a", 1e6, steps("second")), "first");
  assert.equal(g.make("a", 1e6, steps("third")), "first"); // the second is being computed
  await next();
  assert.deepEqual([g.get("a"), ready], ["second", [false]]);
  assert.equal(g.make("b", 1e6, steps("rows"), true), undefined);
  await next();
  assert.deepEqual([g.get("b"), ready], ["rows", [false, true]]);
});

test("what is computed for data that are gone is dropped", async () => {
  let ready = 0;
  const g = new Gradual(() => { ready++; });
  g.make("a", 1e6, function* () { for (let k = 0; k < 5; k++) yield; return "old"; });
  g.clear();
  assert.equal(g.make("a", 1, function* () { return "new"; }), "new");
  await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual([g.get("a"), ready], ["new", 0]);
});
