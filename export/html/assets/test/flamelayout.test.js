import { test } from "node:test";
import assert from "node:assert/strict";
import { flameBoxes, flamePath } from "../panel/flamelayout.js";

const node = (nameId, value, ...children) => ({ nameId, kind: 1, value, self: 0, count: 1, children });

test("children lie inside their parent, in their order", () => {
  const boxes = flameBoxes(node(0, 100, node(1, 60, node(3, 30)), node(2, 40)), 1000);
  assert.deepEqual(boxes.map((b) => [b.node.nameId, b.depth, b.x, b.w, b.parent]), [[0, 0, 0, 1, -1], [1, 1, 0, 0.6, 0], [2, 1, 0.6, 0.4, 0], [3, 2, 0, 0.3, 1]]);
  assert.deepEqual(boxes.map((b) => [b.first, b.before, b.after]), [[1, -1, -1], [3, -1, 2], [-1, 1, -1], [-1, -1, -1]]);
});

test("children that sum to more than their parent are squeezed in", () => {
  const boxes = flameBoxes(node(0, 100, node(1, 90), node(2, 90)), 1000);
  assert.ok(boxes.every((b) => b.x + b.w <= 1 + 1e-9));
});

test("what is too narrow is marked, not dropped", () => {
  const many = Array.from({ length: 5000 }, (_, k) => node(k + 1, 1));
  const boxes = flameBoxes(node(0, 5000, ...many), 1000);
  assert.equal(boxes.length, 2);
  assert.equal(boxes[1].cut, 5000);
  assert.equal(boxes[1].value, 5000);
});

test("never more boxes than the limit", () => {
  const many = Array.from({ length: 3000 }, (_, k) => node(k + 1, 1, node(1, 1)));
  const boxes = flameBoxes(node(0, 3000, ...many), 1e6, 500);
  assert.ok(boxes.length <= 500);
  assert.equal(boxes.reduce((n, b) => n + (b.depth === 1 ? b.cut || 1 : 0), 0), 3000);
});

test("nothing to draw", () => {
  assert.deepEqual(flameBoxes(null, 1000), []);
  assert.deepEqual(flameBoxes(node(0, 0), 1000), []);
  assert.deepEqual(flameBoxes(node(0, 5), 0), []);
});

test("a path is followed as far as it goes", () => {
  const tree = node(0, 100, node(1, 60, node(3, 30)));
  assert.deepEqual(flamePath(tree, [1, 3], (n) => n.nameId).map((n) => n.nameId), [0, 1, 3]);
  assert.deepEqual(flamePath(tree, [1, 9, 3], (n) => n.nameId).map((n) => n.nameId), [0, 1]);
});
