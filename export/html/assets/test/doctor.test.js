import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { findingId, sureText, unexaminedText } from "../panel/doctorview.js";
import { stateWords } from "../data/states.js";

test("findings have an address, and say how sure they are", () => {
  assert.equal(findingId({ verdict: "convoy", object: "a:b" }), "convoy:a:b");
  assert.equal(findingId({ verdict: "gc" }), "gc:");
  assert.deepEqual([0.95, 0.7, 0.5, 0.1, NaN].map(sureText), ["sure (95%)", "quite sure (70%)", "likely (50%)", "possible (10%)", "unknown"]);
  assert.deepEqual(unexaminedText({ unexamined: [{ verdicts: ["gc", "channel"], why: "No Go trace.", how: "Record one." }] }), ["gc, channel: No Go trace. Record one."]);
  assert.deepEqual(unexaminedText({}), []);
});

/** A colour of a theme as linear light. */
function colors(css, theme) {
  const part = css.slice(css.indexOf(theme === "dark" ? ':root[data-theme="dark"]' : ":root {"));
  const list = new Map();
  for (const name of Object.keys(stateWords)) {
    const m = new RegExp(`--state-${name}: #(..)(..)(..);`).exec(part);
    assert.ok(m, `${theme}: state ${name} has no colour`);
    list.set(name, m.slice(1).map((x) => (parseInt(x, 16) / 255) ** 2.2));
  }
  return list;
}

// As who lacks a kind of cones sees it (Machado et al. 2009).
const eyes = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** Lightness and opponents, roughly as far apart as they look. */
function lab([r, g, b]) {
  const [l, m, s] = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]].map((k) => Math.cbrt(Math.max(0, k[0] * r + k[1] * g + k[2] * b)));
  return [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s, 0.0259 * l + 0.7828 * m - 0.8087 * s];
}

test("all eyes tell the states apart that matter", () => {
  const css = readFileSync(new URL("../style.css", import.meta.url), "utf8");
  const apart = ["cpu", "runnable", "lock", "channel", "preempted", "gc", "sleep"];
  for (const theme of ["light", "dark"]) {
    const list = colors(css, theme);
    for (const [eye, matrix] of Object.entries(eyes)) {
      const seen = apart.map((name) => lab(matrix.map((k) => Math.min(1, Math.max(0, k.reduce((sum, f, i) => sum + f * list.get(name)[i], 0))))));
      for (let a = 0; a < apart.length; a++) {
        for (let b = 0; b < a; b++) {
          const d = Math.hypot(...seen[a].map((x, i) => x - seen[b][i]));
          assert.ok(d > 0.06, `${theme}, ${eye} eyes: ${apart[a]} and ${apart[b]} are ${d.toFixed(3)} apart`);
        }
      }
    }
  }
});
