// What a trace for other viewers has in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { tracePieces } from "../panel/exporttrace.js";
import { modelOf } from "./make.js";

const traceOf = (model, from, to, skipped = { merged: 0 }) => JSON.parse([...tracePieces(model, from, to, skipped)].join("")).traceEvents;

test("a range as Chrome's JSON", () => {
  const model = modelOf([
    [1, 0, 1, 1, 1000, 5000, { quality: 1, cpu: 3000, args: '{"file":"a"}' }], [1, 1, 2, 6, 2000, 1000, {}], [1, 2, 3, 7, 3000, 4000, {}],
    [1, "i", 4, 3, 1500, 0, {}], [2, 0, 1, 1, 90000, 10, {}],
  ], { names: ["", "get", "mu", "mu", "tenth", "worker"], rowNames: { 1: 5 }, meta: { title: "t" } });
  const events = traceOf(model, 0, 10000);
  const on = (name, k = 0) => events.filter((e) => e.name === name)[k];
  assert.deepEqual(on("get"), { name: "get", cat: "task", pid: 1, tid: 1, ts: 1, args: { file: "a" }, ph: "X", dur: 5, tdur: 3 });
  assert.deepEqual(on("mu"), { name: "mu", cat: "wait", pid: 1, tid: 1, ts: 2, args: {}, ph: "X", dur: 1 });
  assert.equal(on("mu", 1).tid, 2, "a hold that outlasts its scope does not nest in it");
  assert.deepEqual([on("tenth").ph, on("tenth").ts, on("tenth").tid], ["i", 1.5, 1]);
  assert.deepEqual(events.filter((e) => e.name === "thread_name").map((e) => [e.tid, e.args.name]), [[1, "worker"], [2, "worker (2)"]], "what is not in the range has no row");
});

test("what is merged is counted, not made up", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100, { count: 7 }], [1, 0, 1, 1, 200, 100, {}]], { names: ["", "get"], tile: { res: 8 } });
  const skipped = { merged: 0 };
  assert.equal(traceOf(model, 0, 1000, skipped).filter((e) => e.ph === "X").length, 1);
  assert.equal(skipped.merged, 7);
});

test("only the rows of the area", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100, {}], [2, 0, 1, 1, 200, 100, { count: 5 }], [3, 0, 1, 1, 300, 100, {}]], { names: ["", "get"], tile: { res: 8 } });
  const skipped = { merged: 0 };
  const events = JSON.parse([...tracePieces(model, 0, 1000, skipped, new Set(["g3", "g9"]))].join("")).traceEvents;
  assert.deepEqual(events.filter((e) => e.ph === "X").map((e) => [e.tid, e.ts]), [[1, 0.3]]);
  assert.equal(skipped.merged, 0, "what another row lacks is not counted");
});
