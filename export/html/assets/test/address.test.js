import test from "node:test";
import assert from "node:assert/strict";
import { addressKeeper } from "../address.js";
import { newCalls } from "../model/calls.js";
import { newChoices } from "../view/layout.js";

/** A browser's history, and a page in it. */
function paged(t, hash = "") {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const entries = [{ state: null, hash }];
  let at = 0;
  let arrive = () => {};
  globalThis.window = Object.assign(globalThis, { addEventListener: (_, fn) => { arrive = fn; } });
  globalThis.location = { get hash() { return entries[at].hash; } };
  globalThis.history = {
    get state() { return entries[at].state; },
    replaceState(state, _, to) { entries[at] = { state, hash: to }; },
    pushState(state, _, to) { entries.splice(++at, Infinity, { state, hash: to }); },
    go(by) { at += by; arrive({ state: entries[at].state }); },
  };
  const app = {
    model: { end: 1e9, meta: {} }, aim: { from: 0, to: 1.01e9 }, range: null, choices: newChoices(), calls: newCalls(), marks: [], selection: null,
    by: "goroutine", follow: false, tab: "summary", chosenRow: "", said: [], announce(text) { app.said.push(text); },
  };
  const keeper = addressKeeper(app, (s, follow) => Object.assign(app, { aim: s.view ?? { from: 0, to: 1.01e9 }, range: s.range ?? null, follow }));
  keeper.begin();
  return {
    app, keeper, entries, hashes: () => entries.map((e) => e.hash), rest: (ms) => t.mock.timers.tick(ms),
    paste(to) { entries.splice(++at, Infinity, { state: null, hash: to }); arrive({ state: null }); },
    look(from, to) { app.aim = { from, to }; keeper.keep(); },
  };
}

test("what follows each other quickly is one step", (t) => {
  const p = paged(t);
  for (let k = 1; k <= 5; k++) {
    p.look(k, k + 100);
    p.rest(300);
  }
  assert.deepEqual(p.hashes(), ["#"], "it goes on");
  p.rest(700);
  p.keeper.keep();
  p.rest(700);
  assert.deepEqual(p.hashes(), ["#", "#v=5-105"], "nothing has changed since");
});

test("steps are gone through back and forward, and a new one takes the place of those behind it", (t) => {
  const p = paged(t);
  p.look(1, 100);
  p.rest(700);
  p.app.range = { from: 7, to: 9 };
  p.keeper.keep(); // and no rest: it is a step nevertheless
  p.keeper.go(-1);
  assert.deepEqual([p.app.aim, p.app.range], [{ from: 1, to: 100 }, null]);
  p.keeper.go(-1);
  assert.deepEqual(p.app.aim, { from: 0, to: 1.01e9 });
  p.keeper.go(-1);
  assert.equal(p.app.said.at(-1), "nothing to undo");
  p.keeper.go(1);
  p.keeper.go(1);
  assert.deepEqual([p.app.aim, p.app.range], [{ from: 1, to: 100 }, { from: 7, to: 9 }]);
  p.keeper.go(1);
  assert.equal(p.app.said.at(-1), "nothing to redo");
  p.keeper.go(-1);
  p.look(5, 50);
  p.rest(700);
  assert.deepEqual(p.hashes(), ["#", "#v=1-100", "#v=5-50"]);
});

test("a link that is pasted is a step", (t) => {
  const p = paged(t);
  p.paste("#v=3-33&r=4-5");
  assert.deepEqual([p.app.aim, p.app.range], [{ from: 3, to: 33 }, { from: 4, to: 5 }]);
  p.rest(2000);
  assert.equal(p.entries.length, 2);
  p.keeper.go(-1);
  assert.deepEqual([p.app.aim, p.app.range], [{ from: 0, to: 1.01e9 }, null]);
});

test("a trace that grows makes no steps; to follow it again is one", (t) => {
  const p = paged(t);
  p.app.model.end = 2e9; // what is seen is not the whole any more
  p.keeper.keep();
  p.rest(700);
  assert.deepEqual(p.hashes(), ["#v=0-1010000000"]);
  p.app.follow = true;
  p.keeper.keep();
  p.rest(700);
  p.look(8, 9); // it goes on at the end
  p.rest(700);
  assert.equal(p.entries.length, 2);
  p.keeper.go(-1);
  assert.equal(p.app.follow, false);
  p.keeper.go(1);
  assert.equal(p.app.follow, true);
});
