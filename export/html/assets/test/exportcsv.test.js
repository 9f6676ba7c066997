import { test } from "node:test";
import assert from "node:assert/strict";
import { CSV_HEADER, csvOf, csvPieces } from "../panel/exportcsv.js";
import { fakeModel } from "./fakemodel.js";

const names = ["", "f1", "wait,me", "=evil", "files"];

test("rows of every kind, in the order of start, a parent first", () => {
  const model = fakeModel(names, [
    { key: 18, name: "worker 1", items: [
      { depth: 0, name: "f1", start: 10, dur: 100, cpu: 90, flags: 1, thread: 4711, args: '{"file":"a \\"b\\""}' },
      { depth: 1, name: "f1", start: 10, dur: 20, cpu: 15, flags: 3 },
      { depth: 1, name: "wait,me", kind: 6, start: 40, dur: 5, args: '{"addr":"0x10"}' },
      { depth: 2, name: "f1", start: 42, dur: 9, flags: 8 },
      { depth: -1, name: "=evil", kind: 3, start: 41 },
      { depth: -1, name: "f1", kind: 4, start: 200 },
    ] },
    { key: 0, items: [{ depth: 0, name: "f1", kind: 2, start: 5, dur: 7, cpu: 14, flags: 2 }, { depth: 0, name: "f1", start: 900, dur: 1, flags: 4 }] },
  ], {
    series: [{ nameId: 4, time: [50, 60], value: [1.5, 2] }],
    beats: { time: [0, 1000], rss: [4096, null], goroutines: [8, 9], heap: [null, null] },
  });
  assert.equal(csvOf(model, 0, 1000), CSV_HEADER + [
    'heartbeat,,,,,,0,0,,,false,"{""rss_bytes"":4096,""goroutines"":8}"',
    "process,f1,,,,0,5,7,14,,false,",
    'task,f1,worker 1,18,4711,0,10,100,90,,false,"{""file"":""a \\""b\\""""}"',
    "task,f1,worker 1,18,,1,10,20,,15,false,",
    'wait,"wait,me",worker 1,18,,1,40,5,,,false,"{""addr"":""0x10""}"',
    "event,'=evil,worker 1,18,,2,41,0,,,false,",
    "task,f1,worker 1,18,,2,42,,,,false,",
    'counter,files,,,,,50,0,,,false,"{""value"":1.5}"',
    'counter,files,,,,,60,0,,,false,"{""value"":2}"',
    "pending,f1,worker 1,18,,0,200,0,,,false,",
    "task,f1,,,,0,900,100,,,true,",
    'heartbeat,,,,,,1000,0,,,false,"{""goroutines"":9}"',
  ].join("\n") + "\n");
});

test("only what touches the range", () => {
  const items = [1, 2, 3].map((k) => ({ depth: 0, name: "f1", start: k * 100, dur: 50 }));
  const model = fakeModel(names, [{ key: 1, items }]);
  assert.equal(csvOf(model, 160, 220).split("\n").length, 3);
  assert.match(csvOf(model, 160, 220), /\n[^\n]*,200,50,/);
  assert.equal(csvOf(model, 260, 280), CSV_HEADER);
});

test("only the rows of the area, and nothing of the process", () => {
  const rows = [1, 2, 3].map((key) => ({ key, items: [{ depth: 0, name: "f1", start: key * 100, dur: 50 }] }));
  const model = fakeModel(names, rows, { series: [{ nameId: 4, time: [50], value: [1] }], beats: { time: [0], rss: [1], goroutines: [1], heap: [1] } });
  const csv = [...csvPieces(model, 0, 1000, undefined, new Set(["g1", "g3", "g9"]))].join("");
  assert.equal(csv, `${CSV_HEADER}task,f1,,1,,0,100,50,,,false,\ntask,f1,,3,,0,300,50,,,false,\n`);
});

test("merged scopes are counted, not made up; long lists come in pieces", () => {
  const items = Array.from({ length: 40000 }, (_, k) => ({ depth: 0, name: "f1", start: k * 10, dur: 5 }));
  items.push({ depth: 0, name: "f1", start: 500000, dur: 20, count: 17 });
  const model = fakeModel(names, [{ key: 1, items }], { end: 600000 });
  const skipped = { merged: 0 };
  const pieces = [...csvPieces(model, 0, 600000, skipped)];
  assert.equal(skipped.merged, 17);
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join("").split("\n").length, 40002);
});
