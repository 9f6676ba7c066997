import test from "node:test";
import assert from "node:assert/strict";
import { fitLines, foldEnded, layoutRows, newChoices, stripsBetween, showMore, rowId, sizes } from "../view/layout.js";

const row = (key, depth, title = `goroutine ${key}`) => ({ by: "goroutine", key, depth, title, named: false, flags: { parts: [], open: null }, scopes: 1, lanes: Array.from({ length: depth }, (_, d) => ({ depth: d })) });
const model = { series: () => [{ nameId: 5 }], name: () => "queue" };
const of = (rows) => rows.map((r) => ({ kind: "row", row: r }));

sizes.line = 18;

test("rows lie under each other, counters last", () => {
  const { strips, height } = layoutRows(model, of([row(1, 2), row(2, 1)]), newChoices());
  assert.deepEqual(strips.map((s) => [s.kind, s.y, s.h]), [["row", 0, 37], ["row", 37, 19], ["series", 56, 30]]);
  assert.equal(height, 86);
});

test("deep rows show twelve lines and say how many they hide", () => {
  const choices = newChoices();
  const deep = of([row(1, 500)]);
  let [s] = layoutRows(model, deep, choices).strips;
  assert.deepEqual([s.lanes.length, s.left, s.h], [12, 488, 13 * sizes.line + 1]);
  choices.full.add("g1");
  [s] = layoutRows(model, deep, choices).strips;
  assert.deepEqual([s.lanes.length, s.left], [500, 0]);
  choices.shut.add("g1");
  [s] = layoutRows(model, deep, choices).strips;
  assert.deepEqual([s.lanes.length, s.left], [1, 0]);
});

test("pinned rows come first, hidden ones are counted, the filter is by title", () => {
  const choices = newChoices();
  choices.pinned.add("g3");
  choices.hidden.add("g1");
  const rows = of([row(1, 1), row(2, 1), row(3, 1)]);
  assert.deepEqual(layoutRows(model, rows, choices).strips.map((s) => s.id), ["g3", "g2", "c5", ""]);
  choices.filter = "INE 2";
  assert.deepEqual(layoutRows(model, rows, choices).strips.map((s) => s.id), ["g2"]);
});

test("a group shows twenty rows, then twenty more", () => {
  const choices = newChoices();
  const group = [{ kind: "group", title: "50 × handle", id: "n7", rows: Array.from({ length: 50 }, (_, k) => row(k, 1)) }];
  assert.deepEqual(layoutRows(model, group, choices).strips.map((s) => s.kind), ["group", "series"]);
  choices.opened.add("n7");
  const kinds = () => layoutRows(model, group, choices).strips.filter((s) => s.kind === "row").length;
  assert.equal(kinds(), 20);
  assert.equal(layoutRows(model, group, choices).strips[21].title, "20 more of 30");
  showMore(choices, "n7");
  showMore(choices, "n7");
  assert.equal(kinds(), 50);
});

test("at the live end ended rows go to the bottom", () => {
  const rows = [["a", 5], ["d", 15], ["b", 50], ["c", 5]].map(([title, last], k) => ({ ...row(k, 1, title), last }));
  const group = { kind: "group", title: "2 × x", id: "n7", rows: [{ ...row(8, 1), last: 4 }, { ...row(9, 1), last: 44 }] };
  const got = foldEnded([...of(rows), group], 10, 30);
  assert.deepEqual(got.map((a) => a.row?.title ?? [a.title, a.rows.map((r) => r.key)]), ["b", ["1 of 2 × x", [9]], "d", ["3 rows that ended before", [0, 3, 8]]]);
  assert.deepEqual(foldEnded(of(rows), 0, 0), of(rows));
});

test("strips of states lie under the bars, rows of locks over the rows", () => {
  const lane = {};
  const locks = Array.from({ length: 12 }, (_, k) => ({ id: `l5@0x${k}`, nameId: 5, addr: `0x${k}`, alone: false }));
  const with2 = { ...model, waits: { lane: (key) => (key === 2 ? null : lane), locks, more: 3 } };
  const choices = newChoices();
  const rows = of([row(1, 2), row(2, 1), { ...row(3, 0) }]);
  let { strips } = layoutRows(with2, rows, choices);
  const rowsIn = () => strips.filter((s) => s.kind === "row");
  assert.deepEqual(rowsIn().map((s) => [s.states === lane, s.statesAt, s.statesHigh, s.h]), [[true, 37, 5, 43], [false, 19, 0, 19], [true, 1, 12, 19]]);
  assert.deepEqual(strips.slice(0, 6).map((s) => [s.kind, s.title]), [["locks", "Locks (15)"], ["lock", "queue 0x0"], ["lock", "queue 0x1"], ["lock", "queue 0x2"], ["more", "9 more of 9"], ["row", "goroutine 1"]]);
  choices.states = "thick";
  choices.pinned.add("l5@0x11");
  ({ strips } = layoutRows(with2, rows, choices));
  assert.deepEqual([strips[0].id, rowsIn()[0].statesHigh], ["l5@0x11", 14]);
  choices.states = "off";
  choices.locks = false;
  ({ strips } = layoutRows(with2, rows, choices));
  assert.deepEqual(strips.map((s) => [s.kind, s.h]), [["row", 37], ["row", 19], ["row", 19], ["series", 30]]);
});

test("the strips in sight", () => {
  const { strips } = layoutRows(model, of(Array.from({ length: 1000 }, (_, k) => row(k, 1))), newChoices());
  assert.deepEqual(stripsBetween(strips, 20, 41).map((s) => s.id), ["g1", "g2"]);
  assert.deepEqual(stripsBetween(strips, 1e9, 2e9), []);
  assert.equal(rowId({ by: "thread", key: 9 }), "t9");
});

test("one line of each row, without strips, is as many rows as there is room for", () => {
  const choices = { ...newChoices(), oneLine: true };
  const with3 = { ...model, waits: { lane: () => ({}), locks: [], more: 0 } };
  const rows = of([row(1, 5), { ...row(2, 1), flags: { parts: [1], open: null } }, row(3, 0)]);
  const { strips } = layoutRows(with3, rows, choices);
  assert.deepEqual(strips.slice(0, 3).map((s) => [s.lanes.length, s.left, s.flags, s.states !== null, s.h]), [[1, 0, false, false, 19], [1, 0, false, false, 19], [0, 0, false, true, 19]]);
});

test("where all are collapsed, the ones that are not are remembered", () => {
  const choices = { ...newChoices(), collapsed: true };
  choices.shut.add("g2");
  assert.deepEqual(layoutRows(model, of([row(1, 3), row(2, 3)]), choices).strips.slice(0, 2).map((s) => [s.shut, s.lanes.length]), [[true, 1], [false, 3]]);
});

test("a group says how many of its rows the filter keeps; pinned ones are counted apart", () => {
  const choices = { ...newChoices(), filter: "goroutine 1" };
  choices.pinned.add("g1");
  const group = [{ kind: "group", title: "12 × handle", id: "n7", rows: Array.from({ length: 12 }, (_, k) => row(k, 1)) }];
  const { strips, pins } = layoutRows(model, group, choices);
  assert.deepEqual([strips.map((s) => s.title), pins], [["goroutine 1", "2 of 12 × handle"], 1]);
});

test("lines are as high as all rows fit in, and no lower than can be read", () => {
  const bare = { ...model, series: () => [] };
  const lines = [1000, 50, 40, 1].map((room) => {
    fitLines(bare, of([row(1, 2)]), newChoices(), room);
    return sizes.line;
  });
  assert.deepEqual(lines, [26, 22, 18, 16]);
  sizes.line = 18;
});
