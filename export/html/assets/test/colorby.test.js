// What scopes can be coloured by, and how.

import assert from "node:assert/strict";
import { test } from "node:test";
import { colorOf } from "../view/color.js";
import { colorBy, colorChoices } from "../view/colorby.js";
import { modelOf } from "./make.js";

test("scopes are coloured by name, row, thread or argument", () => {
  const model = modelOf([
    [1, 0, 1, 1, 0, 10, { thread: 7, args: '{"tenant":"a","0":5}' }], [1, 0, 1, 1, 20, 10, { args: '{"tenant":"b"}' }], [2, 0, 2, 1, 0, 10, {}],
  ], { names: ["", "get", "put", "worker 1"], rowNames: { 1: 3 } });
  assert.deepEqual(colorChoices(model), ["name", "row", "thread", "argument tenant", "argument 0"]);
  const all = (by) => [0, 1, 2].map((i) => colorBy(model, by, model.base, i));
  assert.deepEqual(all("name"), [colorOf("get"), colorOf("get"), colorOf("put")]);
  assert.deepEqual(all("row"), [colorOf("worker 1"), colorOf("worker 1"), colorOf("goroutine 2")]);
  assert.deepEqual(all("thread"), [colorOf("thread 7"), null, null]);
  assert.deepEqual(all("argument tenant"), [colorOf("argument tenant=a"), colorOf("argument tenant=b"), null]);
  assert.notEqual(all("argument tenant")[0], all("argument tenant")[1]);
  assert.deepEqual(all("argument 0"), [colorOf("argument 0=5"), null, null]);
});
