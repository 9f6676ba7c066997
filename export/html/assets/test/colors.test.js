// The page's colours are distinguishable, also for colour-blind users.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { palette } from "../view/color.js";

const css = readFileSync(new URL("../style.css", import.meta.url), "utf8");
const rules = (selector) => Object.fromEntries([...css.slice(css.indexOf(`${selector} {`)).split("}")[0].matchAll(/--([\w-]+): ([^;]+);/g)].map((m) => [m[1], m[2]]));
const light = rules("\n:root");
const themes = { light, dark: { ...light, ...rules(':root[data-theme="dark"]') } };

/** A colour of a theme, also one that is another's. */
function color(theme, name) {
  const v = themes[theme][name];
  const other = /^var\(--([\w-]+)\)$/.exec(v);
  return other ? color(theme, other[1]) : v;
}

const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const rgbOf = (hex) => [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));

// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency" (2009), severity 1.
const eyes = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** In OKLab (Ottosson, 2020), where distances are about as large as they look. */
function seen(hex, eye) {
  const rgb = rgbOf(hex);
  const [r, g, b] = eyes[eye].map((row) => Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

function distance(a, b, eye) {
  const [x, y] = [seen(a, eye), seen(b, eye)];
  return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

/** Pairs that are nearer than least for the usual eye, or than leastOthers for another. */
function near(pairs, least, leastOthers) {
  return pairs.flatMap(([a, b, what]) => Object.keys(eyes).filter((eye) => distance(a, b, eye) < (eye === "usual" ? least : leastOthers)).map((eye) => `${what} for ${eye}: ${distance(a, b, eye).toFixed(1)}`));
}

const pairsOf = (list) => list.flatMap(([n, a], i) => list.slice(0, i).map(([m, b]) => [a, b, `${m} and ${n}`]));

test("the colours of names differ", () => {
  assert.deepEqual(near(pairsOf(palette.map((c) => [c, c])), 7.4, 3.8), []);
});

for (const theme of ["light", "dark"]) {
  test(`${theme}: waits, losses and holds are no names`, () => {
    assert.deepEqual(near(["wait", "loss", "hold"].flatMap((n) => palette.map((c) => [color(theme, n), c, `${n} and ${c}`])), 6.5, 6.5), []);
    assert.deepEqual(near([[color(theme, "wait"), color(theme, "loss"), "waits and losses"]], 10, 5.5), []);
  });
  test(`${theme}: the colours of states differ`, () => {
    const most = ["cpu", "running", "preempted", "runnable", "syscall", "blocked", "lock", "channel", "network", "sleep", "gc", "other"];
    const rare = ["textfault", "datafault", "stalled", "join", "cond", "select"];
    const of = (list) => list.map((s) => [s, color(theme, `state-${s}`)]);
    assert.deepEqual(near(pairsOf(of(["cpu", "runnable", "lock", "channel", "preempted", "gc", "sleep"])), 6, 6), []);
    assert.deepEqual(near(pairsOf(of(most)), 7.4, 4.4), []);
    assert.deepEqual(near(pairsOf(of([...most, ...rare])), 3.7, 2.2), []);
  });
  test(`${theme}: the page's own colours are ink`, () => {
    for (const name of ["accent", "selected", "fg", "busy", "memory", "heap", "count"]) {
      const [, a, b] = seen(color(theme, name), "usual");
      assert.ok(Math.hypot(a, b) < 0.03, `${name} ${color(theme, name)} has a hue`);
    }
  });
}

test("text in bars is read on each name's colour", () => {
  const luminance = (hex) => rgbOf(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  for (const theme of ["light", "dark"]) {
    for (const c of [...palette, color(theme, "wait")]) {
      const ratio = (luminance(c) + 0.05) / (luminance(color(theme, "bar-text")) + 0.05);
      assert.ok(ratio >= 4.5, `${c} in the ${theme}: ${ratio}`);
    }
  }
});
