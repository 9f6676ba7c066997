// The time whose states are being loaded or computed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOf, stateNames, statesOf } from "./make.js";

const cpu = stateNames.indexOf("cpu");

test("a file has all of its states", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 1000]], { names: ["", "work"] });
  model.waits.take(statesOf([[1, 0, [cpu, 1000]]]));
  assert.deepEqual([model.waits.awaited(0, 1000, false), model.waits.awaited(0, 1000, true)], [[], []]);
  model.waits.deriving = true;
  assert.deepEqual(model.waits.awaited(-500, 5000, false), []);
});

test("a server's are awaited until they are there, beside what is known", async () => {
  const model = modelOf([[1, 0, 1, 1, 0, 1000]], { names: ["", "work"] });
  let answer = () => {};
  model.source = { home: "live", waits: () => new Promise((done) => { answer = () => done(statesOf([[1, 200, [cpu, 400]]], { from: 200, to: 600 })); }) };
  assert.deepEqual(model.waits.awaited(0, 1000, false), [[0, 1000]], "nothing is there yet");
  model.waits.want(250, 500, 100);
  assert.deepEqual(model.waits.awaited(100, 700, true), [[100, 700]]);
  const came = new Promise((done) => { model.onchange(() => done(null)); });
  answer();
  await came;
  const { from, to } = model.waits.states;
  model.waits.busy = true; // another part is being loaded
  assert.deepEqual(model.waits.awaited(from - 50, to + 50, false), [[from - 50, from], [to, to + 50]].filter(([a]) => a >= 0));
  model.waits.busy = false;
  assert.deepEqual(model.waits.awaited(from, to, false), []);
  model.setState("lost", "");
  model.waits.busy = true;
  assert.deepEqual(model.waits.awaited(0, 1000, false), [], "what will not come is not awaited");
});
