import test from "node:test";
import assert from "node:assert/strict";
import { fuzzy } from "../model/fuzzy.js";
import { paletteFound } from "../panel/palette.js";

test("a few letters mean the text whose begin, word, part or letters they are, in that order", () => {
  const texts = ["zoom in", "next zoom", "bazooms", "z o o m", "zero or one more", "pan"];
  const best = texts.map((t) => [fuzzy(t, "zoom"), t]).filter(([s]) => s >= 0).sort((a, b) => b[0] - a[0]).map(([, t]) => t);
  assert.deepEqual(best, ["zoom in", "next zoom", "bazooms", "z o o m", "zero or one more"]);
  assert.ok(fuzzy("zoom to the Selection", "SEL zoom") > 0, "words in any order and case");
  assert.equal(fuzzy("zoom in", "zoom out"), -1, "all words are wanted");
  assert.ok(fuzzy("job", "job") > fuzzy("job of another", "job"), "of two alike the shorter one");
});

test("without a query there are all commands, with one also places, and not too many", () => {
  const entry = (text, kind) => ({ text, kind, keys: [], run() {} });
  const commands = [entry("zoom in", "Move"), entry("pan", "Move")];
  const places = Array.from({ length: 500 }, (_, k) => entry(`zoomer ${k}`, "row"));
  assert.deepEqual(paletteFound(commands, places, " ").map((e) => e.text), ["zoom in", "pan"]);
  const found = paletteFound(commands, places, "zoom");
  assert.deepEqual([found.length, found[0].text], [50, "zoom in"]);
  assert.deepEqual(paletteFound(commands, places, "er 321").map((e) => e.text), ["zoomer 321"]);
});
