// Labels in bars: whole where there is room, else shortened so that what distinguishes names stays readable.

/** The fewest characters of a shortened label; a narrower bar has none. */
const fewestLetters = 5;

/**
 * Shortens a text to n characters, of which one is an ellipsis: the end of a path or of a qualified name stays, because
 * its beginning is what many names have in common; otherwise both ends do.
 * @param {string} text longer than n @param {number} n at least 3
 */
export function shortened(text, n) {
  for (const { index } of text.matchAll(/[/.: ]/g)) {
    const end = text.slice(index + 1);
    if (end.length >= fewestLetters && end.length < n) return `…${end}`;
  }
  const last = text.slice(Math.max(...["/", ".", ":", " "].map((c) => text.lastIndexOf(c))) + 1);
  const of = last.length >= n ? last : text;
  const head = Math.ceil((n - 1) / 2);
  return `${of.slice(0, head)}…${of.slice(of.length - (n - 1 - head))}`;
}

/**
 * Returns text, shortened to fit into room; "" if fewer than five letters of it fit.
 * @param {Pick<import("./draw.js").Painter, "ctx"|"widths">} p @param {string} text @param {number} room px
 */
export function cutText(p, text, room) {
  const full = textWidth(p, text);
  if (full <= room) return text;
  for (let n = Math.min(text.length - 1, Math.floor((text.length * room) / full) + 1); n > fewestLetters; n--) {
    const short = shortened(text, n);
    if (textWidth(p, short) <= room) return short;
  }
  return "";
}

/** @param {Pick<import("./draw.js").Painter, "ctx"|"widths">} p @param {string} text */
export function textWidth(p, text) {
  let w = p.widths.get(text);
  if (w === undefined) {
    w = p.ctx.measureText(text).width;
    if (p.widths.size > 20000) p.widths.clear();
    p.widths.set(text, w);
  }
  return w;
}
