import test from "node:test";
import assert from "node:assert/strict";
import { frameParts, memoryText, scopeName, siteText, withWords } from "../panel/advice.js";

test("a function's scopes are called as the Go side shortens its name", () => {
  const names = {
    "main.fill": "main.fill", "example.com/a/store.(*Store).Get": "store.(*Store).Get", "example.com/store/v2.Get": "store.Get", "example.com/store/v1.Get": "v1.Get",
    "example.com/yaml%2ev3.Parse": "yaml.v3.Parse", "example.com/a.Map[example.com/b.T]": "a.Map[example.com/b.T]", "example.com/a.f.func1": "a.f.func1", "nothing": "nothing", "": "",
  };
  for (const [func, want] of Object.entries(names)) assert.equal(scopeName(func), want, func);
});

test("a place is brief, a frame has two parts", () => {
  assert.deepEqual(frameParts("main.f /a b/c.go:7"), { func: "main.f", place: "/a b/c.go:7" });
  assert.deepEqual(frameParts("main.f"), { func: "main.f", place: "" });
  assert.equal(siteText("example.com/a/store.Get /src/a/store/get.go:88"), "store.Get, get.go:88");
  assert.equal(siteText(""), "?");
  assert.deepEqual([0.4, 999, 1e3, 264652456, 1.5e9].map(memoryText), ["0 bytes", "999 bytes", "1 kB", "265 MB", "1.50 GB"]);
});

test("a filter wants all words, wherever they are", () => {
  const row = (id, site, more) => ({ id, site, improvement: 1, ns: 1, share: 0, bytes: 0, advice: "make([]int, 0, 9)", ...more });
  const rows = [row("slice-too-small", "main.fill fill.go:10"), row("map-too-small", "main.index index.go:3", { stack: ["main.index index.go:3", "main.Main main.go:1"] })];
  const found = (text) => withWords(rows, text).map((r) => r.id);
  assert.deepEqual(found(""), ["slice-too-small", "map-too-small"]);
  assert.deepEqual(found(" TOO-small  make "), ["slice-too-small", "map-too-small"]);
  assert.deepEqual(found("main.main"), ["map-too-small"]);
  assert.deepEqual(found("fill index"), []);
});
