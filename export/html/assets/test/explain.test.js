import test from "node:test";
import assert from "node:assert/strict";
import { locksOf, modelOf, statesOf } from "./make.js";
import { chainLinks, chainOf, originOf } from "../model/chain.js";
import { activitiesOf, explain, holdAt, waitOfItem } from "../model/explain.js";
import { longestInside, spentIn } from "../model/spent.js";
import { heldByText, rootText, stepText } from "../view/waitfacts.js";

const names = ["", "want", "store.mu", "count", "merge", "disk.mu", "compress", "worker 5", "worker 3", "request", "ch", "get"];
const [want, store, count, merge, disk, compress, worker5, worker3, request, ch, get] = names.slice(1).map((_, i) => i + 1);
const [cpu, runnable, lock, sleep, channel, syscall] = [1, 2, 3, 4, 5, 6];
const [task, wait, hold] = [1, 6, 7];
const args = (addr, more = "") => ({ args: `{"addr":"${addr}","lock":"mutex"${more}}` });

/** Returns the result of explain as text. */
const said = ({ parts }) => parts.map((p) => `${p.kind} ${p.key} ${names[p.scope] ?? "-"} ${p.state ? `${p.state} ` : ""}${p.ns}${p.pieces.length > 1 ? ` ×${p.pieces.length}` : ""}`);
const sum = (parts) => parts.reduce((n, p) => n + p.ns, 0);
const appOf = (model) => /** @type {any} */ ({ model });

/** Goroutine 1 waits for store.mu from 100 to 1100; holds show the holders. */
function contended(more = {}, locks = {}, states = null) {
  const model = modelOf([
    [1, 0, want, task, 50, 1060], [1, 1, store, wait, 100, 1000, args("0xc0", more.holder)],
    [5, 0, count, task, 0, 700], [5, 1, store, hold, 0, 600, args("0xc0")], [5, 1, store, hold, 640, 10, args("0xc0")], [3, 0, merge, task, 700, 400], [3, 1, store, hold, 700, 300, args("0xc0")],
  ], { names, rowNames: { 5: worker5, 3: worker3 }, tile: more.tile });
  model.waits.take(locksOf([{ name: store, addr: "0xc0", held: [[0, 600, 5, count], [640, 10, 5, count], [700, 300, 3, merge]], steps: [[60, 1], [80, 2], [100, 3], [600, 2], [700, 5], [1000, 1], [1100, 0]], ...locks }], more.res));
  if (states) model.waits.take(statesOf(states));
  return { model, ref: model.find(1, 1, 100) };
}

test("a wait is divided among the holders of its object, to the nanosecond", () => {
  const { model, ref } = contended();
  const why = explain(model, waitOfItem(model, ref));
  assert.deepEqual(said(why), ["hold 5 count 510 ×2", "hold 3 merge 300", "unknown 0 - 190 ×3"]);
  assert.equal(sum(why.parts), 1000);
  assert.deepEqual(why.queue, { first: 3, min: 1, max: 5, columns: [...Array(40).fill(3), ...Array(8).fill(2), ...Array(24).fill(5), ...Array(8).fill(1)], exact: true });
  const first = why.parts[0];
  assert.deepEqual(first.pieces.map((p) => holdAt(model, first.key, p.start)).map(({ batch, i }) => [batch.kind[i], batch.start[i]]), [[hold, 0], [hold, 640]]);
  assert.equal(heldByText(appOf(model), waitOfItem(model, ref)), "worker 5, in count (51%); worker 3, in merge (30%); 5 waiting");
});

test("the holder at the wait's begin had the object up to the next hold, at most", () => {
  const { model, ref } = contended({ holder: ',"holder":9' }, { held: [[700, 300, 3, merge]] });
  const why = explain(model, waitOfItem(model, ref));
  assert.deepEqual(said(why), ["atMost 9 - 600", "hold 3 merge 300", "unknown 0 - 100"]);
  assert.equal(heldByText(appOf(model), waitOfItem(model, ref)), "goroutine 9 (≤ 60%); worker 3, in merge (30%); 5 waiting");
});

test("readers share a lock; merged holds are one part; without holds nothing is known", () => {
  const shared = contended({}, { held: [[100, 400, 5, count, 3, 1], [600, 400, 5, count, 1, 1]] });
  assert.deepEqual(said(explain(shared.model, waitOfItem(shared.model, shared.ref))), ["shared 5 count 800 ×2", "unknown 0 - 200 ×2"]);
  assert.match(heldByText(appOf(shared.model), waitOfItem(shared.model, shared.ref)), /^4 holds of readers, who share it; the longest by worker 5, in count \(80%\)/);
  const merged = contended({ res: 64, tile: { res: 16 } }, { held: [[0, 1100, 5, count, 12, 0]] });
  const why = explain(merged.model, waitOfItem(merged.model, merged.ref));
  assert.deepEqual([said(why), why.queue.exact], [["merged 5 count 1000"], false]);
  assert.equal(heldByText(appOf(merged.model), why.wait), "12 holds, merged here; the longest by worker 5, in count (100%); at most 5 waiting");
  const none = modelOf([[1, 1, store, wait, 100, 1000, args("0xc0")]], { names });
  const item = waitOfItem(none, none.find(1, 1, 100));
  assert.deepEqual(said(explain(none, item)), ["unknown 0 - 1000"]);
  assert.equal(heldByText(appOf(none), item), "unknown; 1 waiting");
});

test("the records have the holders of a lock without a row, readers too", () => {
  const { model, ref } = contended();
  model.waits.locks = [];
  const why = explain(model, waitOfItem(model, ref));
  assert.deepEqual([said(why), why.queue.first], [["hold 5 count 510 ×2", "hold 3 merge 300", "unknown 0 - 190 ×3"], 1]);
  const read = { args: '{"addr":"0xc0","lock":"rwmutex","mode":"shared"}' };
  const readers = modelOf([
    [1, 0, store, wait, 100, 1000, args("0xc0")], [2, 0, store, wait, 50, 400, args("0xc0")], [4, 0, store, wait, 300, 900, args("0xc0")],
    [5, 0, count, task, 0, 700], [5, 1, store, hold, 60, 440, read], [3, 0, store, hold, 150, 750, read],
  ], { names });
  const shared = explain(readers, waitOfItem(readers, readers.find(1, 0, 100)));
  assert.deepEqual([said(shared), shared.parts[0].many, shared.queue.first, shared.queue.min, shared.queue.max], [["shared 3 - 800", "unknown 0 - 200"], 2, 2, 2, 3]);
});

test("where no hold is on record, the waiter's states have its waker, and the time it was awake", () => {
  const { model, ref } = contended({}, { held: [[0, 600, 5, count]] }, [[1, 0, [cpu, 100], [lock, 900, { by: 3 }], [runnable, 100]]]);
  assert.deepEqual(said(explain(model, waitOfItem(model, ref))), ["hold 5 count 500", "waker 3 - 400", "own 1 - runnable 100"]);
});

test("what a holder did while it held", () => {
  const states = [[5, 0, [cpu, 300], [lock, 400, { by: 3 }], [runnable, 100]]];
  const { model, ref } = contended({}, {}, states);
  const { parts } = explain(model, waitOfItem(model, ref));
  const did = ({ activities }) => activities.map((d) => `${d.state || "not known"} ${d.name} ${d.ns}`);
  assert.deepEqual(did(activitiesOf(model, parts[0], parts[0].pieces[0])), ["lock  310", "cpu  200"]);
  assert.deepEqual(did(activitiesOf(model, parts[1], parts[1].pieces[0])), ["not known  300"]);
});

/** A waits for L1, held by B, which waits for L2, held by C, which is in a system call. */
function threeLocks(withStates) {
  const model = modelOf([
    [1, 0, want, task, 50, 1060], [1, 1, store, wait, 100, 1000, args("0xc0")],
    [5, 0, count, task, 0, 1110], [5, 1, store, hold, 0, 1100, args("0xc0")], [5, 2, disk, wait, 20, 1060, args("0xd0")], [5, 2, disk, hold, 1080, 10, args("0xd0")],
    [3, 0, compress, task, 0, 1090], [3, 1, disk, hold, 0, 1080, args("0xd0")],
  ], { names, rowNames: { 5: worker5, 3: worker3 } });
  model.waits.take(locksOf([{ name: store, addr: "0xc0", held: [[0, 1100, 5, count]] }, { name: disk, addr: "0xd0", held: [[0, 1080, 3, compress], [1080, 10, 5, count]] }]));
  if (withStates) model.waits.take(statesOf([[1, 50, [cpu, 50], [lock, 1000, { by: 5 }], [cpu, 10]], [5, 0, [cpu, 20], [lock, 1060, { by: 3 }], [cpu, 30]], [3, 0, [cpu, 40], [syscall, 1000], [cpu, 50]]]));
  return model;
}

test("a chain goes over the holders to the one who did not wait", () => {
  const model = threeLocks(true);
  const origin = { selection: model.find(1, 1, 100), stretch: null };
  const steps = chainOf(model, origin);
  assert.deepEqual(steps.map((_, k) => stepText(model, steps, k)), [
    "goroutine 1 waits for store.mu", "worker 5 holds store.mu, waits for disk.mu", "worker 3 holds disk.mu, in a system call, in compress",
  ]);
  assert.deepEqual(steps.map((s) => s.share), [1, 1, 1]);
  assert.equal(rootText(model, steps), "root: worker 3, in a system call, in compress");
  // The wait of the holder is cut to the time in which it mattered, and leads to its record.
  assert.deepEqual([steps[1].wait.from, steps[1].wait.to, steps[1].wait.ref.batch.start[steps[1].wait.ref.i]], [100, 1080, 20]);
  assert.deepEqual(chainLinks(steps).map((l) => [l.from.rowKey, l.to.rowKey, l.from.time]), [[5, 1, 100], [3, 5, 100]]);
  assert.equal(chainOf(model, origin), steps);
});

test("without states a chain goes as far as the records", () => {
  const model = threeLocks(false);
  const steps = chainOf(model, { selection: model.find(1, 1, 100), stretch: null });
  assert.deepEqual(steps.map((s) => s.key), [1, 5, 3]);
  assert.equal(rootText(model, steps), "root: worker 3, activity unknown: no states of goroutine 3");
});

test("a chain over a channel goes to who woke, and what that one did before", () => {
  const model = modelOf([
    [1, 0, want, task, 0, 1000], [1, 1, ch, wait, 100, 800, { args: '{"addr":"0xe0","lock":"receive"}' }],
    [5, 0, count, task, 0, 1000], [5, 1, disk, wait, 50, 700, args("0xd0")], [3, 0, compress, task, 0, 760], [3, 1, disk, hold, 0, 750, args("0xd0")],
  ], { names, rowNames: { 5: worker5, 3: worker3 } });
  model.waits.take(locksOf([{ name: disk, addr: "0xd0", held: [[0, 750, 3, compress]] }]));
  model.waits.take(statesOf([[1, 0, [cpu, 100], [channel, 780, { by: 5 }], [runnable, 20], [cpu, 100]], [5, 0, [cpu, 50], [lock, 700, { by: 3 }], [cpu, 250]], [3, 0, [cpu, 60], [sleep, 690], [cpu, 10]]]));
  const item = { selection: model.find(1, 1, 100), stretch: null };
  assert.deepEqual(said(explain(model, originOf(model, item))), ["waker 5 - 780", "own 1 - runnable 20"]);
  const { set } = model.waits.lane(1);
  const run = { i: 1, j: 2, t0: 100, t1: 880, n: 1, top: channel, time: 780, lock: 0 };
  for (const origin of [item, { selection: null, stretch: { key: 1, title: "", set, run } }]) {
    const steps = chainOf(model, origin);
    assert.deepEqual(steps.map((_, k) => stepText(model, steps, k)).slice(1), ["worker 5 woke it, waits for disk.mu", "worker 3 holds disk.mu, sleeping, in compress"]);
  }
  assert.equal(originOf(model, { selection: null, stretch: { key: 1, title: "", set, run: { ...run, i: 0, top: cpu } } }), null);
  const sleeping = originOf(model, { selection: null, stretch: { key: 3, title: "", set, run: { ...run, i: set.nameOf(0) && model.waits.lane(3).from + 1 } } });
  assert.deepEqual(said(explain(model, sleeping)), ["own 3 - sleep 690"]);
});

test("a chain of goroutines that wait for each other ends", () => {
  const model = modelOf([
    [1, 0, store, hold, 0, 1000, { ...args("0xc0"), open: true }], [1, 1, disk, wait, 100, 900, { ...args("0xd0"), open: true }],
    [5, 0, disk, hold, 0, 1000, { ...args("0xd0"), open: true }], [5, 1, store, wait, 50, 950, { ...args("0xc0"), open: true }],
  ], { names });
  model.waits.take(locksOf([{ name: store, addr: "0xc0", held: [[0, 1000, 1]] }, { name: disk, addr: "0xd0", held: [[0, 1000, 5]] }]));
  const steps = chainOf(model, { selection: model.find(1, 1, 100), stretch: null });
  assert.deepEqual(steps.map((s) => s.key), [1, 5]);
  assert.equal(rootText(model, steps), "root: goroutine 5 waits for store.mu, back at goroutine 1: each waits for the next");
});

test("a wait that was called off took no time", () => {
  const model = modelOf([[1, 0, store, wait, 100, 0, args("0xc0")]], { names });
  const steps = chainOf(model, { selection: model.find(1, 0, 100), stretch: null });
  assert.equal(rootText(model, steps), "root: goroutine 1 waits for store.mu, it took no time");
});

test("a scope's time: its waits by object, and the rest by states or by what ran inside", () => {
  const items = [
    [1, 0, request, task, 0, 1000, { args: '{"number":4711}' }], [1, 1, store, wait, 100, 300, args("0xc0")], [1, 1, get, task, 500, 400], [1, 2, disk, wait, 600, 100, args("0xd0")], [1, 2, disk, wait, 750, 50, args("0xd0")],
    [1, 0, want, task, 1000, 100],
  ];
  const linesOf = (parts) => parts.map((p) => `${p.wait ? "wait " : ""}${p.own ? "itself" : p.name || p.state || "not known"} ${p.ns}`);
  const model = modelOf(items, { names });
  const ref = model.find(1, 0, 0);
  const { parts, merged } = spentIn(model, ref);
  assert.deepEqual(linesOf(parts), ["wait store.mu 300", "wait disk.mu 150", "itself 300", "get 250"]);
  assert.deepEqual([sum(parts), merged], [1000, false]);
  assert.deepEqual([longestInside(model, ref).from, longestInside(model, ref).to], [100, 400]);
  model.waits.take(statesOf([[1, 0, [cpu, 100], [lock, 280], [runnable, 20], [cpu, 50], [channel, 60, { by: 5 }], [cpu, 590]]]));
  model.version++;
  const known = spentIn(model, ref).parts;
  assert.deepEqual(linesOf(known), ["wait store.mu 300", "wait disk.mu 150", "wait channel 60", "cpu 490"]);
  assert.equal(sum(known), 1000);
  const reduced = modelOf(items, { names, tile: { res: 16 } });
  const coarse = spentIn(reduced, reduced.find(1, 0, 0));
  assert.deepEqual([linesOf(coarse.parts), coarse.merged], [["wait store.mu 300", "wait disk.mu 150", "not known 550"], true]);
});

test("a server is asked for the wait's stretch alone, once", async () => {
  const asked = [];
  const fine = locksOf([{ name: store, addr: "0xc0", held: [[0, 600, 5, count], [640, 460, 3, merge]], steps: [[100, 2], [1100, 0]] }]);
  const { model, ref } = contended({ res: 64, tile: { res: 16 } }, { held: [[0, 1100, 5, count, 12, 0]] });
  model.source = { home: "live", waits: async (from, to) => {
    asked.push([from, to]);
    return fine;
  } };
  const item = waitOfItem(model, ref);
  assert.deepEqual([explain(model, item, false).wanted, asked], [true, []]);
  const before = explain(model, item);
  assert.deepEqual([said(before), before.wanted], [["merged 5 count 1000"], true]);
  await new Promise((done) => { model.onchange(() => done(null)); });
  const after = explain(model, item);
  assert.deepEqual([said(after), after.wanted, asked], [["hold 5 count 500", "hold 3 merge 460", "unknown 0 - 40"], false, [[100, 1100]]]);
});

test("a server that still reads is not asked again at once", async () => {
  let asked = 0;
  const { model, ref } = contended({ res: 64 }, { held: [[0, 1100, 5, count, 12, 0]] });
  model.source = { home: "live", waits: async () => {
    asked++;
    return { header: { pending: true }, columns: new Map() };
  } };
  const item = waitOfItem(model, ref);
  const changed = new Promise((done) => { model.onchange(() => done(null)); });
  explain(model, item);
  await changed;
  assert.deepEqual([explain(model, item).wanted, asked], [true, 1]);
});
