import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tickText, ticksOf } from "../view/ruler.js";
import { dimAlpha } from "../view/bar.js";
import { colorOf } from "../view/color.js";

const app = { wall: false };
const labels = (from, to, width) => {
  const axis = ticksOf(from, to, width);
  return axis.ticks.map((t) => tickText(app, t, axis));
};

test("ticks have as many decimals as their step, and below a microsecond none", () => {
  assert.deepEqual(labels(0, 1e9, 480), ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]);
  assert.deepEqual(labels(1e8 + 2e3, 1e8 + 9e3, 400), ["0.100002 s", "0.100004 s", "0.100006 s", "0.100008 s"]);
  assert.deepEqual(labels(100000025.3, 100000061, 400), ["+30 ns", "+40 ns", "+50 ns", "+60 ns"]);
  assert.equal(ticksOf(100000025.3, 100000061, 400).base, 1e8, "counted from the microsecond before");
  assert.deepEqual(labels(-5, 25, 400), ["+0 ns", "+10 ns", "+20 ns"]);
});

test("ticks of a long trace are whole steps", () => {
  const { ticks } = ticksOf(3600e9 + 0.3, 3600e9 + 900.7, 1900);
  assert.deepEqual(ticks, Array.from({ length: 18 }, (_, k) => 3600e9 + (k + 1) * 50));
});

/** The luminance of a colour by WCAG. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test("what a search dims has labels that can be read, in the light and in the dark", () => {
  const css = readFileSync(new URL("../style.css", import.meta.url), "utf8");
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  for (const theme of [":root {", ':root[data-theme="dark"] {']) {
    const block = css.slice(css.indexOf(theme), css.indexOf("}", css.indexOf(theme)));
    const color = (name) => rgb(new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(block)[1]);
    const fills = [color("wait"), color("hold"), ...Array.from({ length: 64 }, (_, k) => rgb(colorOf(`name ${k}`)))];
    for (const fill of fills) {
      const seen = luminance(fill.map((v, k) => v * dimAlpha + color("bg")[k] * (1 - dimAlpha)));
      const ink = luminance(color("fg"));
      const contrast = (Math.max(seen, ink) + 0.05) / (Math.min(seen, ink) + 0.05);
      assert.ok(contrast >= 4.5, `${theme} ${fill}: ${contrast}`);
    }
  }
});
