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
const colorUsed = new Uint8Array(palette.length);

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
 * Returns the colour of a name. It depends on the text, so that it is the same in every
 * trace; but the first sixteen names of a trace get distinct ones.
 * @param {string} text
 * @returns {string} a CSS colour
 */
export function colorOf(text) {
  let c = colorByName.get(text);
  if (c === undefined) {
    c = colorHash(text) % palette.length;
    for (let tries = 0; colorUsed[c] && tries < palette.length; tries++) c = (c + 1) % palette.length;
    if (colorByName.size >= palette.length) c = colorHash(text) % palette.length;
    colorUsed[c] = 1;
    colorByName.set(text, c);
  }
  return palette[c];
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
