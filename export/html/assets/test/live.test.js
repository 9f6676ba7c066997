import test from "node:test";
import assert from "node:assert/strict";
import { Model } from "../model/model.js";
import { inflate } from "../data/columns.js";
import { children, selfTime } from "../model/relate.js";
import { fileSource, followLive, liveSource, watchServer } from "../model/source.js";
import { extentOf } from "../model/refs.js";
import { mergeMeta } from "../data/meta.js";
import { barsOf, container, modelOf, randomly } from "./make.js";

const names = ["", "a", "b"];
const news = (items, meta, more = {}) => container(items, { ...more, meta: { names: undefined, ...meta } });
const all = (model, key = 1, from = 0, to = 1e9, res = 0) => model.goroutines.rows.get(key).lanes.flatMap((lane) => barsOf(model, lane, from, to, res));

test("the loop goes on after trouble, loads anew when asked to, and stops at the end", async () => {
  const asked = [];
  const answers = {
    0: () => news([[1, 0, 1, 1, 10, 5]], { end: 20, writer: "running", live: { cursor: "1" } }),
    1: () => { throw new Error("gone away"); },
    2: () => news([[1, 0, 1, 1, 20, 5]], { end: 30, writer: "running", live: { cursor: "2" } }),
    3: () => news([], { reload: true }),
    5: () => news([], { end: 60, writer: "gone", live: { cursor: "9" } }),
  };
  const whole = (end) => container([[1, 0, 1, 1, 0, 5]], { names, meta: { end, writer: "running", live: { cursor: "0" } } });
  const model = new Model({ home: "live", whole: async () => whole(10) });
  await model.load();
  const states = [];
  model.onchange(() => { if (states.at(-1) !== model.state) states.push(model.state); });
  const pauses = [];
  let k = 0;
  await followLive(model, async (path) => {
    asked.push(path);
    return k++ === 4 ? whole(50) : answers[k - 1]();
  }, async (ms) => { pauses.push(ms); });
  assert.deepEqual(asked, ["api/live?cursor=0", "api/live?cursor=1", "api/live?cursor=1", "api/live?cursor=2", "api/whole", "api/live?cursor=0"]);
  assert.deepEqual(states, ["connected", "lost", "connected", "ended"]);
  assert.deepEqual(pauses, [500]);
  assert.equal(model.end, 60);
  assert.equal(model.meta.writer, "gone");
  assert.equal(all(model).length, 1);
});

test("once nothing new comes, the server is watched until it has another recording", async () => {
  const model = new Model({ home: "live", whole: async () => container([[1, 0, 1, 1, 0, 5]], { names, meta: { end: 10, writer: "closed" } }) });
  await model.load();
  const fail = (status) => () => { throw Object.assign(new Error("no"), { status }); };
  const answers = [() => {}, fail(), fail(), () => {}, fail(404), () => {}, () => { model.setState("replaced", ""); fail(409)(); }];
  const states = [];
  model.onchange(() => states.push(model.state));
  const pauses = [];
  await watchServer(model, async () => /** @type {any} */ (answers.shift())(), async (ms) => { pauses.push(ms); });
  assert.deepEqual(states, ["ended", "lost", "ended", "removed", "ended", "replaced"]);
  assert.deepEqual(pauses, [2000, 2000, 500, 1000, 2000, 500, 2000]);
  model.setState("connected", "");
  assert.equal(model.state, "replaced");
});

test("the page reports a file that is not the recording any more, and asks nothing more", async () => {
  for (const live of [false, true]) {
    const model = new Model({ home: "live", whole: async () => container([], { names, meta: { end: 10, writer: live ? "running" : "closed", live: { cursor: "0" } } }) });
    await model.load();
    const gone = async () => { throw Object.assign(new Error("cut off"), { status: 410 }); };
    await (live ? followLive(model, gone, async () => {}) : watchServer(model, gone, async () => {}));
    assert.equal(model.state, "changed");
    model.setState("ended", "");
    assert.equal(model.state, "changed");
  }
});

test("what another server answers at the same port is not believed", async () => {
  const { deflateRawSync } = await import("node:zlib");
  const head = Buffer.from(JSON.stringify({ meta: { end: 3, id: "a1" }, columns: [] }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const bytes = deflateRawSync(Buffer.concat([Buffer.from("SVC1"), length, head]));
  const { fetch } = globalThis;
  const ours = { headers: { Scopeview: "one" } };
  let answer = () => new Response(bytes, ours);
  globalThis.fetch = async () => answer();
  try {
    const source = liveSource("/t/0/");
    await source.whole();
    assert.equal((await source.samples()).header.meta.end, 3);
    for (const status of [200, 404, 409, 410, 503]) {
      for (const headers of [{}, { Scopeview: "two" }]) {
        answer = () => new Response("<h1>something</h1>", { status, headers });
        await assert.rejects(source.advice(), (err) => err.status === 0 && /another server answers$/.test(err.message), `${status} ${JSON.stringify(headers)}`);
      }
    }
    answer = () => new Response("no", { status: 404, ...ours });
    await assert.rejects(source.advice(), (err) => err.status === 404);
  } finally {
    globalThis.fetch = fetch;
  }
});

test("a server that does not answer is asked at once when somebody wants that", async () => {
  const model = new Model({ home: "live", whole: async () => container([], { names, meta: { end: 10, writer: "closed" } }) });
  await model.load();
  const watched = watchServer(model, async () => { model.setState("replaced", ""); }, () => new Promise(() => {}));
  model.retry();
  await watched;
  assert.equal(model.state, "replaced");
});

test("hundreds of increments are few batches, and lose nothing", () => {
  const random = randomly(4);
  const model = modelOf([[1, 0, 1, 1, 0, 1000, { open: true, args: '{"x":1}' }]], { names });
  let t = 10;
  const said = [];
  for (let k = 0; k < 300; k++) {
    const items = [];
    for (let j = random(4); j >= 0; j--, t += 20) {
      items.push([1 + random(3), 1, 2, 1, t, 10, { args: `{"k":${k}}`, thread: random(3) }]);
      said.push(`{"k":${k}}`);
    }
    model.update(news(items, { end: t }, { open: { rows: [[1, 0]], items: [[0, 0, 1, 1, 0, 0, '{"x":1}']] } }));
    if (k === 150) model.rows("thread");
    assert.ok(model.increments.length <= 32);
  }
  const texts = model.batches().flatMap((batch) => Array.from({ length: batch.n }, (_, i) => model.argsText(batch, i)));
  assert.deepEqual(texts.sort(), [...said, '{"x":1}'].sort());
  assert.equal(model.rows().reduce((n, r) => n + r.scopes, 0), said.length + 1);
  assert.equal(model.rows("thread").reduce((n, r) => n + r.scopes, 0), said.length + 1);
  for (const row of model.rows("thread")) {
    for (const lane of row.lanes) {
      const bars = barsOf(model, lane, 0, t, 0).sort((a, b) => a.t0 - b.t0);
      for (let k = 1; k < bars.length; k++) assert.ok(bars[k - 1].t1 <= bars[k].t0);
    }
  }
});

test("a lane's scopes that come late are put in order", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 5], [1, 0, 1, 1, 100, 5]], { names });
  for (const t of [50, 20]) model.update(news([[1, 0, 1, 1, t, 5]], { end: 200 }));
  assert.equal(model.increments.length, 0);
  assert.deepEqual(all(model).map((b) => b.t0), [0, 20, 50, 100]);
});

test("of a coarse trace, what is looked at is fetched, and answers to old questions are dropped", async () => {
  const fine = [];
  for (let k = 0; k < 1000; k++) fine.push([1, 0, 1, 1, k * 10, 5]);
  const coarse = [[1, 0, 1, 1, 0, 4995, { count: 500, busy: 2500 }], [1, 0, 1, 1, 5000, 4995, { count: 500, busy: 2500 }]];
  const asked = [];
  let fail = false;
  const model = modelOf(coarse, {
    names, tile: { res: 5000 },
    source: {
      home: "live",
      async tile(from, to, px) {
        asked.push([from, to, px]);
        if (fail) throw new Error("no answer");
        return container(fine.filter((x) => x[4] <= to && x[4] + x[5] >= from), { tile: { from, to } });
      },
    },
  });
  const settle = () => new Promise((done) => { setTimeout(done, 5); });
  assert.equal(all(model).length, 2);
  model.want(1000, 2000, 100);
  model.want(3000, 3500, 100);
  model.want(4000, 4400, 100);
  await settle();
  assert.deepEqual(asked, [[500, 2500, 200], [3800, 4600, 200]]);
  const bars = all(model);
  assert.deepEqual(bars.filter((b) => b.batch !== model.base).map((b) => b.t0), Array.from({ length: 82 }, (_, k) => 3795 + k * 10 - (3795 % 10)).filter((t) => t + 5 >= 3800 && t <= 4600));
  assert.deepEqual(bars.filter((b) => b.batch === model.base).map((b) => [b.t0, b.t1]), [[0, 3800], [4600, 4995], [5000, 9995]]);
  model.want(1200, 1800, 100);
  assert.equal(asked.length, 2); // what was fetched once is kept
  assert.equal(model.details.shown.from, 500);
  model.want(0, 9995, 1);
  assert.equal(model.details.shown, null);
  const whole = model.find(1, 0, 0);
  assert.equal(selfTime(model, whole), null); // what is merged is of many scopes
  fail = true;
  model.want(6000, 6100, 100);
  await settle();
  assert.equal(model.trouble, "no answer");
  assert.equal(all(model).length, 2);
  fail = false;
  model.rows("thread");
  model.want(6000, 6100, 100);
  await settle();
  const lane = model.rows("thread")[0].lanes[0];
  assert.equal(barsOf(model, lane, 6000, 6099, 0).length, 10);
});

test("names, heartbeats and the rest of the meta data grow", () => {
  let meta = mergeMeta({ names: [""] }, { names: ["", "a"], end: 5, beats: { time: [1, 2], rss: [7, 8] } });
  meta = mergeMeta(meta, { end: 6, namesFrom: 2, names: ["b"], beats: { time: [3], rss: [9], heap: [1] } });
  assert.deepEqual(meta.names, ["", "a", "b"]);
  assert.deepEqual(meta.beats, { time: [1, 2, 3], rss: [7, 8, 9], heap: [null, null, 1] });
  meta = mergeMeta(meta, { beats: { time: [2, 3, 4], rss: [8, 9, 10], heap: [0, 1, 2] } });
  assert.deepEqual(meta.beats, { time: [1, 2, 3, 4], rss: [7, 8, 9, 10], heap: [null, 0, 1, 2] });
  assert.equal(mergeMeta(meta, { end: 9 }).names, meta.names);
});

test("open scopes last until now while the writer runs", () => {
  const model = modelOf([[1, 0, 1, 1, 5, 10, { open: true }], [1, "i", 2, 4, 6, 0, { open: true }]], { names, meta: { end: 15, writer: "running" } });
  assert.equal(model.tick(), false);
  model.setState("connected", "");
  model.lastUpdate -= 100;
  assert.equal(model.tick(), true);
  const { end } = extentOf(model.find(1, 0, 5));
  assert.ok(end >= 15 + 100e6 && end === model.end);
  assert.deepEqual(extentOf(model.find(1, -1, 6)), { start: 6, end: 6 });
  model.lastUpdate -= 1e7;
  model.tick();
  assert.equal(model.end, 15 + 1.5e9);
  model.update(news([], { end: 100, writer: "gone" }));
  assert.equal(model.end, 100);
  assert.equal(model.tick(), false);
});

test("the data in the page, and the server's, by their addresses", async () => {
  const { deflateRawSync } = await import("node:zlib");
  const head = Buffer.from(JSON.stringify({ meta: { end: 3 }, columns: [] }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const bytes = deflateRawSync(Buffer.concat([Buffer.from("SVC1"), length, head]));
  const data = { textContent: bytes.toString("base64") };
  globalThis.document = { getElementById: (id) => (id === "data" ? data : null) };
  const { fetch } = globalThis;
  const asked = [];
  globalThis.fetch = async (path) => {
    asked.push(path);
    if (path.includes("summary")) return Response.json({ scopes: [], locks: [] });
    return path.includes("tile") ? new Response("no such trace\n", { status: 404 }) : new Response(bytes);
  };
  try {
    assert.equal((await fileSource().whole()).header.meta.end, 3);
    assert.equal(data.textContent, "");
    const source = liveSource("/t/7/");
    assert.equal((await source.whole()).header.meta.end, 3);
    assert.equal((await source.runs(5, 1.5, 7.5)).header.meta.end, 3);
    assert.deepEqual(await source.summary(1.5, 7.5, false), { scopes: [], locks: [] });
    assert.deepEqual(await source.summary(1.5, 7.5, true), { scopes: [], locks: [] });
    await assert.rejects(source.tile(0.5, 9.1, 99.5), /\/t\/7\/api\/tile: the server answers 404 no such trace$/);
    assert.deepEqual(asked, ["/t/7/api/whole", "/t/7/api/runs?name=5&from=1&to=8", "/t/7/api/summary?from=1&to=8", "/t/7/api/summary?from=1&to=8&whole=1", "/t/7/api/tile?from=0&to=10&px=100"]);
  } finally {
    delete globalThis.document;
    globalThis.fetch = fetch;
  }
});

test("a browser without DecompressionStream gets an error that names it", async () => {
  const had = globalThis.DecompressionStream;
  delete globalThis.DecompressionStream;
  try {
    await assert.rejects(inflate(new Uint8Array(1)), /no DecompressionStream for deflate-raw. Chrome/);
  } finally {
    globalThis.DecompressionStream = had;
  }
});

test("of a coarse trace, what lies in a scope is known where a tile is exact", async () => {
  const coarse = [[1, 0, 1, 1, 0, 1000], [1, 1, 2, 1, 100, 800, { count: 40, busy: 400 }]];
  const fine = [[1, 0, 1, 1, 0, 1000]];
  for (let k = 0; k < 40; k++) fine.push([1, 1, 2, 1, 100 + 20 * k, 10]);
  const model = modelOf(coarse, {
    names, tile: { res: 1000 },
    source: { home: "live", tile: async (from, to) => container(fine, { tile: { from, to } }) },
  });
  const ref = model.find(1, 0, 0);
  assert.equal(selfTime(model, ref), null);
  model.want(0, 1000, 500);
  await new Promise((done) => { setTimeout(done, 5); });
  assert.equal(selfTime(model, ref), 600);
  assert.equal(children(model, ref, 100).length, 40);
});
