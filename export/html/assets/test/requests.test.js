import test from "node:test";
import assert from "node:assert/strict";
import { container, modelOf } from "./make.js";
import { linkIn, LinkIndex, withoutLink } from "../data/itemlinks.js";
import { clockText, ownGoroutine, processOf } from "../model/processes.js";
import { LitRequest } from "../model/requests.js";
import { layoutRows, newChoices } from "../view/layout.js";
import { arrangedRows } from "../model/rows.js";

const trace = "0af7651916cd43dd8448eb211c80319c";
const other = "0af7651916cd43dd8448eb211c80319d";
const span = (n) => n.toString(16).padStart(16, "0");
const link = (of, own, parent = 0) => JSON.stringify({ 0: 1, trace_id: of, ...own && { span_id: span(own) }, ...parent && { parent_id: span(parent) } });
const names = ["", "serve", "call", "query", "note"];
const g = (process, id) => process * 2 ** 30 + id;
const processes = [{ number: 1, label: "api 11", pid: 11, from: 0, to: 100, error: 0 }, { number: 2, parent: 1, label: "db 12", pid: 12, from: 0, to: 100, error: -1 }];
const meta = { linked: 6, processes, shift: 30 };
const items = [
  [g(1, 1), 0, 1, 1, 0, 100, { args: link(trace, 1) }], [g(1, 1), 1, 2, 1, 10, 50, { args: link(trace, 2, 1) }],
  [g(2, 1), 0, 3, 1, 20, 20, { args: link(trace, 3, 2) }], [g(2, 1), "i", 4, 3, 30, 0, { args: link(trace, 0, 3) }],
  [g(1, 2), 0, 2, 1, 70, 20, { args: link(trace, 4, 9), open: true }], [g(1, 2), 1, 2, 1, 75, 5, { args: link(other, 5, 1) }], [g(1, 3), 0, 2, 1, 0, 100],
];

test("a link is found among arguments", () => {
  assert.deepEqual(linkIn(link(trace, 7, 1)), { trace, span: span(7), parent: span(1) });
  assert.equal(withoutLink(link(trace, 7, 1)), `{"0":1,}`);
  assert.equal(linkIn(`{"x":"trace_id"}`), null);
  assert.equal(linkIn(`{"trace_id":"0123"}`), null);
  assert.equal(linkIn(`{"span_id":"${span(1)}"}`), null);
});

test("items are found by their ids", () => {
  const model = modelOf(items, { names, meta });
  const index = new LinkIndex(model.base);
  const found = [];
  index.each("trace", trace, (i) => found.push(model.base.start[i]));
  assert.deepEqual(found.sort((a, b) => a - b), [0, 10, 20, 30]);
  index.each("span", span(3), (i, l) => assert.equal(l.parent, span(2), `item ${i}`));
  assert.equal(index.startingWith("0af76519"), trace);
  assert.equal(index.startingWith("1af76519"), "");
});

test("a request is a tree by parents", () => {
  const model = modelOf(items, { names, meta });
  const r = model.requests.of(trace);
  assert.deepEqual(r.list.map((p) => [p.depth, p.ref ? model.name(p.ref.batch.name[p.ref.i]) : p.span, p.start, p.self]), [
    [0, "serve", 0, 50], [1, "call", 10, 30], [2, "query", 20, 20], [3, "note", 30, 0], [0, span(9), NaN, NaN], [1, "call", 70, 30],
  ]);
  assert.deepEqual([r.from, r.to, r.keys.size, r.lacks, r.more], [0, 100, 3, "", 0]);
  // To the other process and back; within a row and to a missing parent there is none.
  assert.deepEqual(r.arrows.map((a) => [a.from.rowKey, a.from.time, a.to.rowKey, a.to.time]), [[g(1, 1), 20, g(2, 1), 20], [g(2, 1), 40, g(1, 1), 40]]);
  const query = model.find(g(2, 1), 0, 20);
  assert.deepEqual(model.requests.linksOf(query).map((l) => [l.from.rowKey, l.to.rowKey]), [[g(1, 1), g(2, 1)]]);
  assert.equal(model.requests.linksOf(model.find(g(1, 1), 1, 10)).length, 1);
  assert.equal(model.requests.of(""), null);
  const lit = new LitRequest(model, trace);
  assert.equal(model.batches().reduce((n, b) => n + Array.from({ length: b.n }, (_, i) => lit.has(b, i)).filter(Boolean).length, 0), 5);
  assert.deepEqual([...lit.bins(0, 100, 2)], [4, 3]);
});

test("ids that go in circles end, and parents may begin later", () => {
  const model = modelOf([
    [1, 0, 1, 1, 0, 10, { args: link(trace, 1, 2) }], [2, 0, 2, 1, 5, 10, { args: link(trace, 2, 1) }], [3, 0, 3, 1, 6, 2, { args: link(trace, 3, 3) }],
  ], { names, meta: { linked: 3 } });
  const { list, arrows } = model.requests.of(trace);
  assert.equal(list.filter((p) => p.ref).length, 3);
  assert.equal(arrows.length, 1);
});

test("of a reduced trace a server is asked, once", async () => {
  const asked = [];
  const source = { home: "live", whole: async () => null, request: async (id) => {
    asked.push(id);
    return container(items.slice(0, 3), { tile: { left: 2, partial: true } });
  } };
  const model = modelOf([[g(1, 1), 0, 1, 1, 0, 100, { count: 5 }]], { names, meta, tile: { res: 64 }, source });
  assert.equal(model.requests.of(trace), null);
  await new Promise((done) => model.onchange(done));
  const r = model.requests.of(trace);
  assert.deepEqual([r.list.length, asked], [3, [trace]]);
  assert.match(r.lacks, /2 more scopes.*too many links to search them all/);
  assert.ok(new LitRequest(model, trace).has(model.base, 0));
  assert.equal(await model.requests.find("0af76519"), trace);
  const file = modelOf([[1, 0, 1, 1, 0, 100, { count: 5 }]], { names, meta, tile: { res: 64 } });
  assert.match(file.requests.of(trace).lacks, /short ones are merged/);
});

test("a page without links looks for none", () => {
  const model = modelOf(items, { names });
  assert.equal(model.requests.of(trace), null);
  assert.equal(model.requests.linkOf({ batch: model.base, i: 0 }), null);
});

test("rows are below their processes", () => {
  const model = modelOf(items, { names: [...names, "db 12 CPUs", "queue"], meta, series: [[5, [[1, 5]]], [6, [[1, 5]]]] });
  const choices = newChoices();
  const titles = () => layoutRows(model, arrangedRows(model, "goroutine", "name"), choices).strips.map((s) => s.title);
  assert.deepEqual(titles(), ["api 11", "goroutine 1", "goroutine 3", "goroutine 2", "db 12", "goroutine 1", "db 12 CPUs", "queue"]);
  choices.shut.add("P1");
  assert.deepEqual(titles(), ["api 11", "db 12", "goroutine 1", "db 12 CPUs", "queue"]);
  choices.only = new Set([`g${g(2, 1)}`]);
  assert.deepEqual(titles(), ["db 12", "goroutine 1"]);
  assert.equal(processOf(meta, g(2, 1)).label, "db 12");
  assert.equal(processOf({}, 7), null);
  assert.deepEqual([ownGoroutine(meta, g(2, 7)), ownGoroutine(meta, g(2, 2 ** 29 + 7)), ownGoroutine({}, 7)], [7, 0, 7]);
});

test("how well a clock is known", () => {
  const span = (ns) => `${ns} ns`;
  assert.equal(clockText({ ...processes[0], error: -1 }, span), "clock unknown");
  assert.equal(clockText({ ...processes[0], error: 12, offset: -7 }, span), "clock −7 ns ±12 ns");
  assert.equal(clockText({ ...processes[0], error: 12, violated: true }, span), "clock ±12 ns, contradicted by pairs");
  assert.equal(clockText(processes[0], span), "");
  assert.equal(clockText({ ...processes[0], offset: 6 }, span), "");
});
