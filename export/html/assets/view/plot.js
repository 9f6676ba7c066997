// A canvas that follows the size of its element and the screen's resolution, with a legend
// to its left. heart and minimap use it.

import { make } from "./make.js";
import { recordingOf } from "./svg.js";

/**
 * @typedef {Object} Plot
 * @property {HTMLElement} element
 * @property {HTMLElement} legend
 * @property {HTMLCanvasElement} canvas
 * @property {number} height
 * @property {(colors: Record<string, string>) => {ctx: CanvasRenderingContext2D, width: number, height: number}} begin
 * @property {(lines: [name: string, value: string, state?: string][][]) => void} setLegend fills the legend: names and values by line, with the state whose colour they have
 */

/**
 * @param {string} className
 * @param {number} height in CSS px
 * @param {string} label for screen readers
 * @returns {Plot}
 */
export function createPlot(className, height, label) {
  const legend = make("div", { class: "legend" });
  const canvas = make("canvas", { role: "img", "aria-label": label });
  canvas.style.height = `${height}px`;
  const element = make("div", { class: `plot ${className}` }, legend, canvas);
  let shownKey = "";
  return {
    element, legend, canvas, height,
    begin(colors) { return beginCanvas(canvas, canvas.clientWidth, height, colors); },
    setLegend(lines) {
      // A frame that changes no text must not cause a layout.
      const key = JSON.stringify(lines);
      if (key === shownKey) return;
      shownKey = key;
      legend.title = lines.map((line) => line.map(([name, value]) => `${name} ${value}`).join(", ")).join("\n");
      legend.replaceChildren(...lines.map((line) => make("div", null, ...line.map(([name, value, state]) => make("span", null,
        state ? make("i", { class: `state-swatch state-${state}`, "aria-hidden": "true" }) : null, make("b", { text: name }), value)))));
    },
  };
}

/** Returns the end of a scale, from round numbers in the given base. */
const niceSteps = /** @type {Record<number, number[]>} */ ({ 10: [1, 2, 3, 4, 5, 6, 8, 10], 1024: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024] });

/** @param {number} v @param {number} base */
function niceTop(v, base) {
  const unit = base ** Math.floor(Math.log(Math.max(v, 1)) / Math.log(base) + 1e-9);
  return unit * /** @type {number} */ (niceSteps[base].find((s) => s * unit >= v * (1 - 1e-9)));
}

/** Returns the smallest round number that is not below v, and at least 1. @param {number} v */
export function niceNumber(v) { return niceTop(v, 10); }

/** Returns the same for a size in bytes. @param {number} v */
export function niceBytes(v) { return niceTop(v, 1024); }

/**
 * Draws a line across a graph with the value of its height.
 * @param {CanvasRenderingContext2D} ctx @param {Record<string, string>} colors @param {string} label "": no line
 * @param {number} y @param {number} width
 */
export function drawScale(ctx, colors, label, y, width) {
  if (label === "") return;
  ctx.fillStyle = colors.line;
  ctx.fillRect(0, Math.round(y), width, 1);
  ctx.font = `9px ${colors.font}`;
  const wide = ctx.measureText(label).width + 4;
  ctx.fillStyle = colors.bg;
  ctx.globalAlpha = 0.75;
  ctx.fillRect(1, Math.round(y) + 1, wide, 9);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colors["fg-dim"];
  ctx.fillText(label, 3, Math.round(y) + 9);
}

/**
 * Resizes the canvas to its displayed size, clears it, and returns its context, scaled to CSS px.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 * @param {Record<string, string>} colors
 * @returns {{ctx: CanvasRenderingContext2D, width: number, height: number}}
 */
export function beginCanvas(canvas, width, height, colors) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const ctx = recordingOf(canvas) ?? /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = colors.bg;
  ctx.fillRect(0, 0, width, height);
  ctx.font = `11px ${colors.font}`;
  return { ctx, width, height };
}
