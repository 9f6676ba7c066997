import test from "node:test";
import assert from "node:assert/strict";
import { span, digits3, bytes, moment, wallClock, niceStep } from "../view/numbers.js";

test("durations have three digits and a unit", () => {
  for (const [ns, want] of [
    [0, "0 s"], [1, "1 ns"], [999, "999 ns"], [1000, "1.00 µs"], [1674321, "1.67 ms"], [16743210, "16.7 ms"],
    [999600, "1.00 ms"], [5310000000, "5.31 s"], [59949e6, "59.9 s"], [59960e6, "1 min 00 s"], [125e9, "2 min 05 s"],
    [3600e9, "1 h 00 min"], [11040e9, "3 h 04 min"], [-1500, "−1.50 µs"], [NaN, "unknown"], [0.5, "0.50 ns"],
  ]) assert.equal(span(ns), want, `span(${ns})`);
});

test("numbers", () => {
  assert.deepEqual([0, 7, 7.126, 71.26, 712.6, 99.96, 9.996].map(digits3), ["0", "7", "7.13", "71.3", "713", "100", "10.0"]);
  assert.deepEqual([0, 1023, 1024, 1.5 * 2 ** 20, 3 * 2 ** 30].map(bytes), ["0 B", "1023 B", "1 KiB", "1.50 MiB", "3 GiB"]);
});

test("a moment has the decimals that its step needs", () => {
  assert.equal(moment(1.5e9, 1e8), "1.5 s");
  assert.equal(moment(1.5e9, 1e9), "2 s");
  assert.equal(moment(1234567890, 1), "1.234567890 s");
  assert.equal(moment(61e9, 1e9), "1:01");
  assert.equal(moment(3661.25e9, 1e7), "1:01:01.25");
  assert.equal(moment(119.9999e9, 1e9), "2:00");
});

test("the clock on the wall keeps its nanoseconds", () => {
  const start = new Date(2026, 10, 20, 17, 32, 58).getTime();
  assert.equal(wallClock(start, 995000123, 5000000, 1), "17:32:59.000000123");
  assert.equal(wallClock(start, 0, 0, 1e9), "17:32:58");
});

test("ticks are at round times", () => {
  for (const [least, want] of [[1, 1], [3, 5], [101, 200], [1.1e6, 2e6], [0.3e9, 0.5e9], [21e9, 30e9], [100e9, 120e9], [4000e9, 7200e9], [100000e9, 172800e9]]) {
    assert.equal(niceStep(least), want, `niceStep(${least})`);
  }
});
