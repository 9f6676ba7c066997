// The language of the search: texts, durations, CPU time and arguments.

import test from "node:test";
import assert from "node:assert/strict";
import { modelOf } from "./make.js";
import { duration } from "../model/expression.js";
import { search, searchHelp } from "../model/search.js";

const model = modelOf([
  [1, 0, 1, 1, 0, 20e6, { args: '{"status":500,"path":"/Work"}', quality: 1, cpu: 2e6 }], [1, 0, 1, 1, 30e6, 5e6, { args: '{"status":200}', quality: 3, cpu: 4e6 }],
  [1, 0, 2, 1, 40e6, 15e6, { args: '{"status":500,"size":1200}' }], [1, 0, 2, 1, 60e6, 1e6, { args: '{"size":90}' }], [2, 0, 3, 1, 0, 50e6, { count: 9, busy: 40e6 }],
], { names: ["", "work", "parse", "short ones"], tile: { res: 64 } });
/** The starts of what is found, in ms. */
const found = (/** @type {string} */ text) => {
  const hits = search(model, text);
  const list = [];
  for (const batch of model.batches()) for (let i = 0; i < batch.n; i++) if (hits.has(batch, i)) list.push(batch.start[i] / 1e6);
  assert.equal(list.length, hits.count);
  return list.sort((a, b) => a - b);
};

test("words are in the name or the arguments", () => {
  assert.deepEqual(["work", "WORK", '"short ones"', "short ones", "name:parse", "-work", "-name:short -work", "nothing"].map(found), [[0, 30], [0, 30], [0], [0], [40, 60], [0, 40, 60], [40, 60], []]);
});

test("durations and CPU times are compared; those of merged scopes are not known", () => {
  assert.deepEqual(["dur>10ms", "dur>=5ms", "work>10ms", "parse<2ms", "cpu>1ms", "-dur>10ms work", "dur=5ms"].map(found), [[0, 40], [0, 30, 40], [0], [60], [0], [30], [30]]);
});

test("arguments are compared", () => {
  assert.deepEqual(["status=500", "dur>10ms status=500", "STATUS=200", "size>1000", "-status=500 parse", "path=/work", "work status=500"].map(found), [[0, 40], [0, 40], [30], [40], [60], [0], [0]]);
});

test("what is no comparison is a text", () => {
  assert.deepEqual(["a>b", "dur>", '"open'].map((text) => search(model, text).count), [0, 0, 0]);
  for (const [example] of searchHelp) search(model, example);
});

test("rows are found by their names only", () => {
  const rows = model.rows();
  assert.deepEqual([search(model, "goroutine 2").rowsOf(rows).length, search(model, "goroutine dur>1ms").rowsOf(rows).length], [1, 0]);
});

test("durations as they are typed", () => {
  assert.deepEqual(["10ms", "1.5 s", "3µs", "7", "x", ""].map(duration), [1e7, 1.5e9, 3e3, null, null, null]);
});
