import test from "node:test";
import assert from "node:assert/strict";
import { container, modelOf, randomly } from "./make.js";
import { links } from "../model/links.js";
import { children, longest, neighbour, onRow, parent } from "../model/relate.js";
import { search } from "../model/search.js";
import { same } from "../model/refs.js";

const names = ["", "work", "read", "Store.Get", "mu"];
const at = (model, key, depth, start) => model.find(key, depth, start);
const say = (ref) => (ref ? [ref.batch.lanes[ref.batch.lane[ref.i]].key, ref.batch.start[ref.i]] : null);

test("a parent is the scope around, a hold is none", () => {
  const model = modelOf([
    [1, 0, 1, 1, 0, 100], [1, 1, 4, 7, 10, 80], [1, 2, 2, 1, 20, 30], [1, 2, 2, 1, 60, 20], [1, 1, 2, 1, 92, 5], [1, "i", 3, 3, 25, 0], [1, "i", 3, 3, 95, 0],
  ], { names });
  assert.deepEqual(say(parent(model, at(model, 1, 2, 20))), [1, 0]);
  assert.deepEqual(say(parent(model, at(model, 1, 1, 10))), [1, 0]);
  assert.deepEqual(say(parent(model, at(model, 1, -1, 25))), [1, 20]);
  assert.deepEqual(say(parent(model, at(model, 1, -1, 95))), [1, 92]);
  assert.equal(parent(model, at(model, 1, 0, 0)), null);
  assert.deepEqual(children(model, at(model, 1, 0, 0), 100).map(say), [[1, 10], [1, 20], [1, 60], [1, 92]]);
  assert.deepEqual(children(model, at(model, 1, 0, 0), 1).map(say), [[1, 10]]);
  assert.deepEqual(children(model, at(model, 1, 2, 20), 9), []);
});

test("a parent that begins at the same moment, and one that had ended", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 10], [1, 1, 2, 1, 0, 5], [1, 0, 1, 1, 10, 10], [1, 1, 2, 1, 10, 5]], { names });
  assert.deepEqual(say(parent(model, at(model, 1, 1, 10))), [1, 10]);
  assert.deepEqual(say(parent(model, at(model, 1, 1, 0))), [1, 0]);
  assert.equal(parent(model, at(model, 1, 0, 10)), null);
});

test("the next and the previous of a name go over all rows, by start, and miss none", () => {
  const random = randomly(2);
  const items = [];
  for (let key = 1; key <= 5; key++) for (let k = 0, t = 0; k < 40; k++, t += 1 + random(9)) items.push([key, 0, 1 + random(2), 1, t, 1]);
  const model = modelOf(items, { names });
  model.update(container([[9, 0, 1, 1, 50, 1], [9, 0, 1, 1, 50 + 1, 1]], { meta: { end: 1000, names: undefined } }));
  const all = items.filter((x) => x[2] === 1).length + 2;
  let ref = longest(model, 1);
  for (let up = ref; up; up = neighbour(model, up, -1)) ref = up;
  const seen = [ref];
  for (let next = neighbour(model, ref, 1); next; next = neighbour(model, next, 1)) seen.push(next);
  assert.equal(seen.length, all);
  for (let k = 1; k < seen.length; k++) {
    assert.ok(seen[k - 1].batch.start[seen[k - 1].i] <= seen[k].batch.start[seen[k].i]);
    assert.ok(same(neighbour(model, seen[k], -1), seen[k - 1]));
  }
});

test("in a lane one goes from batch to batch", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 5], [1, 0, 1, 1, 10, 5]], { names });
  for (let t = 20; t < 60; t += 10) model.update(container([[1, 0, 1, 1, t, 5]], { meta: { end: t + 5, names: undefined } }));
  let ref = at(model, 1, 0, 0);
  const starts = [];
  for (; ref; ref = onRow(model, ref, 1)) starts.push(ref.batch.start[ref.i]);
  assert.deepEqual(starts, [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(say(onRow(model, at(model, 1, 0, 50), -1)), [1, 40]);
  assert.equal(onRow(model, at(model, 1, 0, 0), -1), null);
  assert.deepEqual(starts.length, 6);
});

test("the longest is a scope before it is a wait, if nothing else is asked for", () => {
  const model = modelOf([[1, 0, 4, 6, 0, 50], [1, 0, 4, 7, 60, 100], [2, 0, 1, 1, 0, 5], [2, 0, 1, 6, 10, 80]], { names });
  assert.deepEqual(say(longest(model, 4)), [1, 0]);
  assert.deepEqual(say(longest(model, 4, 7)), [1, 60]);
  assert.deepEqual(say(longest(model, 1)), [2, 0]);
  assert.equal(longest(model, 3), null);
});

test("a link leads from a goroutine to those that it started", () => {
  const model = modelOf([
    [1, 0, 1, 1, 0, 100], [1, 1, 2, 1, 10, 20], [2, 0, 1, 1, 25, 50], [3, 0, 1, 1, 60, 5],
  ], { names, gos: [[2, 1, 15, 20], [3, 1, 55, 58]] });
  assert.deepEqual(links(model, at(model, 2, 0, 25)).map((l) => [l.kind, l.from.rowKey, l.from.time, say(l.from.ref), l.to.rowKey, l.to.time]), [["go", 1, 15, [1, 10], 2, 20]]);
  assert.deepEqual(links(model, at(model, 1, 1, 10)).map((l) => l.to.rowKey), [2]);
  assert.deepEqual(links(model, at(model, 1, 0, 0)).map((l) => l.to.rowKey), [2, 3]);
});

test("a link leads from the release of a lock to the next holder", () => {
  const args = '{"addr":"0xc1"}';
  const other = { args: '{"addr":"0xc2"}' };
  const model = modelOf([
    [1, 0, 4, 7, 0, 50, { args }], [2, 0, 4, 6, 10, 42, { args }], [2, 0, 4, 7, 52, 20, { args }],
    [3, 0, 4, 6, 12, 61, { args }], [4, 0, 4, 7, 0, 49, other], [5, 0, 4, 6, 5, 46, other],
  ], { names });
  const linksAt = (key, start) => links(model, at(model, key, 0, start)).map((l) => [l.kind, l.from.rowKey, l.from.time, l.to.rowKey, l.to.time]);
  assert.deepEqual(linksAt(2, 10), [["lock", 1, 50, 2, 52]]);
  assert.deepEqual(linksAt(3, 12), [["lock", 2, 72, 3, 73]]);
  assert.deepEqual(linksAt(5, 5), [["lock", 4, 49, 5, 51]]);
  assert.deepEqual(linksAt(1, 0), [["lock", 1, 50, 2, 52]]);
  assert.deepEqual(linksAt(2, 52), [["lock", 2, 72, 3, 73]]);
  assert.deepEqual(linksAt(4, 0), [["lock", 4, 49, 5, 51]]);
});

test("search stays where every scope is there", () => {
  const whole = modelOf([[1, 0, 3, 1, 0, 30], [1, 0, 3, 1, 40, 30], [1, 0, 3, 1, 80, 10]], { names });
  const part = modelOf([[1, 0, 3, 1, 41, 1], [1, 0, 1, 1, 44, 1], [1, 0, 3, 1, 47, 1], [1, 0, 3, 1, 58, 1]], { names });
  const tile = { batch: part.base, from: 40, to: 60, res: 0, asked: 1, known: new Set([whole.base]), threads: null };
  const hits = search(whole, names[3].slice(0, 3));
  const steps = (at, dir) => {
    const list = [];
    for (let ref = hits.nextIn(tile, at, dir); ref; ref = hits.nextIn(tile, ref, dir)) list.push(say(ref));
    return list;
  };
  assert.deepEqual(steps(39, 1), [[1, 41], [1, 47], [1, 58]]);
  assert.deepEqual(steps(61, -1), [[1, 58], [1, 47], [1, 41]]);
  assert.equal(hits.nextIn(tile, 20, 1), null, "from elsewhere");
  assert.equal(hits.nextIn({ ...tile, res: 8 }, 39, 1), null, "merged");
  assert.equal(hits.nextIn(null, 39, 1), null);
  const last = hits.nextIn(tile, 57, 1);
  assert.deepEqual(say(hits.next(last, 1)), [1, 80], "and from its last one on");
});

test("search finds names and arguments in any case", () => {
  const items = [[1, 0, 3, 1, 0, 10], [1, 0, 1, 1, 20, 10, { args: '{"file":"store.go"}' }], [1, 0, 1, 1, 40, 10, { args: '{"file":"x.go"}' }], [2, 0, 3, 1, 40, 55], [2, "i", 3, 3, 0, 0]];
  const model = modelOf(items, { names });
  const hits = search(model, "STORE");
  assert.equal(hits.count, 4);
  assert.equal(hits.exact, true);
  assert.deepEqual([...hits.bins(0, 100, 10)], [2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  const lane = model.rows()[0].lanes[0];
  const { batch, from } = lane.parts[0];
  assert.deepEqual([hits.has(batch, from, from + 1), hits.has(batch, from + 2, from + 3), hits.has(batch, from, from + 3)], [true, false, true]);
  assert.deepEqual(say(hits.next(0, 1)), [1, 20]);
  assert.deepEqual(say(hits.next(40, -1)), [1, 20]);
  const seen = [];
  for (let ref = hits.next(-1, 1); ref; ref = hits.next(ref, 1)) seen.push(say(ref));
  assert.deepEqual(seen, [[1, 0], [2, 0], [1, 20], [2, 40]]);
  const places = [];
  for (let ref = hits.next(-1, 1); ref; ref = hits.next(ref, 1)) places.push(hits.placeOf(ref));
  assert.deepEqual(places, [0, 1, 2, 3], "of how many it is which");
  assert.deepEqual(search(model, "ROUTINE 2").rowsOf(model.rows()).map((r) => r.key), [2], "names of rows");
  const back = [];
  for (let ref = hits.next(Infinity, -1); ref; ref = hits.next(ref, -1)) back.push(say(ref));
  assert.deepEqual(back, seen.reverse());
  assert.equal(search(model, "nowhere").next(-1, 1), null);
});
