import { test } from "node:test";
import assert from "node:assert/strict";
import { argsList } from "../data/args.js";
import { bothTimes, cpuFacts, factsOf, isInstant, kindText, processFacts } from "../panel/detailfacts.js";
import { distributionText } from "../panel/distribution.js";
import { Kind } from "../data/kinds.js";
import { fakeModel } from "./fakemodel.js";
import { span } from "../view/numbers.js";

test("arguments keep their order and their digits", () => {
  assert.deepEqual(argsList('{"b":1,"0":18446744073709551615,"f":1e+21,"t":true}'), [["b", "1"], ["0", "18446744073709551615"], ["f", "1e+21"], ["t", "true"]]);
  assert.deepEqual(argsList('{"file":"a, \\"b\\": {c}","k\\n":"\\u003cimg\\u003e","type":{"type":"x.Y"}}'), [["file", 'a, "b": {c}'], ["k\n", "<img>"], ["type", '{"type":"x.Y"}']]);
  assert.deepEqual(argsList(""), []);
  assert.deepEqual(argsList("{}"), []);
  assert.deepEqual(argsList('{"cut'), []);
});

const names = ["", "a"];

/** An app around one item on its row. */
function appOf(item, meta = {}) {
  const model = fakeModel(names, [{ key: 17, name: "worker 3", items: [{ depth: 0, name: "a", start: 0, dur: 0, ...item }] }], { start: "2026-11-20T17:32:58.995123456Z", ...meta });
  const row = model.rows()[0];
  const batch = row.lanes[0].parts[0].batch;
  batch.lanes = [{ key: 17, depth: 0 }];
  batch.endedBy = new Map(item.endedBy ? [[0, item.endedBy]] : []);
  row.nameId = 0;
  model.name = (id) => names[id];
  model.argsText = (b, i) => b.strings[b.args[i]];
  model.goroutines = { rows: new Map() };
  model.place = (ref) => ({ row, lane: { depth: 0 }, ref });
  return { app: { model, span }, ref: { batch, i: 0 } };
}

const facts = (item, self = null) => {
  const { app, ref } = appOf(item);
  return Object.fromEntries(factsOf(app, ref, self));
};

test("CPU time says how sure it is", () => {
  const said = (item) => {
    const { app, ref } = appOf({ dur: 2e6, ...item });
    return Object.fromEntries(cpuFacts(app, ref, 2e6));
  };
  assert.equal(said({ cpu: 1e6, flags: 1 })["CPU time"], "1.00 ms (exact)".replace("1.00", span(1e6).split(" ")[0]));
  assert.match(said({ cpu: 1e6, flags: 2 })["CPU time"], /ms \(likely/);
  assert.equal(said({ cpu: 1e6, flags: 1 })["CPU ÷ wall"], "0.50");
  assert.match(said({ flags: 0 })["CPU time"], /^unknown/);
  assert.equal(said({ flags: 0 })["CPU ÷ wall"], undefined);
  assert.equal(said({ flags: 4 })["CPU time"], "unknown until it ends");
});

test("of the process the heartbeats say as much as they know", () => {
  const beats = { time: [0, 10e6, 20e6, 30e6], user: [null, 8e6, 10e6, 2e6], sys: [null, 2e6, 10e6, 0], gc: [null, 3, 2, 4] };
  const said = (from, to, more = {}) => processFacts(appOf({}, { cpus: 2, beats: { ...beats, ...more } }).app, from, to);
  assert.deepEqual(said(10e6 + 1, 20e6 - 1), [["process CPUs", "2 of 2, by heartbeats"], ["GC cycles", "0 to 2, by heartbeats"]]);
  assert.deepEqual(said(5e6, 25e6), [["process CPUs", "0.20–2 of 2, by heartbeats"], ["GC cycles", "2 to 9, by heartbeats"]]);
  assert.deepEqual(said(5e6, 35e6)[1], ["GC cycles", "at least 6, by heartbeats"]);
  assert.deepEqual(said(11e6, 19e6, { gc: [null, 3, null, 4] })[1], ["GC cycles", "at least 0, by heartbeats"]);
  assert.deepEqual(said(11e6, 11.5e6), [], "too short");
  assert.deepEqual(said(40e6, 50e6), [], "no heartbeat then");
});

test("what has no duration, has not ended, or spans a step of the clock", () => {
  const ended = facts({ start: 1e9, dur: 5e6, thread: 4711, endedBy: 42 }, 2e6);
  assert.match(ended.start, /^1\.000000 s, at \d\d:\d\d:59\.995123$/);
  assert.match(ended.duration, /5,000,000 ns/);
  assert.match(ended["self time"], /^2/);
  assert.equal(ended["ended by"], "goroutine 42");
  assert.match(ended.thread, /^4711/);
  assert.match(facts({ kind: 7, dur: 5e6, args: '{"lock":"mutex","at_least":true}' }).duration, /^≥ 5/);
  assert.match(facts({ dur: 5e6, flags: 4 }).duration, /^not ended; running for at least 5/);
  const across = facts({ dur: 5e6, flags: 8 }, 1);
  assert.match(across.duration, /^unknown: the clock/);
  assert.equal(across["self time"], undefined);
  assert.equal(across["CPU time"], undefined);
  const event = facts({ kind: Kind.event, start: 5 });
  assert.equal(event.duration, undefined);
  assert.ok(event.at);
  assert.equal(facts({ kind: Kind.pending, flags: 4 }).happened, "not yet");
});

test("kinds in words", () => {
  for (const kind of Object.values(Kind)) assert.notEqual(kindText(kind), "record");
  assert.equal(kindText(99), "record");
  assert.ok(isInstant(Kind.event) && !isInstant(Kind.wait));
  assert.match(bothTimes({}, 5e9, 1e3), /^5\.000000 s$/);
});

test("where one lies among its name", () => {
  assert.equal(distributionText({ rank: 0, of: 1 }), "the only one of its name that ended");
  assert.equal(distributionText({ rank: 4650, of: 5000 }), "longer than 93% of 5,000 of its name");
  assert.equal(distributionText({ rank: 4999, of: 5000 }), "the longest of 5,000 of its name");
  assert.equal(distributionText({ rank: 0, of: 5000 }), "the shortest of 5,000 of its name");
});
