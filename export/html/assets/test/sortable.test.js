import { test } from "node:test";
import assert from "node:assert/strict";
import { sortedRows } from "../panel/sortable.js";
import { pluralText } from "../view/make.js";

const by = (numeric) => ({ key: "v", title: "v", numeric, value: (r) => r.v });
const order = (rows, numeric, descending) => sortedRows(rows, by(numeric), descending).map((r) => r.id).join("");

test("numbers by size, what is unknown last both ways, equals as they were", () => {
  const rows = [{ id: "a", v: 2 }, { id: "b", v: null }, { id: "c", v: 10 }, { id: "d", v: 2 }, { id: "e", v: NaN }, { id: "f", v: -1 }];
  assert.equal(order(rows, true, false), "fadcbe");
  assert.equal(order(rows, true, true), "cadfbe");
});

test("text as people sort it", () => {
  const rows = [{ id: "a", v: "worker 10" }, { id: "b", v: "worker 2" }, { id: "c", v: "Alpha" }, { id: "d", v: undefined }];
  assert.equal(order(rows, false, false), "cbad");
  assert.equal(order(rows, false, true), "abcd");
});

test("the rows given stay as they are", () => {
  const rows = [{ id: "a", v: 2 }, { id: "b", v: 1 }];
  sortedRows(rows, by(true), false);
  assert.equal(rows[0].id, "a");
});

test("numbers have their noun", () => {
  assert.equal(pluralText(1, "scope"), "1 scope");
  assert.equal(pluralText(5000, "scope"), "5,000 scopes");
});
