// What two traces differ in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareSides, compareSteps, findingsBetween, pairedBuckets, rankTest, timesByState } from "../model/compare.js";
import { atOnce } from "../data/slices.js";
import { changeText } from "../panel/compareview.js";
import { modelOf, randomly } from "./make.js";

const floats = (...list) => Float64Array.from(list).sort();
const sideOf = (sorted) => ({ count: sorted.length, total: sorted.reduce((s, d) => s + d, 0), sorted, merged: 0 });

test("the rank test is Mann and Whitney's", () => {
  // By hand: U = 25 of 25, mean 12.5, variance 25 · 11 / 12, z = 12 / 4.787.
  const apart = rankTest(floats(1, 2, 3, 4, 5), floats(6, 7, 8, 9, 10));
  assert.equal(apart.effect, 1);
  assert.ok(Math.abs(apart.p - 0.01219) < 1e-5, String(apart.p));
  // With ties of 3, 3 and 2: U = 23.5 of 30, variance 30 / 12 · (12 − 54 / 110), z = 8 / 5.364.
  const tied = rankTest(floats(1, 2, 2, 3, 4), floats(2, 3, 3, 4, 5, 6));
  assert.equal(tied.effect, 23.5 / 30);
  assert.ok(Math.abs(tied.p - 0.13588) < 1e-4, String(tied.p));
  assert.deepEqual(rankTest(floats(5, 5, 5), floats(5, 5)).effect, 0.5);
  assert.ok(rankTest(floats(5, 5, 5), floats(5, 5)).p > 0.99);
});

test("a name is slower, faster, slower in the tail, or within the spread", () => {
  const next = randomly(3);
  const some = (n, scale) => floats(...Array.from({ length: n }, () => scale * (900 + next(200))));
  assert.equal(compareSides("f", sideOf(some(400, 1)), sideOf(some(400, 1.1))).verdict, "slower");
  assert.equal(compareSides("f", sideOf(some(400, 1)), sideOf(some(400, 0.9))).verdict, "faster");
  assert.equal(compareSides("f", sideOf(some(400, 1)), sideOf(some(400, 1))).verdict, "within the spread");
  const tail = floats(...some(390, 1), ...Array(10).fill(9000));
  assert.equal(compareSides("f", sideOf(some(400, 1)), sideOf(tail)).verdict, "slower tail");
  assert.equal(compareSides("f", sideOf(tail), sideOf(some(400, 1))).verdict, "faster tail");
  assert.equal(compareSides("f", sideOf(some(4, 1)), sideOf(some(400, 5))).verdict, "too few");
  assert.equal(compareSides("f", sideOf(floats()), sideOf(some(4, 1))).verdict, "new");
});

test("of two traces what has more time comes first, by the text of names", () => {
  const items = (name, n, dur) => Array.from({ length: n }, (_, k) => [name, 0, name, 1, k * 1000, dur + (k % 7), {}]);
  const a = modelOf([...items(1, 50, 100), ...items(2, 50, 100), ...items(3, 3, 10)], { names: ["", "get", "put", "old"] });
  const b = modelOf([...items(1, 50, 100), ...items(2, 50, 160)], { names: ["", "put", "get"] }); // other ids
  const list = atOnce(compareSteps(a, b));
  assert.deepEqual(list.map((d) => [d.name, d.verdict]), [["get", "slower"], ["put", "within the spread"], ["old", "gone"]]);
  assert.equal(list[0].b.total - list[0].a.total, 50 * 60);
});

test("merged scopes are counted apart", () => {
  const a = modelOf([[1, 0, 1, 1, 0, 100, { count: 7 }]], { names: ["", "get"], tile: { res: 8 } });
  const [d] = atOnce(compareSteps(a, a));
  assert.deepEqual([d.a.count, d.a.merged, d.verdict], [0, 7, "merged"]);
  // The exact table has the sums; of a name that is all here one by one the order is known.
  const some = Array.from({ length: 50 }, (_, k) => [2, 0, 2, 1, k * 1000, 100 + (k % 7), {}]);
  const exact = { scopes: [{ name: 1, count: 9, total: 90, p50: 8, p99: 20 }, { name: 2, count: 50, total: 5150, p50: 103, p99: 106 }], locks: [] };
  const b = modelOf([[1, 0, 1, 1, 0, 100, {}], ...some], { names: ["", "get", "put"], tile: { res: 8 } });
  const [get, put] = atOnce(compareSteps(b, b, [exact, exact])).sort((x, y) => (x.name < y.name ? -1 : 1));
  assert.deepEqual([get.a.count, get.a.total, get.a.p50, get.a.p99, get.a.merged, get.verdict], [9, 90, 8, 20, 8, "merged"]);
  assert.deepEqual([put.b.count, put.b.merged, put.verdict], [50, 0, "within the spread"]);
});

test("both sides have the same buckets", () => {
  const buckets = pairedBuckets(floats(10, 20, 30), floats(40, 1000), 8);
  assert.equal(buckets.reduce((s, b) => s + b.a, 0), 3);
  assert.equal(buckets.reduce((s, b) => s + b.b, 0), 2);
  assert.equal(buckets[0].lo, 10);
  assert.deepEqual(pairedBuckets(floats(), floats()), []);
  assert.deepEqual([changeText(100, 158), changeText(100, 97), changeText(10, 31), changeText(0, 5), changeText(5, 5)], ["+58%", "−3.0%", "3.1×", "new", "0%"]);
});

test("what the doctor finds is gone, new, or has another share", () => {
  const f = (verdict, share) => ({ verdict, object: "mu", share, confidence: 1, from_ns: 0, to_ns: 1 });
  const list = findingsBetween({ findings: [f("gc", 0.2), f("convoy", 0.5)] }, { findings: [f("gc", 0.4), f("channel", 0.1)] });
  assert.deepEqual(list.map((x) => [x.finding.verdict, x.change, x.was, x.is]), [["gc", "stayed", 0.2, 0.4], ["channel", "new", null, 0.1], ["convoy", "gone", 0.5, null]]);
  assert.equal(timesByState(modelOf([], {})), null);
});
