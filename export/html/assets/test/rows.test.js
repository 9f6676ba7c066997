import test from "node:test";
import assert from "node:assert/strict";
import { arrange } from "../model/rows.js";
import { rowSums } from "../model/rowsums.js";
import { modelOf } from "./make.js";

const names = ["", "serve", "job"];
const row = (key, more) => ({ key, by: "goroutine", title: `goroutine ${key}`, name: "", named: false, nameId: 0, outer: 0, first: key, ...more });
const named = (key, name, more) => row(key, { name, title: name, named: true, nameId: 100 + key, ...more });
const titles = (list) => list.map((a) => a.row?.title ?? a.title);

test("named rows come first and by name, 2 before 10; those without a name as they began", () => {
  const rows = [row(1), named(2, "worker 10"), row(3), named(4, "worker 8"), named(5, "worker 7"), named(6, "accept"), named(7, "worker 2"), named(8, "stage 10 part 1"), named(9, "stage 9 part 2")];
  assert.deepEqual(titles(arrange(rows, names)), ["accept", "stage 9 part 2", "stage 10 part 1", "worker 2", "worker 7", "worker 8", "worker 10", "goroutine 1", "goroutine 3"]);
  assert.deepEqual(titles(arrange(rows.slice(0, 4), names, "start")), ["goroutine 1", "worker 10", "goroutine 3", "worker 8"]);
});

test("many rows without a name fold by where they began, else by their outermost scopes; few do not", () => {
  const rows = [];
  for (let k = 0; k < 9; k++) rows.push(row(100 + k, { outer: 1 }));
  for (let k = 0; k < 8; k++) rows.push(row(200 + k, { outer: 2 }));
  rows.push(named(301, "one", { outer: 1 }));
  const list = arrange(rows, names);
  assert.equal(list[0].row.key, 301);
  assert.equal(list[1].title, "9 × serve");
  assert.deepEqual(list[1].rows.map((r) => r.key), [100, 101, 102, 103, 104, 105, 106, 107, 108]);
  assert.deepEqual(list.slice(2).map((x) => x.row.key), [200, 201, 202, 203, 204, 205, 206, 207]);
  const begun = arrange(rows, names, "name", null, (r) => (r.key >= 104 && r.key < 208 ? "net/http.(*conn).serve" : ""));
  assert.deepEqual(titles(begun), ["one", "goroutine 100", "goroutine 101", "goroutine 102", "goroutine 103", "13 × http.(*conn).serve"]);
});

test("rows of one name fold, and those whose names differ in the number at the end", () => {
  const rows = [];
  for (let k = 0; k < 500; k++) rows.push(named(1000 + k, "handler", { nameId: 7 }));
  for (let k = 12; k > 0; k--) rows.push(named(k, `worker ${k}`));
  for (let k = 0; k < 8; k++) rows.push(named(50 + k, `conn-${k}`));
  for (let k = 0; k < 9; k++) rows.push(named(70 + k, "worker 3", { nameId: 9 }));
  const list = arrange(rows, names);
  assert.deepEqual(titles(list), [...Array.from({ length: 8 }, (_, k) => `conn-${k}`), "500 × handler", "11 × worker 1–12", "10 × worker 3"]);
  assert.deepEqual([list[8].id, list[9].id, list[10].id], ["r7", "s112", "r103"]);
  assert.deepEqual(list[9].rows.map((r) => r.key), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test("rows are sorted by what they did; what is not known comes last", () => {
  const items = [
    [1, 0, 1, 1, 0, 10, { quality: 1, cpu: 4 }], [2, 0, 1, 1, 1, 90], [2, 1, 2, 6, 10, 30], [3, 0, 1, 1, 2, 50, { quality: 2, cpu: 40 }],
    [4, 0, 2, 7, 3, 80], [4, 1, 1, 1, 10, 20, { quality: 3, cpu: 20 }], [4, 1, 1, 1, 50, 10, { quality: 1, cpu: 5 }],
  ];
  const model = modelOf(items, { names: ["", "job", "mu"] });
  const rows = model.rows();
  const sums = rowSums(model, "goroutine");
  assert.deepEqual(rows.map((r) => sums.get(r)), [{ busy: 10, wait: 0, cpu: 4 }, { busy: 90, wait: 30, cpu: NaN }, { busy: 50, wait: 0, cpu: 40 }, { busy: 30, wait: 0, cpu: 5 }]);
  const keys = (order) => arrange(rows, model.names, order, sums).map((a) => a.row.key);
  assert.deepEqual(["busy", "wait", "cpu"].map(keys), [[2, 3, 4, 1], [2, 1, 3, 4], [3, 4, 1, 2]]);
});

test("fifty thousand rows are arranged at once", () => {
  const rows = Array.from({ length: 50000 }, (_, k) => row(k, { outer: k % 2 }));
  assert.deepEqual(arrange(rows, names).map((x) => x.title), ["25,000 × (no scope)", "25,000 × serve"]);
  let looks = 0; // at a name
  const many = Array.from({ length: 50000 }, (_, k) => {
    const name = `worker ${(k * 7919) % 50000}`;
    return Object.defineProperty(named(k, name), "name", { get: () => (looks++, name) });
  });
  assert.deepEqual(arrange(many, names)[0].rows.slice(0, 3).map((r) => r.title), ["worker 0", "worker 1", "worker 2"]);
  assert.ok(looks > 0 && looks < 50000 * 20, `no name is compared with each other one: ${looks} looks`);
});
