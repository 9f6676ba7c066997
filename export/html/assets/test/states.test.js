import test from "node:test";
import assert from "node:assert/strict";
import { modelOf, randomly, stateNames as names, statesOf } from "./make.js";
import { StateSet, stateText, stateWords } from "../data/states.js";
import { stateSums, stateSumsOf } from "../panel/statedetails.js";
import { readLocks, lockTitle } from "../data/lockset.js";
import { heldAt, holderText, isDark, waitersAt } from "../view/strip.js";
import { holderOf, lockArgs, lockedLinks, stateLinks, waitingLinks, wakeLinks } from "../model/waitlinks.js";
import { links } from "../model/links.js";
import { lockFacts, lockText, stateAt, stateFacts, stateTitle } from "../view/waitfacts.js";
import { Waits } from "../model/waits.js";

const [cpu, runnable, lock, sleep] = [1, 2, 3, 4];

const setOf = (rows, header) => {
  const c = statesOf(rows, header);
  return new StateSet(c.header.states, c.columns);
};

const runsOf = (lane, from, to, res) => {
  const list = [];
  lane.each(from, to, res, (r) => list.push([r.t0, r.t1, names[r.top], r.n, r.lock]));
  return list;
};

test("states follow each other, and what is short merges into what took most", () => {
  const lane = setOf([[7, 100, [cpu, 30], [lock, 25], [runnable, 20], [cpu, 25], [cpu, 1000], [sleep, 5]]]).lanes.get(7);
  assert.deepEqual([lane.first, lane.last], [100, 1205]);
  assert.deepEqual(runsOf(lane, 0, 5000, 0).map((r) => r.slice(0, 3)), [[100, 130, "cpu"], [130, 155, "lock"], [155, 175, "runnable"], [175, 200, "cpu"], [200, 1200, "cpu"], [1200, 1205, "sleep"]]);
  assert.deepEqual(runsOf(lane, 0, 5000, 101), [[100, 200, "cpu", 4, 25], [200, 1200, "cpu", 1, 0], [1200, 1205, "sleep", 1, 0]]);
  assert.deepEqual(runsOf(lane, 140, 150, 0).map((r) => r[2]), ["lock"]);
});

test("at any resolution no time is lost, and waits for locks least of all", () => {
  const random = randomly(5);
  const items = Array.from({ length: 20000 }, () => [1 + random(4), 1 + random(300)]);
  const lane = setOf([[7, 0, ...items]]).lanes.get(7);
  const locked = items.reduce((sum, x) => sum + (x[0] === lock ? x[1] : 0), 0);
  for (const res of [3, 50, 1000, 7777, 50000]) {
    const runs = runsOf(lane, -Infinity, Infinity, res);
    assert.ok(runs.length <= 2 * (lane.last / res) + 2, `${runs.length} at ${res}`);
    assert.equal(runs.reduce((sum, r) => sum + r[4], 0), locked);
    assert.equal(runs.reduce((sum, r) => sum + r[3], 0), items.length);
    for (let k = 1; k < runs.length; k++) assert.equal(runs[k][0], runs[k - 1][1]);
  }
});

test("a coarse tile is merged further", () => {
  const lane = setOf([[7, 0, [cpu, 100, { many: 50, top: 60, lock: 30 }], [runnable, 100, { many: 9, top: 55, lock: 45 }]]], { res: 128 }).lanes.get(7);
  const [run] = runsOf(lane, 0, 500, 500);
  assert.deepEqual(run, [0, 200, "lock", 2, 75]);
  lane.each(0, 500, 500, (r) => assert.equal(stateTitle(lane.set, r), "59 states, each too short to show"));
  const sums = stateSums(lane, 0, 200).map((s) => [s.state, s.ns]);
  assert.deepEqual(sums, [[lock, 75], [cpu, 60], [runnable, 55], [-1, 10]]);
});

test("sums are of the part that is asked for", () => {
  const lane = setOf([[7, 0, [cpu, 100], [lock, 50], [cpu, 10]]]).lanes.get(7);
  assert.deepEqual(stateSums(lane, 50, 155).map((s) => [names[s.state], s.ns, s.count, s.longest]), [["cpu", 55, 2, 50], ["lock", 50, 1, 50]]);
});

test("sums of several goroutines know whose the longest is", () => {
  const { lanes } = setOf([[7, 0, [cpu, 100], [lock, 50], [cpu, 10]], [8, 0, [cpu, 120], [lock, 40]]]);
  const sums = stateSumsOf([lanes.get(7), lanes.get(8)], 0, 200);
  assert.deepEqual(sums.map((s) => [names[s.state], s.ns, s.count, s.longest, s.key]), [["cpu", 230, 3, 120, 8], ["lock", 90, 2, 50, 7]]);
});

test("damaged columns are refused", () => {
  const c = statesOf([[7, 0, [cpu, 1], [lock, 1]]]);
  c.columns.set("stateBy", new Uint32Array(1));
  assert.throws(() => new StateSet(c.header.states, c.columns), /2 states, but a column of 1/);
  c.columns.delete("stateBy");
  assert.throws(() => new StateSet(c.header.states, c.columns), /lack the column stateBy/);
});

test("what a state says", () => {
  const set = setOf([[7, 0, [lock, 100, { reason: 1, stack: 1, by: 8, byStack: 1, thread: 5 }], [cpu, 10]]]);
  const model = modelOf([[8, 0, 1, 1, 0, 100]], { names: ["", "work"], rowNames: { 8: 1 } });
  const app = { model, time: (t) => `@${t}`, span: (t) => `${t} ns` };
  const run = stateAt(set.lanes.get(7), 50, 1);
  assert.deepEqual(stateFacts(app, set, run, 8).filter(([, v]) => v !== null), [
    ["start", "@0"], ["duration", "100 ns"], ["reason", "sync"], ["at", "sync.lock m.go:1\nmain.f f.go:2"], ["woken by", "work in main.f f.go:2"], ["thread", "5"],
  ]);
  assert.equal(stateAt(set.lanes.get(7), 500, 1), null);
  assert.deepEqual(stateLinks(7, set, run).map((l) => [l.kind, l.from.rowKey, l.to.rowKey, l.to.time]), [["wake", 8, 7, 100]]);
  assert.equal(stateText("lock"), stateWords.lock);
  assert.equal(stateText("new one"), "new one");
});

test("the holder of a lock is found among many items in slices", async () => {
  const items = [[1, 0, 2, 7, 10, 80, { args: '{"addr":"0xc0"}' }], [2, 0, 2, 6, 20, 75, { args: '{"addr":"0xc0"}' }]];
  for (let k = 0; k < 10_000; k++) items.push([3, 0, 1, 1, k, 1]);
  const model = modelOf(items, { names: ["", "work", "mu"] });
  const wait = model.find(2, 0, 20);
  let later = 0;
  await new Promise((done) => {
    for (const _ of [1, 2]) assert.deepEqual(waitingLinks(model, wait, () => { later++; done(); }), [], "not yet");
  });
  assert.equal(later, 1, "it is looked for once");
  const found = waitingLinks(model, wait, () => assert.fail("it is there"));
  assert.deepEqual(found.map((l) => [l.kind, l.from.rowKey, l.from.time, l.to.rowKey, l.to.time]), [["lock", 1, 90, 2, 95]]);
  const [other] = waitingLinks(modelOf(items, { names: ["", "work", "mu"], meta: { writer: "running" } }), wait, () => assert.fail("a growing trace does not wait"));
  assert.equal(other.kind, "lock");
});

test("the wait names the holder of the lock, or else the holds do", () => {
  const items = [
    [1, 0, 1, 1, 0, 100], [1, 1, 2, 7, 10, 80, { args: '{"addr":"0xc0","lock":"mutex","at_least":true}' }],
    [2, 0, 2, 6, 20, 71, { args: '{"addr":"0xc0","lock":"rwmutex","mode":"shared","holder":1}' }],
    [3, 0, 2, 6, 30, 62, { args: '{"addr":"0xc0"}' }],
  ];
  const model = modelOf(items, { names: ["", "work", "mu"] });
  const wait = model.find(2, 0, 20);
  assert.equal(holderOf(model, wait.batch, wait.i), 1);
  assert.deepEqual(lockArgs(model, wait.batch, wait.i), { addr: "0xc0", holder: 1, kind: "rwmutex", held: true, shared: true, atLeast: false });
  const hold = model.find(1, 1, 10);
  assert.deepEqual(lockArgs(model, hold.batch, hold.i), { addr: "0xc0", holder: 0, kind: "mutex", held: true, shared: false, atLeast: true });
  const [block] = links(model, wait).filter((l) => l.kind === "block");
  assert.deepEqual([block.from.rowKey, block.from.time, model.name(block.from.ref.batch.name[block.from.ref.i]), block.to.rowKey], [1, 20, "work", 2]);
  const never = () => assert.fail("there are no more");
  const all = [wait, model.find(3, 0, 30)].flatMap((w) => waitingLinks(model, w, never));
  assert.deepEqual(all.map((l) => [l.kind, l.from.rowKey, l.to.rowKey]), [["block", 1, 2], ["lock", 1, 3]]);
  const task = model.find(1, 0, 0);
  assert.equal(lockArgs(model, task.batch, task.i), null);
});

test("a channel has no holder", () => {
  const model = modelOf([[1, 0, 1, 6, 0, 100, { args: '{"addr":"0xc0","lock":"receive"}' }]], { names: ["", "ch"] });
  const wait = model.find(1, 0, 0);
  const lock = lockArgs(model, wait.batch, wait.i);
  assert.deepEqual([lock.kind, lock.held, lockText(lock)], ["receive", false, "receive at 0xc0"]);
});

test("wakers of a selected scope", () => {
  const model = modelOf([[7, 0, 1, 1, 0, 100]], { names: ["", "work"] });
  model.waits.take(statesOf([[7, 0, [lock, 50, { by: 9 }], [runnable, 10], [cpu, 30], [sleep, 40, { by: 4 }]]]));
  assert.deepEqual(wakeLinks(model, model.find(7, 0, 0)).map((l) => [l.from.rowKey, l.to.time, l.to.strip]), [[9, 50, true]]);
});

test("waits that only states have get arrows from the goroutine that released the lock", () => {
  const model = modelOf([[7, 0, 1, 1, 0, 100]], { names: ["", "work"] });
  const set = setOf([[7, 0, [cpu, 10], [lock, 50, { by: 9 }], [lock, 5]]]);
  const arrows = () => [1, 2].flatMap((i) => lockedLinks(model, { key: 7, set, i }));
  assert.deepEqual(arrows().map((l) => [l.kind, l.from.rowKey, l.to.rowKey, l.to.time]), [["lock", 9, 7, 60]]);
  model.waits.locks = [{}];
  assert.deepEqual(arrows(), []);
});

test("goroutines without scopes are rows: a few, and the runtime's and the idle ones folded", () => {
  const waits = new Waits(modelOf([[7, 0, 1, 1, 0, 100]], { names: ["", "work"] }));
  waits.take(statesOf([[7, 0, [cpu, 5]], [8, 0, [cpu, 5]], [101, 0, [cpu, 5]], [9, 0, [0, 50]]]));
  const had = waits.others(waits.model.goroutines.rows);
  assert.deepEqual(had.map((a) => a.row?.title ?? `${a.rows.map((r) => r.key)} ${a.title}`), ["goroutine 8", "101,9 Idle or runtime (2)"]);
  waits.take(statesOf(Array.from({ length: 20 }, (_, k) => [k + 10, 0, [cpu, 5]])));
  assert.deepEqual(waits.others(waits.model.goroutines.rows).map((a) => a.title), ["20 other goroutines without scopes"]);
});

test("where nobody recorded anything goroutines fold by what they began with", () => {
  const { header, columns } = statesOf(Array.from({ length: 30 }, (_, k) => [k + 10, 0, [cpu, 5]]), { frames: ["", "main.work", "main.main"] });
  columns.set("stateFunc", Uint32Array.from({ length: 30 }, (_, k) => (k === 0 ? 2 : k < 20 ? 1 : 0)));
  const waits = new Waits(modelOf([], { names: [""] }));
  waits.take({ header, columns });
  assert.deepEqual(waits.others(new Map()).map((a) => a.row?.title ?? a.title), ["10 × goroutine", "main.main 10", "19 × main.work"]);
});

const lockColumns = (over = {}) => new Map(Object.entries({
  holdStart: Float64Array.of(100, 200, 50), holdDur: Uint32Array.of(50, 50, 5), holdGoid: Uint32Array.of(1, 2, 3), holdScope: Uint32Array.of(2, 0, 2),
  holdMany: Uint32Array.of(1, 1, 4), holdFlags: Uint8Array.of(0, 0, 1), waitTime: Float64Array.of(100, 120, 150), waitCount: Uint32Array.of(1, 2, 0), waitSum: Uint32Array.of(20, 60, 0), ...over,
}));
const lockHeader = { locks: [{ name: 3, addr: "0xc0", kind: "mutex", held: 2, steps: 3, most: 2 }, { name: 3, addr: "0xd0", kind: "rwmutex", held: 1, steps: 0, most: 0 }] };

test("a lock has its holders and the number of waiters", () => {
  const [a, b] = readLocks(lockHeader, lockColumns());
  assert.deepEqual([Array.from(a.starts), Array.from(a.ends), Array.from(b.starts), a.id], [[100, 200], [150, 250], [50], "l3@0xc0"]);
  const nameOf = () => "mu";
  assert.equal(lockTitle(nameOf, a), "mu 0xc0"); // another has the name too
  assert.deepEqual([heldAt(a, 120, 0), heldAt(a, 170, 0), heldAt(a, 170, 30), heldAt(a, 400, 10)], [0, -1, 0, -1]);
  assert.deepEqual([waitersAt(a, 99), waitersAt(a, 100), waitersAt(a, 130), waitersAt(a, 400)], [0, 1, 2, 0]);
  const model = modelOf([[1, 0, 1, 1, 0, 100]], { names: ["", "work", "worker"], rowNames: { 1: 2 } });
  assert.equal(holderText(model, a, 0), "worker, in work");
  assert.equal(holderText(model, a, 1), "goroutine 2");
  assert.equal(holderText(model, b, 0), "4 holds, the longest by goroutine 3, in work");
  assert.throws(() => readLocks(lockHeader, lockColumns({ holdGoid: new Uint32Array(1) })), /3 holds, but a column of 1/);
});

test("a lock's facts have the counts of the whole recording", () => {
  const [first, ...rest] = lockHeader.locks;
  const [a] = readLocks({ ...lockHeader, locks: [{ ...first, sums: { had: 70, not: 20, short: 3, brief: 9 } }, ...rest] }, lockColumns());
  const facts = new Map(lockFacts({ span: (ns) => `${ns} ns` }, a));
  assert.equal(facts.get("acquisitions"), "70; 20 of them had to wait; 3 waits, 9 ns in total, were too short to be recorded");
  const [b] = readLocks(lockHeader, lockColumns());
  assert.ok(!new Map(lockFacts({ span: String }, b)).has("acquisitions"));
});

test("a server is asked for what is looked at, and again while it grows", async () => {
  const asked = [];
  let pending = true;
  const model = modelOf([[7, 0, 1, 1, 0, 1000]], {
    names: ["", "work"],
    source: {
      home: "live",
      async waits(from, to, px) {
        asked.push([from, to, px]);
        const c = statesOf([[7, 0, [cpu, 1000]]]);
        c.header.pending = pending;
        return c;
      },
    },
  });
  const settle = () => new Promise((done) => { setTimeout(done, 5); });
  model.want(200, 400, 100);
  model.want(210, 390, 100);
  await settle();
  assert.deepEqual(asked, [[100, 500, 200]]);
  assert.equal(model.waits.lane(7).last, 1000);
  model.waits.got.at -= 2000; // it was not all there: it is asked again, but not at once
  pending = false;
  model.waits.look();
  await settle();
  assert.equal(asked.length, 2);
  model.waits.look();
  model.want(150, 450, 100);
  await settle();
  assert.equal(asked.length, 2);
  model.want(0, 1000, 100);
  await settle();
  assert.deepEqual(asked[2], [0, 1500, 150]);
});

test("white is easier to read on what is dark", () => {
  assert.equal(isDark("#000000"), true);
  assert.equal(isDark("#e8710a"), false);
});
