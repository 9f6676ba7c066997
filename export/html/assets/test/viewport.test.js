import test from "node:test";
import assert from "node:assert/strict";
import { commands } from "../commands.js";
import { limitedView, viewOfAll } from "../view/viewport.js";
import { newChoices } from "../view/layout.js";
import { newCalls } from "../model/calls.js";

let calm = true; // without animations
/** @type {(() => void)[]} */
let frames = [];
globalThis.matchMedia = () => ({ matches: calm });
globalThis.requestAnimationFrame = (fn) => frames.push(fn);
globalThis.cancelAnimationFrame = (k) => { frames[k - 1] = () => {}; };

/** An app that sees all of a trace of a thousand milliseconds on a hundred pixels. */
function seeing(view = { from: 0, to: 1e9 }) {
  const wanted = [];
  const app = {
    model: { end: 1e9, meta: {}, names: [], rows: () => [], cached: (key, make) => make(), waits: { others: () => [] }, goroutines: {}, want: (from, to, px) => wanted.push([from, to, px]), place: () => ({ key: 1, depth: 0 }) },
    view, aim: view, wanted, revealed: [], follow: false, frames: [], choices: newChoices(), calls: newCalls(),
    rows: { width: () => 100, reveal: (key, depth) => app.revealed.push([key, depth]), layout() {} },
    draw() {}, notify() {}, keepState() {},
  };
  return Object.assign(app, commands(app));
}

const one = (start, dur) => ({ batch: { start: [start], dur: [dur] }, i: 0 });

test("the view is neither narrower than pixels can show nor wider than the trace", () => {
  const app = seeing();
  app.setView(500, 501);
  assert.deepEqual(app.view, { from: 490.5, to: 510.5 });
  app.setView(-1e12, 1e12);
  assert.ok(Math.abs(app.view.to - app.view.from - 1.1e9) < 1);
  app.setView(5e9, 5.1e9);
  assert.ok(app.view.from < 1e9, "the trace's end stays in sight");
  app.setView(-5e9, -4.9e9);
  assert.ok(app.view.to > 0, "the trace's begin stays in sight");
  assert.deepEqual(app.wanted.at(-1), [app.view.from, app.view.to, 100]);
});

test("what is under the pointer stays there when zooming", () => {
  const app = seeing();
  for (const [t, factor] of [[3e8, 0.5], [3.2e8, 0.1], [3.2e8, 3]]) {
    const share = () => (t - app.view.from) / (app.view.to - app.view.from);
    const before = share();
    app.zoomAt(t, factor);
    assert.ok(Math.abs(share() - before) < 1e-9, `${t}, ${factor}`);
  }
});

test("a scope that is looked at lies in the view, with something around it", () => {
  const app = seeing();
  app.fit(2e8, 3e8);
  assert.deepEqual(app.view, { from: 1.92e8, to: 3.08e8 });
  app.reveal(one(2.1e8, 5e7));
  assert.deepEqual(app.view, { from: 1.92e8, to: 3.08e8 }, "it was in sight");
  app.reveal(one(6e8, 5e7));
  assert.deepEqual([app.view.from, app.view.to], [5.67e8, 6.83e8], "as wide as before");
  app.reveal(one(7e8, 100));
  assert.deepEqual(app.view, { from: 7e8 - 950, to: 7e8 + 1050 }, "too short to be seen, it is a twentieth of the view");
  app.reveal(one(7e8, 0));
  assert.deepEqual(app.view, { from: 7e8 - 950, to: 7e8 + 1050 }, "an instant is seen in any view");
  app.reveal(one(8e8, 0));
  assert.deepEqual(app.view, { from: 8e8 - 1000, to: 8e8 + 1000 });
  app.reveal(one(7e8, 4000));
  assert.deepEqual(app.view, { from: 7e8 - 2000, to: 7e8 + 6000 }, "longer than the view, there is half of it on either side");
  app.seeAll();
  assert.deepEqual(app.view, { from: 0, to: 1.01e9 });
  app.model.meta.whole = 9e8;
  app.seeAll();
  assert.deepEqual(app.view, { from: 9e8, to: 1.001e9 }, "of a ring what is there");
  app.model.meta.excerpt = [2e8, 3e8];
  app.model.meta.whole = undefined;
  app.seeAll();
  assert.deepEqual(app.view, { from: 2e8, to: 3.01e8 }, "of an excerpt its range");
  assert.deepEqual(app.revealed, Array(6).fill([1, 0]));
});

test("following, the end is in sight, until one looks elsewhere", () => {
  const app = seeing({ from: 0, to: 1e8 });
  app.setFollow(true);
  assert.deepEqual(app.view, { from: 1e9 - 0.96e8, to: 1e9 + 0.04e8 });
  app.model.end = 2e9;
  app.stayAtEnd();
  assert.deepEqual([app.view, app.follow], [{ from: 2e9 - 0.96e8, to: 2e9 + 0.04e8 }, true]);
  app.pan(-1e9);
  assert.equal(app.follow, false);
});

test("steps of the keyboard during an animation are computed from where the view aims", () => {
  const app = seeing();
  calm = false;
  frames = [];
  app.fit(2e8, 3e8);
  assert.ok(app.view.from < 1.92e8 && app.view.to > 3.08e8, "the view is on its way");
  app.reveal(one(6e8, 5e7));
  app.reveal(one(7e8, 5e7));
  assert.deepEqual(app.aim, { from: 6.67e8, to: 7.83e8 }, "as wide as the view that was aimed for");
  assert.deepEqual(app.wanted.at(-1), [app.aim.from, app.aim.to, 100]);
  app.pan(-1e8);
  assert.deepEqual(app.view, { from: 5.67e8, to: 6.83e8 }, "what is not animated ends the animation");
  for (const fn of frames) fn();
  assert.deepEqual(app.view, { from: 5.67e8, to: 6.83e8 });
  calm = true;
});

test("the view reaches as far as the trace beside it", () => {
  const model = { end: 1000, meta: {}, reach: { from: -500, to: 3000 } };
  assert.deepEqual(viewOfAll(model), { from: -500, to: -500 + 3500 * 1.01 });
  assert.deepEqual(limitedView(model, -400, -300), { from: -400, to: -300 });
  assert.deepEqual(limitedView({ ...model, reach: null }, -400, -300), { from: -5, to: 95 });
  assert.deepEqual(viewOfAll({ ...model, reach: null }), { from: 0, to: 1010 });
});
