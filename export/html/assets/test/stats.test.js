import test from "node:test";
import assert from "node:assert/strict";
import { modelOf, randomly } from "./make.js";
import { Flag } from "../data/kinds.js";
import { summarize } from "../model/stats.js";
import { flameSteps } from "../model/flame.js";
import { atOnce } from "../data/slices.js";
import { children, parent, selfTime } from "../model/relate.js";
import { distribution, quantileOf } from "../model/histogram.js";

const flame = (...args) => atOnce(flameSteps(...args));
const names = ["", "a", "b", "c", "lock", "other"];
const task = 1, proc = 2, wait = 6, hold = 7;

/** A goroutine's random life, nested: items with their depths. */
function life(random, key) {
  const items = [];
  const inside = (depth, from, to) => {
    for (let t = from + random(50); t < to - 2;) {
      const end = Math.min(to, t + 1 + random(depth === 0 ? 2000 : to - from));
      const kind = [task, task, task, task, hold, wait, proc, task][random(8)];
      const quality = random(4);
      const more = { quality, cpu: random(end - t + 1), thread: 1 + random(3), across: random(40) === 0 };
      items.push([key, depth, kind === wait || kind === hold ? 4 + random(2) : 1 + random(3), kind, t, end - t, more]);
      if (kind !== wait && depth < 5) inside(depth + 1, t, end);
      t = end + random(60);
    }
  };
  inside(0, random(500), 10000);
  // Its last has perhaps not ended, nor what it is in then.
  for (const x of items) if (random(2) === 0 && x[4] + x[5] === 10000) x[6].open = true;
  return items;
}

/** Whose moment is it, moment by moment. */
function naive(items, from, to) {
  const self = new Map();
  const held = new Map();
  for (const key of new Set(items.map((x) => x[0]))) {
    const row = items.filter((x) => x[0] === key && x[4] <= to && x[4] + x[5] >= from);
    const own = row.filter((x) => x[3] !== hold);
    for (let t = from; t < to; t++) {
      let top = null;
      for (const x of own) if (x[4] <= t && x[4] + x[5] > t && (top === null || x[4] > top[4] || x[4] === top[4] && x[1] > top[1])) top = x;
      if (top && top[3] !== wait && !top[6].across && !top[6].open) {
        const k = `${top[2]} ${top[3] === proc}`;
        self.set(k, (self.get(k) ?? 0) + 1);
      }
      for (const x of row) {
        if (x[3] !== hold || x[6].across || x[4] > t || x[4] + x[5] <= t) continue;
        const by = `${x[2]} ${top && top[3] !== wait ? top[2] : null}`;
        held.set(by, (held.get(by) ?? 0) + 1);
      }
    }
  }
  return { self, held };
}

test("sums are those of counting moment by moment", () => {
  const random = randomly(11);
  for (let round = 0; round < 12; round++) {
    const items = [1, 2, 3].flatMap((key) => life(random, key));
    const model = modelOf(items, { names });
    const [from, to] = round % 3 === 0 ? [0, model.end] : [random(5000), 5000 + random(4000)];
    const whole = round % 2 === 0;
    const { scopes, locks } = summarize(model, from, to, whole);
    const inside = (x) => (whole ? x[5] : Math.max(Math.min(x[4] + x[5], to) - Math.max(x[4], from), 0));
    const part = (x) => (inside(x) < x[5] ? Math.trunc(x[6].cpu * inside(x) / x[5]) : x[6].cpu);
    const want = naive(items, from, to);
    const touching = items.filter((x) => x[4] <= to && x[4] + x[5] >= from);
    for (const s of scopes) {
      const mine = touching.filter((x) => x[2] === s.name && (s.process ? x[3] === proc : x[3] === task));
      const ended = mine.filter((x) => !x[6].open && !x[6].across);
      const durations = ended.map((x) => x[5]).sort((a, b) => a - b);
      const sum = (list, f) => list.reduce((n, x) => n + f(x), 0);
      const known = ended.filter((x) => x[6].quality === 1 || x[6].quality === 2);
      const atMost = ended.filter((x) => x[6].quality === 3);
      assert.deepEqual([s.count, s.total, s.self, s.open, s.across], [ended.length, sum(ended, inside), want.self.get(`${s.name} ${s.process}`) ?? 0,
        mine.filter((x) => x[6].open && !x[6].across).length, mine.filter((x) => x[6].across).length]);
      assert.deepEqual([s.cpu, s.cpuWall, s.cpuMax, s.cpuMaxWall], [sum(known, part), sum(known, inside), sum(atMost, part), sum(atMost, inside)]);
      assert.deepEqual([s.mean, s.cut], [ended.length ? Math.trunc(sum(ended, (x) => x[5]) / ended.length) : 0, ended.filter((x) => inside(x) < x[5]).length]);
      assert.deepEqual([s.min, s.max, s.p50], [durations[0] ?? 0, durations.at(-1) ?? 0, durations[Math.max(Math.ceil(durations.length / 2) - 1, 0)] ?? 0]);
    }
    assert.equal(scopes.reduce((n, s) => n + s.count + s.open + s.across, 0), touching.filter((x) => x[3] === task || x[3] === proc).length);
    for (const l of locks) {
      const mine = (kind) => touching.filter((x) => x[2] === l.name && x[3] === kind && !x[6].across && !x[6].open);
      assert.deepEqual([l.waits, l.wait, l.holds, l.hold], [mine(wait).length, mine(wait).reduce((n, x) => n + inside(x), 0), mine(hold).length, mine(hold).reduce((n, x) => n + inside(x), 0)]);
      const all = [...want.held].filter(([k]) => k.startsWith(`${l.name} `));
      const whole = all.reduce((n, [, d]) => n + d, 0);
      const shares = new Map();
      for (const [id, share] of l.heldBy) shares.set(`${l.name} ${id}`, (shares.get(`${l.name} ${id}`) ?? 0) + share);
      for (const [k, d] of all) assert.ok(Math.abs(shares.get(k) - d / whole) < 1e-9);
    }
    // The same moments by other ways: the tree, and one by one.
    const tree = flame(model, from, to, "wall");
    const bySelf = new Map();
    const walk = (node) => {
      assert.equal(node.value, node.self + node.children.reduce((n, c) => n + c.value, 0));
      bySelf.set(`${node.nameId} ${node.kind}`, (bySelf.get(`${node.nameId} ${node.kind}`) ?? 0) + node.self);
      node.children.forEach(walk);
    };
    walk(tree);
    if (items.every((x) => !x[6].across)) for (const s of scopes) assert.ok((bySelf.get(`${s.name} 1`) ?? 0) >= s.self);
  }
});

test("self times one by one add up, and children are those of whom one is the parent", () => {
  const random = randomly(5);
  const items = life(random, 1).map((x) => [...x.slice(0, 6), { ...x[6], across: false }]);
  const model = modelOf(items, { names });
  const { scopes } = summarize(model, 0, model.end, true);
  const sums = new Map();
  for (const batch of model.batches()) {
    for (let i = 0; i < batch.n; i++) {
      if (batch.kind[i] === hold || batch.kind[i] === wait) continue;
      const k = `${batch.name[i]} ${batch.kind[i] === proc}`;
      if (!(batch.flags[i] & Flag.open)) sums.set(k, (sums.get(k) ?? 0) + selfTime(model, { batch, i }));
      for (const child of children(model, { batch, i }, 1e6)) {
        const up = parent(model, child);
        assert.deepEqual([up.batch === batch, up.i], [true, i]);
      }
    }
  }
  for (const s of scopes) assert.equal(sums.get(`${s.name} ${s.process}`) ?? 0, s.self);
});

test("on an unknown goroutine self is unknown", () => {
  const model = modelOf([[0, 0, 1, task, 0, 10], [0, 0, 1, task, 20, 5], [3, 0, 2, task, 0, 10]], { names });
  const { scopes } = summarize(model, 0, 30, true);
  assert.deepEqual(scopes.map((s) => [s.name, s.count, s.self]), [[1, 2, null], [2, 1, 10]]);
  assert.equal(selfTime(model, model.find(0, 0, 0)), null);
});

test("a tree of CPU time knows at least what is known inside", () => {
  const model = modelOf([
    [1, 0, 1, task, 0, 100], [1, 1, 2, task, 10, 40, { quality: 1, cpu: 30 }], [1, 2, 3, task, 20, 10, { quality: 2, cpu: 8 }],
    [1, 1, 2, task, 60, 20, { quality: 3, cpu: 20 }],
  ], { names });
  const tree = flame(model, 0, 100, "cpu");
  const [a] = tree.children;
  assert.deepEqual([tree.value, a.nameId, a.value, a.self, a.count], [30, 1, 30, 0, 1]);
  assert.deepEqual(a.children.map((c) => [c.nameId, c.value, c.self, c.count]), [[2, 30, 22, 2]]);
  assert.equal(flame(model, 30, 50, "cpu").children[0].children[0].value, 15);
});

test("quantiles are the nearest rank", () => {
  assert.equal(quantileOf(Float64Array.of(), 0.5), 0);
  assert.equal(quantileOf(Float64Array.of(1, 2, 3, 4), 0.5), 2);
  assert.equal(quantileOf(Float64Array.from({ length: 100 }, (_, k) => k + 1), 0.99), 99);
  assert.equal(quantileOf(Float64Array.from({ length: 10 }, (_, k) => k + 1), 0.9), 9);
});

test("a distribution has every duration in one bucket", () => {
  const random = randomly(9);
  for (const n of [1, 2, 50, 1000]) {
    const items = [];
    for (let k = 0, t = 0; k < n; k++, t += 1e6) items.push([1, 0, 1, task, t, random(2 ** random(20))]);
    const model = modelOf(items, { names });
    const ref = model.find(1, 0, 0);
    const d = distribution(model, 1, ref);
    assert.equal(d.of, n);
    assert.equal(d.rank, items.filter((x) => x[5] < items[0][5]).length);
    assert.equal(d.quantile, items.filter((x) => x[5] <= items[0][5]).length / n);
    assert.equal(d.buckets.reduce((sum, b) => sum + b.count, 0), n);
    d.buckets.forEach((b, k) => {
      assert.ok(b.lo <= b.hi && (k === 0 || Math.abs(b.lo - d.buckets[k - 1].hi) < 1e-6 * b.lo));
      assert.equal(b.count, items.filter((x) => x[5] >= b.lo && x[5] < b.hi).length);
    });
  }
});

test("in a range counts what lies in it, and sorts so", () => {
  const model = modelOf([
    [1, 0, 1, task, 0, 6650, { quality: 1, cpu: 1330 }], [2, 0, 2, task, 4000, 100, { quality: 1, cpu: 7 }], [2, 0, 2, task, 4200, 250, { quality: 1, cpu: 9 }],
  ], { names });
  const scopesOf = (whole) => summarize(model, 4000, 4400, whole).scopes.map((s) => [s.name, s.count, s.total, s.cut, s.cpu, s.cpuWall, s.mean, s.max]);
  assert.deepEqual(scopesOf(false), [[1, 1, 400, 1, 80, 400, 6650, 6650], [2, 2, 300, 1, 7 + 7, 300, 175, 250]]);
  assert.deepEqual(scopesOf(true), [[1, 1, 6650, 0, 1330, 6650, 6650, 6650], [2, 2, 350, 0, 16, 350, 175, 250]]);
});
