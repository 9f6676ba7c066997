// The command for an excerpt, and its range.

import assert from "node:assert/strict";
import { test } from "node:test";
import { exactSeconds, excerptCommand, excerptRange } from "../panel/exportexcerpt.js";

test("times are exact, as the commands take them", () => {
  assert.deepEqual([0, 1, 1.5e9, 2e9, 61000000001].map(exactSeconds), ["0s", "0.000000001s", "1.5s", "2s", "61.000000001s"]);
});

test("the range is in the trace, and not empty", () => {
  assert.deepEqual(excerptRange({ from: -5.5, to: 10.2 }, 100), { from: 0, to: 11 });
  assert.deepEqual(excerptRange({ from: 20.9, to: 500 }, 100), { from: 20, to: 100 });
  assert.deepEqual(excerptRange({ from: -9, to: -3 }, 100), { from: 0, to: 1 });
});

test("a file of any name is one word of the command", () => {
  assert.equal(excerptCommand("a-1.scope", 1e9, 2e9), "scopeview snapshot a-1.scope --from 1s --to 2s");
  assert.equal(excerptCommand("it's $(x).scope", 0, 1), "scopeview snapshot 'it'\\''s $(x).scope' --from 0s --to 0.000000001s");
  assert.equal(excerptCommand("-rf", 0, 1), "scopeview snapshot ./-rf --from 0s --to 0.000000001s");
});
