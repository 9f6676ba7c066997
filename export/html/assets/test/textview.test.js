import { test } from "node:test";
import assert from "node:assert/strict";
import { textOf } from "../panel/textview.js";
import { fakeModel } from "./fakemodel.js";

const names = ["", "a", "b", "mu"];

test("rows have scopes, busy time and waits, cut at the view's edges", () => {
  const model = fakeModel(names, [
    { key: 1, name: "w", items: [
      { depth: 0, name: "a", start: 0, dur: 100 }, { depth: 1, name: "b", start: 10, dur: 20 }, { depth: 1, name: "mu", kind: 6, start: 40, dur: 30 },
      { depth: 0, name: "a", start: 300, dur: 50, flags: 4 },
    ] },
    { key: 2, items: [{ depth: 0, name: "a", start: 900, dur: 10 }] },
  ]);
  const text = textOf(model, "goroutine", 50, 400);
  assert.equal(text.rows.length, 1);
  const { scopes, busy, waits, waited } = text.rows[0];
  assert.deepEqual({ scopes, busy, waits, waited }, { scopes: 2, busy: 150, waits: 1, waited: 20 });
  assert.deepEqual(text.longest.map((l) => l.dur), [700, 100, 30]); // the open one up to the end
});

test("the longest of very many", () => {
  const items = Array.from({ length: 5000 }, (_, k) => ({ depth: 0, name: "a", start: k * 1000, dur: (k * 7919) % 997 }));
  const model = fakeModel(names, [{ key: 1, items }], { end: 5e6 });
  const { longest } = textOf(model, "goroutine", 0, 5e6, 10);
  const want = items.map((x) => x.dur).sort((a, b) => b - a).slice(0, 10);
  assert.deepEqual(longest.map((l) => l.dur), want);
});
