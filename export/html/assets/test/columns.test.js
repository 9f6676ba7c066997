import test from "node:test";
import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { decodeColumn, fromBase64, inflate, readContainer } from "../data/columns.js";
import { batchOfTile } from "../data/batch.js";
import { container } from "./make.js";

function varints(values) {
  const out = [];
  for (let v of values.map(BigInt)) {
    for (; v > 127n; v >>= 7n) out.push(Number(v & 127n) | 128);
    out.push(Number(v));
  }
  return Uint8Array.from(out);
}
const zigzag = (v) => (v < 0 ? -2n * BigInt(v) - 1n : 2n * BigInt(v));

function packed(header, ...columns) {
  const head = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, head.length, true);
  return Buffer.concat([Buffer.from("SVC1"), length, head, ...columns]);
}

test("numbers of every size", () => {
  const values = [0, 1, 127, 128, 16383, 16384, 2 ** 21 - 1, 2 ** 21, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 - 1];
  assert.deepEqual(decodeColumn("x", "u", values.length, varints(values)), Uint32Array.from(values));
  const wide = [...values, 2 ** 32, 2 ** 40 + 17, 2 ** 52 + 1, 2 ** 53 - 1, 5];
  assert.deepEqual(decodeColumn("x", "u", wide.length, varints(wide)), Float64Array.from(wide));
  const signed = wide.flatMap((v) => [v, -v]).filter((v) => !Object.is(v, -0));
  assert.deepEqual(decodeColumn("x", "z", signed.length, varints(signed.map(zigzag))), Float64Array.from(signed));
  const running = [5, 3, 36e12, 36e12, 0, 7];
  const steps = running.map((v, k) => zigzag(v - (running[k - 1] ?? 0)));
  assert.deepEqual(decodeColumn("x", "d", running.length, varints(steps)), Float64Array.from(running));
  assert.deepEqual(decodeColumn("x", "f", 2, new Uint8Array(Float64Array.from([0.5, NaN]).buffer)), Float64Array.from([0.5, NaN]));
});

test("base64 with and without the browser's own", () => {
  const bytes = Uint8Array.from({ length: 100001 }, (_, k) => k * 7);
  for (const cut of [100001, 100000, 99999, 0]) {
    const part = bytes.slice(0, cut);
    assert.deepEqual(fromBase64(`\n${Buffer.from(part).toString("base64")}\n`), part);
  }
  assert.throws(() => fromBase64("????"), /not base64/);
});

test("a container comes through", async () => {
  const bytes = packed({ meta: { end: 7 }, columns: [["a", "u", 3, 3], ["b", "b", 2, 2]] }, varints([1, 2, 3]), Uint8Array.of(8, 9));
  const { header, columns } = readContainer(await inflate(deflateRawSync(bytes)));
  assert.equal(header.meta.end, 7);
  assert.deepEqual([...columns.get("a")], [1, 2, 3]);
  assert.deepEqual([...columns.get("b")], [8, 9]);
});

test("what makes no sense is refused with a sentence", async () => {
  const one = [["a", "u", 1, 1]];
  for (const [bytes, want] of [
    [Buffer.from("SVC"), /no timeline header/], [Buffer.from("ABCD1234"), /no timeline header/],
    [packed("{").subarray(0, 8), /truncated/], [packed("{"), /not JSON/], [packed("null"), /not an object/],
    [packed({ columns: [["a", "u", -1, 1]] }), /invalid column/], [packed({ columns: [3] }), /invalid column/],
    [packed({ columns: [["a", "u", 1e15, 1]] }, Uint8Array.of(1)), /1000000000000000 values/],
    [packed({ columns: one }), /truncated in column a/], [packed({ columns: one }, Uint8Array.of(200)), /middle of a number/],
    [packed({ columns: [["a", "u", 1, 2]] }, Uint8Array.of(1, 1)), /too many/],
    [packed({ columns: [["a", "u", 1, 12]] }, new Uint8Array(12).fill(255)), /above 2\^53/],
    [packed({ columns: [["a", "q", 1, 1]] }, Uint8Array.of(1)), /type q/],
    [packed({ columns: [["a", "f", 1, 9]] }, new Uint8Array(9)), /9 bytes/],
  ]) assert.throws(() => readContainer(bytes), want);
  await assert.rejects(inflate(Buffer.from("no deflate at all")), /truncated or damaged/);
});

test("a tile whose columns do not fit each other is refused", () => {
  const refuse = (change, want) => {
    const { header, columns } = container([[1, 0, 1, 1, 5, 6], [2, 0, 1, 1, 5, 6]]);
    change(columns, header.tile);
    assert.throws(() => batchOfTile(header.tile, columns), want);
  };
  refuse((c) => c.delete("start"), /lack the column start/);
  refuse((c) => c.set("dur", new Uint32Array(1)), /column dur has 1/);
  refuse((c) => c.set("laneCount", Uint32Array.of(1, 7)), /their lanes hold 8/);
  refuse((c) => c.set("laneRow", Uint32Array.of(0, 9)), /a lane of row 9/);
  refuse((c) => c.set("laneDepth", Uint32Array.of(0)), /differ in length/);
  refuse((c) => c.set("args", Uint32Array.of(0, 3)), /text 3/);
});

test("any bytes are read to an end", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647);
  for (let round = 0; round < 300; round++) {
    const bytes = packed({ columns: [["a", "u", random() % 20, 20], ["b", "d", random() % 20, 20]] }, Uint8Array.from({ length: 40 }, () => random()));
    try {
      readContainer(bytes);
    } catch (err) {
      assert.match(err.message, /Column|column/);
    }
  }
});
