import test from "node:test";
import assert from "node:assert/strict";
import { encodeState, decodeState } from "../state.js";

test("a link brings back what it was made of", () => {
  const s = {
    view: { from: 0, to: 5310000000 }, range: { from: 17, to: 18 }, selection: { key: 4711, depth: -1, start: 99 },
    search: "a b&c=d#é", shift: -17, rows: "wörk wait>10ms", sort: "cpu", oneLine: true, collapsed: true, threads: true, wall: true, whole: true, name: "a & b", long: { from: 17, to: 4000000000 }, marks: [{ from: 1, to: 1, name: "" }, { from: 5, to: 5, name: "a-b:c&d=é" }, { from: 7, to: 9, name: "" }, { from: 22, to: 22, name: "" }], tab: "doctor", finding: "lock-contention:a:b c", states: "thick", nolocks: true, noprocs: true, graphs: "all", area: ["g1", "g3"], hidden: ["g1", "n7"], pinned: ["g2"], shut: ["t3"], opened: ["r7", "fmain.f[struct { x int }]%"], row: "fhttp.(*conn).serve",
  };
  assert.deepEqual(decodeState(encodeState(s)), s);
});

test("an empty state is an empty link", () => {
  assert.equal(encodeState({ marks: [] }), "");
  assert.deepEqual(decodeState(""), {});
});

test("what a link's way has done to it is left out", () => {
  assert.deepEqual(decodeState("v=5-1&r=x&s=1:2&m=a-3&by=cpu&states=huge&locks=on&procs=on&graphs=some&%"), { marks: [{ from: 3, to: 3, name: "" }] });
  assert.deepEqual(decodeState("v=99999999999999999-1"), {});
});

test("marks are bounded: a link is no book", () => {
  const long = { from: 1, to: 2, name: "x".repeat(500) };
  assert.equal(decodeState(encodeState({ marks: [long] })).marks[0].name.length, 80);
  assert.equal(decodeState(encodeState({ marks: Array(500).fill(long) })).marks.length, 100);
  assert.deepEqual(decodeState("note=9-3:x&note=x&note=:&note=3"), {});
  assert.deepEqual(decodeState("m=7&note=3-4:").marks, [{ from: 3, to: 4, name: "" }, { from: 7, to: 7, name: "" }], "by their begin");
});

test("what the tabs of functions look at", () => {
  for (const of of ["shown", "chosen", "g17"]) {
    const s = { tab: "callers", func: "a/b.(*T).f[go.shape.int]", metric: "cpu", scope: "wörk & <b>", executions: "compare", of };
    assert.deepEqual(decodeState(encodeState(s)), s);
  }
  assert.deepEqual(decodeState("of=g-1&runs=all"), {});
});

test("which request is looked at", () => {
  const s = { request: "0af7651916cd43dd8448eb211c80319c", only: true, flows: true };
  const got = decodeState(encodeState(s));
  assert.deepEqual([got.request, got.only, got.flows], [s.request, true, true]);
  assert.equal(decodeState("request=0af7651916cd43dd&only=x&flows=1").request, undefined);
});
