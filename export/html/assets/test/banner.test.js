import { test } from "node:test";
import assert from "node:assert/strict";
import { bannerLines } from "../panel/banner.js";
import { aboutFacts, aboutOdd } from "../panel/about.js";

test("the louder first; what was put away is gone, losses stay", () => {
  const meta = { writer: "closed", banner: [{ level: "note", text: "n" }, { level: "loss", text: "l" }, { level: "warn", text: "w" }, { level: "odd", text: "o" }] };
  const text = (gone) => bannerLines(meta, {}, new Set(gone)).map((l) => l.text).join("");
  assert.equal(text([]), "lwno");
  assert.equal(text(["l", "w", "n"]), "lo");
});

test("how it stands with the writer and the server", () => {
  const said = (writer, state) => bannerLines({ writer }, state, new Set()).map((l) => l.text).join("|");
  assert.match(said("running", { live: true }), /^Recording/);
  assert.equal(said("running", {}), "");
  for (const writer of ["running", "closed"]) {
    const lost = bannerLines({ writer, banner: [{ level: "loss", text: "l" }] }, { live: true, state: "lost", other: { live: true, state: "lost" } }, new Set());
    assert.match(lost.map((l) => l.text).join("|"), /^The connection to scopeview serve is lost.* state at \d\d:\d\d:\d\d.*\|l$/);
    assert.match(said(writer, { live: true, state: "replaced" }), /^Another trace was recorded to the same path/);
    assert.match(said(writer, { live: true, state: "ended", other: { live: true, state: "replaced" } }), /B: Another trace was recorded to the same path/);
    assert.match(said(writer, { live: true, state: "removed" }), /^The trace file was removed/);
    assert.match(said(writer, { live: true, state: "changed", other: { live: true, state: "changed" } }), /^The trace file was truncated.*B: The trace file was truncated/);
  }
  const anew = bannerLines({ writer: "closed" }, { live: true, state: "replaced", at: 1 }, new Set());
  assert.equal(bannerLines({ writer: "closed" }, { live: true, state: "replaced", at: 1 }, new Set(anew.map((l) => l.text))).length, 1); // it is not put away
  assert.equal(said("closed", { state: "lost" }), "");
  assert.match(said("gone", { live: true }), /^The writer ended without closing the trace/);
  assert.equal(bannerLines({ writer: "gone", banner: [{ level: "warn", text: "The writer was killed." }] }, {}, new Set()).length, 1);
});

test("facts and oddities", () => {
  const facts = aboutFacts({ info: [["program", "x"]], size: 3 << 20, path: "a.scope", scopes: 31981, tool: "scopeview v1" });
  assert.deepEqual(facts.slice(1), [["program", "x"], ["scopes", "31,981"], ["shown by", "scopeview v1"]]);
  assert.match(facts[0][1], /^a\.scope, 3(\.00)? MiB$/);
  const odd = aboutOdd({ gaps: [[50, 60, 7, "window"]], breaks: [[10, 20]], notes: [[30, "hi"]] });
  assert.deepEqual(odd.map((o) => [o.from, o.count]), [[10, null], [30, null], [50, 7]]);
});
