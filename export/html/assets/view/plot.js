// A canvas that keeps to its element's size and to the screen's pixels, with a legend
// left of it. heart and minimap are made of it.

import { make } from "./make.js";

/**
 * @typedef {Object} Plot
 * @property {HTMLElement} element
 * @property {HTMLElement} legend
 * @property {HTMLCanvasElement} canvas
 * @property {number} height
 * @property {(colors: Record<string, string>) => {ctx: CanvasRenderingContext2D, width: number, height: number}} begin
 * @property {(lines: [string, string][]) => void} say fills the legend: a name and a value in a line
 */

/**
 * @param {string} className
 * @param {number} height in CSS px
 * @param {string} label for those who don't see it
 * @returns {Plot}
 */
export function createPlot(className, height, label) {
  const legend = make("div", { class: "legend" });
  const canvas = make("canvas", { role: "img", "aria-label": label });
  canvas.style.height = `${height}px`;
  const element = make("div", { class: `plot ${className}` }, legend, canvas);
  let said = "";
  return {
    element, legend, canvas, height,
    begin(colors) { return beginCanvas(canvas, canvas.clientWidth, height, colors); },
    say(lines) {
      // A frame that changes no text must not cost a layout.
      const key = JSON.stringify(lines);
      if (key === said) return;
      said = key;
      legend.replaceChildren(...lines.map(([name, value]) => make("div", null, make("b", { text: name }), value)));
    },
  };
}

/**
 * Makes the canvas as large as it is shown, clears it, and returns what to draw
 * with, in CSS px.
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
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = colors.bg;
  ctx.fillRect(0, 0, width, height);
  ctx.font = `11px ${colors.font}`;
  return { ctx, width, height };
}
