import test from "node:test";
import assert from "node:assert/strict";
import { barsOf, modelOf, randomly } from "./make.js";

/** What eachBar promises, item by item: the rule of pyramid.js without its levels. */
function naive(batch, from, to, lo, hi, res) {
  const r = res >= 1 ? 2 ** Math.floor(Math.log2(res)) : 0;
  const narrow = (i) => batch.dur[i] < r && (batch.flags[i] & 4) === 0;
  const runs = [];
  for (let i = lo; i < hi; i++) {
    const run = runs.at(-1);
    const stretch = (t) => Math.floor(t / (4 * r));
    if (run && run.narrow && narrow(i) && batch.start[i] - run.t1 < r && stretch(batch.start[i]) === stretch(run.t0)) {
      run.j = i + 1;
      run.t1 = batch.end(i);
      run.busy += batch.dur[i];
      if (batch.kind[i] === 6) run.wait += batch.dur[i];
      if (batch.dur[i] > batch.dur[run.top]) run.top = i;
    } else {
      runs.push({ i, j: i + 1, t0: batch.start[i], t1: batch.end(i), top: i, busy: batch.dur[i], wait: batch.kind[i] === 6 ? batch.dur[i] : 0, narrow: narrow(i) });
    }
  }
  return runs.filter((x) => x.t1 >= from && x.t0 <= to).map(({ narrow: _, ...x }) => x);
}

const strip = ({ i, j, t0, t1, top, busy, wait }) => ({ i, j, t0, t1, top, busy, wait });

test("runs are those of the rule, at any resolution and place", () => {
  const random = randomly(7);
  for (let round = 0; round < 60; round++) {
    const items = [];
    let t = random(1000);
    const n = 1 + random(round < 50 ? 400 : 3000);
    const spread = 1 + random(12);
    for (let k = 0; k < n; k++) {
      const dur = random(2 ** (1 + random(spread))) * (random(200) === 0 ? 1000 : 1);
      items.push([1, 0, 1 + random(3), random(4) === 0 ? 6 : 1, t, dur]);
      t += dur + random(2 ** (1 + random(spread)));
    }
    if (random(3) === 0) items.push([1, 0, 1, 1, t, 3, { open: true }]);
    const model = modelOf(items, { names: ["", "a", "b", "c"] });
    const lane = model.rows()[0].lanes[0];
    const { batch, from: lo, to: hi } = lane.parts[0];
    for (let q = 0; q < 25; q++) {
      const a = random(t + 10) - 5;
      const b = q % 3 === 0 ? t : a + random(t);
      const res = q % 5 === 0 ? 0 : 2 ** random(20) * (1 + random(100) / 100);
      const got = barsOf(model, lane, a, b, res).filter((x) => x.batch === batch).map(strip);
      assert.deepEqual(got, naive(batch, a, b, lo, hi, res), `round ${round}, ${a} to ${b} at ${res}`);
    }
  }
});

test("bars are in order, and each item is in one of them", () => {
  const items = [];
  for (let k = 0; k < 5000; k++) items.push([1, 0, 1, 1, k * 100, k % 50 === 0 ? 99 : 7]);
  const model = modelOf(items, { names: ["", "a"] });
  const lane = model.rows()[0].lanes[0];
  for (const res of [0, 1, 10, 50, 99, 128, 1000, 65536, 1e9]) {
    const bars = barsOf(model, lane, -Infinity, Infinity, res);
    assert.equal(bars[0].i, 0);
    assert.equal(bars.at(-1).j, 5000);
    for (let k = 1; k < bars.length; k++) assert.equal(bars[k].i, bars[k - 1].j);
    assert.equal(bars.reduce((n, b) => n + b.busy, 0), 5000 * 7 + 100 * 92);
  }
});

test("what a view costs does not grow with the items below it", () => {
  const n = 200000;
  const items = [];
  for (let k = 0; k < n; k++) items.push([1, 0, 1 + k % 3, 1, k * 150, 100]);
  items.push([2, 0, 1, 1, 0, 36e12]);
  const model = modelOf(items, { names: ["", "a", "b", "c"] });
  const [first, second] = model.rows();
  const lane = (first.key === 1 ? first : second).lanes[0];
  for (const to of [n * 150, 36e12, 20000]) assert.ok(barsOf(model, lane, 0, to, to / 1000).length <= 2100);
  const { levels } = lane.parts[0].batch.pyramid(lane.parts[0].lane);
  assert.ok(levels.reduce((sum, l) => sum + l.n, 0) <= n / 2);
});

test("panning leaves the runs where they are", () => {
  const random = randomly(3);
  const items = [];
  for (let k = 0, t = 0; k < 3000; k++, t += 40 + random(60)) items.push([1, 0, 1, 1, t, 30]);
  const model = modelOf(items, { names: ["", "a"] });
  const lane = model.rows()[0].lanes[0];
  const whole = new Set(barsOf(model, lane, 0, 1e6, 500).map((b) => `${b.i} ${b.j}`));
  for (let from = 0; from < 1e5; from += 777) for (const b of barsOf(model, lane, from, from + 20000, 500)) assert.ok(whole.has(`${b.i} ${b.j}`));
});
