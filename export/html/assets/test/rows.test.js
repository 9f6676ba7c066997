import test from "node:test";
import assert from "node:assert/strict";
import { arrange } from "../model/rows.js";

const names = ["", "serve", "job"];
const row = (key, more) => ({ key, by: "goroutine", title: `goroutine ${key}`, named: false, short: true, outer: 0, first: key, ...more });

test("named rows come first, then the others; both as they were given", () => {
  const rows = [row(1), row(2, { named: true }), row(3, { short: false }), row(4, { named: true })];
  assert.deepEqual(arrange(rows, names).map((x) => x.row.key), [2, 4, 1, 3]);
});

test("many short-lived rows of one name fold, few do not, long-lived ones never", () => {
  const rows = [];
  for (let k = 0; k < 9; k++) rows.push(row(100 + k, { outer: 1 }));
  for (let k = 0; k < 8; k++) rows.push(row(200 + k, { outer: 2 }));
  rows.push(row(300, { outer: 1, short: false }), row(301, { outer: 1, named: true }));
  const list = arrange(rows, names);
  assert.equal(list[0].row.key, 301);
  assert.equal(list[1].title, "9 × serve");
  assert.deepEqual(list[1].rows.map((r) => r.key), [100, 101, 102, 103, 104, 105, 106, 107, 108]);
  assert.deepEqual(list.slice(2).map((x) => x.row.key), [200, 201, 202, 203, 204, 205, 206, 207, 300]);
});

test("fifty thousand rows are arranged at once", () => {
  const rows = Array.from({ length: 50000 }, (_, k) => row(k, { outer: k % 2 }));
  assert.deepEqual(arrange(rows, names).map((x) => x.title), ["25,000 × (no scope)", "25,000 × serve"]);
});
