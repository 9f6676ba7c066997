// Export of the picture, from the graphs down to the rows, as a PNG.

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
  const rows = /** @type {HTMLElement} */ (document.getElementById("rows")).getBoundingClientRect();
  ctx.textBaseline = "middle";
  for (const text of textsIn(root)) {
    const element = /** @type {HTMLElement} */ (text.parentElement);
    const range = document.createRange();
    range.selectNodeContents(text);
    const at = range.getBoundingClientRect();
    const style = getComputedStyle(element);
    const around = element.closest(".label, .legend")?.getBoundingClientRect();
    if (!around || at.width === 0 || style.visibility === "hidden") continue;
    const inRows = element.closest("#rows") !== null;
    ctx.save();
    ctx.beginPath();
    ctx.rect(around.left, inRows ? Math.max(around.top, rows.top) : around.top, around.width, inRows ? Math.min(around.bottom, rows.bottom) - Math.max(around.top, rows.top) : around.height);
    ctx.clip();
    ctx.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    ctx.fillStyle = style.color;
    ctx.fillText(text.textContent ?? "", at.left, at.top + at.height / 2);
    ctx.restore();
  }
  return canvas;
}

/** Returns the texts in an element except those of buttons. @param {HTMLElement} root */
function textsIn(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) => (node.parentElement?.closest("button, #panel, .unseen, [hidden]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  /** @type {Text[]} */
  const list = [];
  while (walker.nextNode()) list.push(/** @type {Text} */ (walker.currentNode));
  return list;
}
