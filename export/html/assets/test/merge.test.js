import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { StateSet } from "../data/states.js";
import { barsOf, modelOf, randomly } from "./make.js";

/** The examples of docs/merging.md's rule, which the Go side's tests read too. */
const examples = JSON.parse(readFileSync(new URL("../../../../internal/timeline/testdata/merge.json", import.meta.url), "utf8"));

const [task, wait] = [1, 6];

/** Items of a lane, as container() wants them. */
const laneOf = (items) => items.map(([start, dur, kind]) => [1, 0, 1, kind ? wait : task, start, dur]);

/** The bars of such a lane at a resolution. @param {object} options of modelOf */
function bars(items, res, options = {}, from = -Infinity, to = Infinity) {
  const model = modelOf(items, { names: ["", "a"], ...options });
  return barsOf(model, model.rows()[0].lanes[0], from, to, res);
}

/** Items merged as a tile has them: counts of how many are one. */
function tiled(items, counts) {
  let at = 0;
  return counts.map((count) => {
    const of = items.slice(at, at += count);
    const top = of.reduce((a, b) => (b[5] > a[5] ? b : a));
    const busy = of.reduce((sum, x) => sum + x[5], 0);
    const [last] = of.slice(-1);
    return [1, 0, 1, top[3], of[0][4], last[4] + last[5] - of[0][4], { count, busy }];
  });
}

for (const { name, res, items, runs, apart } of examples) {
  test(`merging: ${name}`, () => {
    assert.deepEqual(bars(laneOf(items), res).map((b) => b.j - b.i), runs);
    // A tile of that resolution is drawn as all its items are.
    const had = bars(laneOf(items), res).map((b) => [b.t0, b.t1, b.busy]);
    const tile = tiled(laneOf(items), apart ?? runs);
    assert.deepEqual(bars(tile, res, { tile: { res } }).map((b) => [b.t0, b.t1, b.busy]), had);

    if (!items.every(([start, dur], k) => dur > 0 && (k === 0 || start === items[k - 1][0] + items[k - 1][1]))) return;
    const n = items.length;
    const zeros = () => new Uint32Array(n);
    const columns = new Map(Object.entries({
      stateGoid: Uint32Array.of(7), stateCount: Uint32Array.of(n), stateStart: Float64Array.of(items[0][0]), stateFunc: Uint32Array.of(0), stateSystem: Uint8Array.of(0),
      state: new Uint8Array(n), stateDur: Uint32Array.from(items, (x) => x[1]),
      stateReason: zeros(), stateThread: zeros(), stateStack: zeros(), stateBy: zeros(), stateByStack: zeros(),
    }));
    const got = [];
    new StateSet({ from: 0, to: 1000, res: 0, names: ["cpu"] }, columns).lanes.get(7).each(-Infinity, Infinity, res, (r) => got.push(r.j - r.i));
    assert.deepEqual(got, runs);
  });
}

test("what a tile has merged is drawn as all of it is, from its resolution on", () => {
  const random = randomly(11);
  for (let round = 0; round < 20; round++) {
    const items = [];
    for (let k = 0, t = 0; k < 2000; k++) {
      const dur = random(2 ** (1 + random(10)));
      items.push([1, 0, 1, random(4) === 0 ? wait : task, t, dur]);
      t += dur + random(2 ** random(8));
    }
    const r0 = 2 ** (1 + random(8));
    const tile = tiled(items, bars(items, r0).map((b) => b.j - b.i));
    for (const r of [r0, 2 * r0, 8 * r0, 64 * r0]) {
      const from = random(50000);
      const [all, some] = [bars(items, r, {}, from, from + 64 * r), bars(tile, r, { tile: { res: r0 } }, from, from + 64 * r)];
      assert.deepEqual(some.map((b) => [b.t0, b.t1, b.busy]), all.map((b) => [b.t0, b.t1, b.busy]));
    }
  }
});
