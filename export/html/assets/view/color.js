// The colours of names: sixteen pale ones, light enough for dark text. A search selected them to be distinct from each
// other and from waits, losses and holds, also for colour-blind users. test/colors.test.js checks the distances.

import { isScope } from "../data/kinds.js";
import { stateWords } from "../data/states.js";

export const palette = [
  "#9ddfc0", "#c2a8d4", "#d6e39d", "#75a1d5", "#eac9a8", "#77d2e2", "#f2b1d8", "#66b7b9",
  "#fed0e0", "#a2a697", "#8fb9f0", "#c6c781", "#c8c6ff", "#ebaa9f", "#9ce7ff", "#b1c1b9",
];

/** @type {Map<string, number>} */
const colorByName = new Map();
/** The colours that names have, in the order of these names. @type {number[]} */
const colorsUsed = [];

/**
 * The distances that a new name's colour has from the others, tried in this order: a trace with few names gets colours
 * that nobody takes for another.
 */
const apart = [0.16, 0.14, 0.12, 0.11, 0.1, 0.09, 0];

/** The colours in OKLab (Ottosson, 2020), where distances are about as large as they look. */
const lab = palette.map((hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
});

/** Returns a free colour, as far from the used ones as there is; the choice begins at the text's own. @param {number} hash */
function freeColor(hash) {
  for (const least of apart) {
    for (let k = 0; k < palette.length; k++) {
      const c = (hash + k) % palette.length;
      if (colorsUsed.every((used) => used !== c && Math.hypot(...lab[c].map((v, i) => v - lab[used][i])) >= least)) return c;
    }
  }
  return hash % palette.length;
}

/** @param {string} text */
function colorHash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  }
  return (h ^ (h >>> 13)) >>> 0;
}

/** Batches whose names have colours. @type {WeakSet<import("../data/batch.js").Batch>} */
const colorBatches = new WeakSet();

/**
 * Assigns colours to the names of a trace's scopes, in the order of their first use, so that
 * neither the visible range nor other names matter.
 * @param {import("../model/model.js").Model} model
 */
export function colorScopes(model) {
  const used = new Set();
  for (const batch of model.batches()) {
    if (colorBatches.has(batch)) continue;
    colorBatches.add(batch);
    for (let i = 0; i < batch.n; i++) if (isScope(batch.kind[i])) used.add(batch.name[i]);
  }
  for (const id of [...used].sort((a, b) => a - b)) colorOf(model.name(id));
}

/**
 * Returns the colour of a name. It depends on the text, so that it is nearly always the same in every
 * trace; but the first sixteen names of a trace get distinct ones, and the first few such that differ most.
 * @param {string} text
 * @returns {string} a CSS colour
 */
export function colorOf(text) {
  let c = colorByName.get(text);
  if (c === undefined) {
    c = colorsUsed.length < palette.length ? freeColor(colorHash(text)) : colorHash(text) % palette.length;
    if (colorsUsed.length < palette.length) colorsUsed.push(c);
    colorByName.set(text, c);
  }
  return palette[c];
}

/** Returns the colours of a trace's names, by number, as setColors takes them. @param {import("../model/model.js").Model} model */
export function colorsOf(model) { return Object.fromEntries([...colorByName].filter(([text]) => model.names.includes(text)).slice(0, palette.length)); }

/** Gives names the colours that they had. @param {Record<string, number>} colors */
export function setColors(colors) {
  for (const [text, c] of Object.entries(colors)) {
    if (!Number.isInteger(c) || c < 0 || c >= palette.length || colorByName.has(text)) continue;
    colorByName.set(text, c);
    if (!colorsUsed.includes(c)) colorsUsed.push(c);
  }
}

/** Reads the page's colours from its style sheet, for the canvases. @returns {Record<string, string>} */
export function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const names = [...Object.keys(stateWords).map((s) => `state-${s}`), "bg", "bg-raised", "fg", "fg-dim", "line", "accent", "hover", "selected", "wait", "wait-soft", "arrow", "hold",
    "loss", "cpu-user", "cpu-system", "cpu-limit", "busy", "memory", "heap", "count", "bar-edge", "bar-text", "cpu-line", "shade"];
  /** @type {Record<string, string>} */
  const colors = {};
  for (const n of names) colors[n] = style.getPropertyValue(`--${n}`).trim();
  colors.font = style.getPropertyValue("--font").trim();
  return colors;
}
