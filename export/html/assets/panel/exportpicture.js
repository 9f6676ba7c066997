// Export of the picture, from the graphs down to the rows, as PNG and as SVG.

import { SvgContext, endOf, recorded } from "../view/svg.js";

/**
 * Paints the canvases and the texts of an element at their positions.
 * @param {HTMLElement} root
 * @param {Record<string, string>} colors
 * @returns {HTMLCanvasElement}
 */
export function pictureOf(root, colors) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("divider")).getBoundingClientRect();
  const box = root.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round((panel.top - box.top) * ratio);
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.scale(ratio, ratio);
  ctx.translate(-box.left, -box.top);
  ctx.fillStyle = colors.bg;
  ctx.fillRect(box.left, box.top, box.width, box.height);
  for (const part of root.querySelectorAll("canvas")) {
    const at = part.getBoundingClientRect();
    if (at.width > 0) ctx.drawImage(part, at.left, at.top, at.width, at.height);
  }
  ctx.textBaseline = "middle";
  for (const { text, x, y, clip, font, color } of placedTexts(root)) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(clip.x, clip.y, clip.w, clip.h);
    ctx.clip();
    ctx.font = font;
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
    ctx.restore();
  }
  return canvas;
}

/**
 * Returns the picture as SVG.
 * @param {HTMLElement} root @param {Record<string, string>} colors @param {() => void} draw draws all canvases
 */
export function svgOf(root, colors, draw) {
  const made = recorded(draw);
  draw(); // the canvases themselves
  const panel = /** @type {HTMLElement} */ (document.getElementById("divider")).getBoundingClientRect();
  const box = root.getBoundingClientRect();
  /** @type {string[]} */ const parts = [];
  /** @type {string[]} */ const defs = [];
  for (const [canvas, ctx] of made) {
    const at = canvas.getBoundingClientRect();
    if (at.width === 0 || at.height === 0) continue;
    while (ctx.saved.length > 0) ctx.restore();
    defs.push(...ctx.defs);
    parts.push(`<svg x="${at.left}" y="${at.top}" width="${at.width}" height="${at.height}">${ctx.parts.join("")}${endOf("svg")}`);
  }
  const texts = new SvgContext(/** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d")));
  texts.textBaseline = "middle";
  for (const { text, x, y, clip, font, color } of placedTexts(root)) {
    Object.assign(texts, { font, fillStyle: color });
    texts.save();
    texts.beginPath();
    texts.rect(clip.x, clip.y, clip.w, clip.h);
    texts.clip();
    texts.fillText(text, x, y);
    texts.restore();
  }
  const [w, h] = [Math.round(box.width), Math.round(panel.top - box.top)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="${box.left} ${box.top} ${w} ${h}"><defs>${defs.join("")}${texts.defs.join("")}${endOf("defs")}<rect x="${box.left}" y="${box.top}" width="${w}" height="${h}" fill="${colors.bg}"/>${parts.join("")}${texts.parts.join("")}${endOf("svg")}\n`;
}

/**
 * Returns the texts beside the canvases at their places.
 * @param {HTMLElement} root
 * @returns {{text: string, x: number, y: number, clip: {x: number, y: number, w: number, h: number}, font: string, color: string}[]} y: the middle
 */
function placedTexts(root) {
  const rows = /** @type {HTMLElement} */ (document.getElementById("rows")).getBoundingClientRect();
  return textsIn(root).flatMap((text) => {
    const element = /** @type {HTMLElement} */ (text.parentElement);
    const range = document.createRange();
    range.selectNodeContents(text);
    const at = range.getBoundingClientRect();
    const style = getComputedStyle(element);
    const around = element.closest(".label, .legend")?.getBoundingClientRect();
    if (!around || at.width === 0 || style.visibility === "hidden") return [];
    const inRows = element.closest("#rows") !== null;
    const top = inRows ? Math.max(around.top, rows.top) : around.top;
    const h = inRows ? Math.min(around.bottom, rows.bottom) - top : around.height;
    return [{ text: text.textContent ?? "", x: at.left, y: at.top + at.height / 2, clip: { x: around.left, y: top, w: around.width, h }, font: `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`, color: style.color }];
  });
}

/** Returns the texts in an element except those of buttons. @param {HTMLElement} root */
function textsIn(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) => (node.parentElement?.closest("button, #panel, .unseen, [hidden]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  /** @type {Text[]} */
  const list = [];
  while (walker.nextNode()) list.push(/** @type {Text} */ (walker.currentNode));
  return list;
}
