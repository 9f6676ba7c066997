import test from "node:test";
import assert from "node:assert/strict";
import { findingId } from "../panel/finding.js";
import { unexaminedText } from "../panel/doctorview.js";
import { sureText } from "../panel/finding.js";

test("findings have an address, and say how sure they are", () => {
  assert.equal(findingId({ verdict: "convoy", object: "a:b" }), "convoy:a:b");
  assert.equal(findingId({ verdict: "gc" }), "gc:");
  assert.deepEqual([0.95, 0.7, 0.5, 0.1, NaN].map(sureText), ["sure (95%)", "quite sure (70%)", "likely (50%)", "a guess (10%)", "unknown"]);
  assert.deepEqual(unexaminedText({ unexamined: [{ verdicts: ["gc", "channel"], why: "No Go trace.", how: "Record one." }] }), ["gc, channel: No Go trace. Record one."]);
  assert.deepEqual(unexaminedText({}), []);
});
