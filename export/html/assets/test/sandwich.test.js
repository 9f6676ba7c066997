// The turned over tree and the sandwich have the same time as the tree.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOf } from "./make.js";
import { atOnce } from "../data/slices.js";
import { flameSteps } from "../model/flame.js";
import { namesIn, sandwich, turnedOver } from "../model/sandwich.js";

const names = ["", "request", "parse", "render", "log"];
const model = modelOf([
  [1, 0, 1, 1, 0, 100], [1, 1, 2, 1, 10, 30], [1, 2, 4, 1, 15, 10], [1, 1, 3, 1, 50, 40], [1, 2, 4, 1, 60, 20], [1, 3, 4, 1, 65, 5],
  [2, 0, 3, 1, 0, 50], [2, 1, 4, 1, 10, 10],
], { names });
const tree = atOnce(flameSteps(model, 0, 100, "wall"));
const flat = (/** @type {any} */ node) => [names[node.nameId] ?? "all", node.value, ...node.children.map(flat)];

test("turned over: own times, in what they are in", () => {
  const turned = turnedOver(tree);
  assert.equal(turned.value, tree.value);
  assert.deepEqual(turned.children.map((c) => [names[c.nameId], c.value]), [["render", 60], ["log", 40], ["request", 30], ["parse", 20]]);
  assert.deepEqual(flat(turned.children[1]), ["log", 40, ["render", 25, ["request", 15]], ["parse", 10, ["request", 10]], ["log", 5, ["render", 5, ["request", 5]]]]);
});

test("a name between what it is in and what is in it", () => {
  const { above, below } = sandwich(tree, 3, 1);
  assert.deepEqual(flat(below), ["render", 90, ["log", 30, ["log", 5]]]);
  assert.deepEqual(flat(above), ["render", 90, ["request", 40]]);
  const log = sandwich(tree, 4, 1);
  assert.deepEqual([log.above.value, log.below.value], [40, 40], "nested ones count once");
});

test("names by their own time", () => {
  assert.deepEqual(namesIn(tree).map((n) => [names[n.nameId], n.self]), [["render", 60], ["log", 40], ["request", 30], ["parse", 20]]);
});
