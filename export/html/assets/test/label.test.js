// Labels keep what distinguishes names.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cutText, shortened } from "../view/label.js";

test("the end of a qualified name stays", () => {
  assert.equal(shortened("db.compact", 9), "…compact");
  assert.equal(shortened("github.com/x/store.(*DB).Compact", 14), "…(*DB).Compact");
  assert.equal(shortened("github.com/x/store.(*DB).Compact", 9), "…Compact");
  assert.equal(shortened("db.compact", 7), "com…act");
  assert.equal(shortened("worker 17", 7), "wor… 17");
  assert.equal(shortened("compaction", 6), "com…on");
});

test("a label fits into its room, and needs five letters", () => {
  const p = { widths: new Map(), ctx: /** @type {any} */ ({ measureText: (/** @type {string} */ t) => ({ width: 6 * t.length }) }) };
  assert.equal(cutText(p, "gc", 12), "gc");
  assert.equal(cutText(p, "gc", 11), "");
  assert.equal(cutText(p, "db.compact", 48), "…compact");
  assert.equal(cutText(p, "db.compact", 35), "");
  for (const text of ["db.compact", "a", "worker 17", "github.com/scopeview/scopeview/examples/demo.parse", "parse µs…日本語 text"]) {
    for (let room = 0; room < 400; room += 3) {
      const cut = cutText(p, text, room);
      assert.ok(6 * cut.length <= room, `${cut} in ${room}`);
      assert.ok(cut === "" || cut === text || cut.replace("…", "").length >= 5, cut);
    }
  }
});
