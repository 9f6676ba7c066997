import { test } from "node:test";
import assert from "node:assert/strict";
import { bannerLines, remarks } from "../panel/banner.js";
import { aboutFacts, aboutOdd } from "../panel/about.js";

test("the banner has losses and the server, the louder first; the rest are remarks", () => {
  const meta = { writer: "closed", banner: [{ level: "note", text: "n" }, { level: "loss", text: "l" }, { level: "warn", text: "w" }, { level: "odd", text: "o" }, { level: "server", text: "s" }] };
  assert.equal(bannerLines(meta, {}).map((l) => l.text).join(""), "sl");
  assert.deepEqual(remarks(meta, ["p", "w"]), ["w", "n", "o", "p"]);
  assert.match(remarks({ writer: "gone" }, [])[0], /^The writer ended without closing the trace/);
  assert.deepEqual(remarks({ writer: "gone", banner: [{ level: "warn", text: "The writer was killed." }] }, []), ["The writer was killed."]);
});

test("how it stands with the server", () => {
  const said = (writer, state) => bannerLines({ writer }, state).map((l) => l.text).join("|");
  for (const writer of ["running", "closed"]) {
    const lost = bannerLines({ writer, banner: [{ level: "loss", text: "l" }] }, { live: true, state: "lost", other: { live: true, state: "lost" } });
    assert.match(lost.map((l) => l.text).join("|"), /^The connection to scopeview serve is lost.* state at \d\d:\d\d:\d\d.*\|l$/);
    assert.match(said(writer, { live: true, state: "replaced" }), /^Another trace was recorded to the same path/);
    assert.match(said(writer, { live: true, state: "ended", other: { live: true, state: "replaced" } }), /B: Another trace was recorded to the same path/);
    assert.match(said(writer, { live: true, state: "removed" }), /^The trace file was removed/);
    assert.match(said(writer, { live: true, state: "changed", other: { live: true, state: "changed" } }), /^The trace file was truncated.*B: The trace file was truncated/);
  }
  assert.equal(said("running", { live: true }), "");
  assert.equal(said("closed", { state: "lost" }), "");
});

test("facts and oddities", () => {
  const facts = aboutFacts({ info: [["program", "x"]], size: 3 << 20, path: "a.scope", scopes: 31981, tool: "scopeview v1" });
  assert.deepEqual(facts.slice(1), [["program", "x"], ["scopes", "31,981"], ["shown by", "scopeview v1"]]);
  assert.match(facts[0][1], /^a\.scope, 3(\.00)? MiB$/);
  const odd = aboutOdd({ gaps: [[50, 60, 7, "window"]], breaks: [[10, 20]], notes: [[30, "hi"]] });
  assert.deepEqual(odd.map((o) => [o.from, o.count]), [[10, null], [30, null], [50, 7]]);
});
