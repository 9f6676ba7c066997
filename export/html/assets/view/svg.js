// A drawing context that writes SVG, with the methods of a canvas' context that the views use.

/** Escapes text for SVG. @param {string} text */
export function escaped(text) { return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, "\ufffd"); }

/** Returns the end of an element; a script in a page must not contain one. @param {string} tag */
export function endOf(tag) { return `<${"/"}${tag}>`; }

/** Formats a coordinate. @param {number} v */
function at(v) { return String(Math.round(v * 100) / 100); }

/** The context of one canvas. The caller draws, then takes the parts. */
export class SvgContext {
  /** @param {CanvasRenderingContext2D} measure measures texts */
  constructor(measure) {
    this.measure = measure;
    /** @type {string[]} */ this.parts = [];
    /** @type {string[]} */ this.defs = [];
    /** @type {any} */ this.fillStyle = "#000";
    /** @type {any} */ this.strokeStyle = "#000";
    this.globalAlpha = 1;
    this.lineWidth = 1;
    this.font = "11px sans-serif";
    this.textBaseline = "alphabetic";
    this.path = "";
    /** @type {number[]} */ this.dash = [];
    /** @type {{fillStyle: any, strokeStyle: any, globalAlpha: number, lineWidth: number, font: string, clips: number}[]} */ this.saved = [];
    this.clips = 0;
  }

  /** Returns a colour or a pattern as an attribute. @param {string} name @param {any} style */
  paint(name, style) { return `${name}="${typeof style === "string" ? escaped(style) : `url(#${style.id})`}"${this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : ""}`; }

  stroked() { return `fill="none" ${this.paint("stroke", this.strokeStyle)} stroke-width="${at(this.lineWidth)}"${this.dash.length > 0 ? ` stroke-dasharray="${this.dash.map(at).join(" ")}"` : ""}`; }

  setTransform() {}
  setLineDash(/** @type {number[]} */ dash) { this.dash = dash; }
  measureText(/** @type {string} */ text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  fillRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h) { if (w > 0 && h > 0) this.parts.push(`<rect x="${at(x)}" y="${at(y)}" width="${at(w)}" height="${at(h)}" ${this.paint("fill", this.fillStyle)}/>`); }
  strokeRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h) { if (w >= 0 && h >= 0) this.parts.push(`<rect x="${at(x)}" y="${at(y)}" width="${at(w)}" height="${at(h)}" ${this.stroked()}/>`); }
  fillText(/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) {
    const [, weight = "", size = "11px", family = "sans-serif"] = /^(?:(\S+) )?(\d[\d.]*px) (.*)$/.exec(this.font) ?? [];
    this.parts.push(`<text x="${at(x)}" y="${at(y)}" font-size="${size}" font-family="${escaped(family)}"${weight ? ` font-weight="${weight}"` : ""}${this.textBaseline === "middle" ? ' dominant-baseline="central"' : ""} xml:space="preserve" ${this.paint("fill", this.fillStyle)}>${escaped(text)}${endOf("text")}`);
  }

  beginPath() { this.path = ""; }
  moveTo(/** @type {number} */ x, /** @type {number} */ y) { this.path += `M${at(x)} ${at(y)}`; }
  lineTo(/** @type {number} */ x, /** @type {number} */ y) { this.path += `${this.path === "" ? "M" : "L"}${at(x)} ${at(y)}`; }
  bezierCurveTo(/** @type {number[]} */ ...p) { this.path += `C${p.map(at).join(" ")}`; }
  closePath() { this.path += "Z"; }
  rect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h) { this.path += `M${at(x)} ${at(y)}h${at(w)}v${at(h)}h${at(-w)}Z`; }
  roundRect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h) { this.rect(x, y, w, h); }
  fill() { if (this.path) this.parts.push(`<path d="${this.path}" ${this.paint("fill", this.fillStyle)}/>`); }
  stroke() { if (this.path) this.parts.push(`<path d="${this.path}" ${this.stroked()}/>`); }

  /** Clips what follows, until restore. */
  clip() {
    const id = newId();
    this.defs.push(`<clipPath id="${id}"><path d="${this.path}"/>${endOf("clipPath")}`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    this.clips++;
  }

  save() {
    const { fillStyle, strokeStyle, globalAlpha, lineWidth, font, clips } = this;
    this.saved.push({ fillStyle, strokeStyle, globalAlpha, lineWidth, font, clips });
  }

  restore() {
    const was = this.saved.pop();
    if (!was) return;
    for (; this.clips > was.clips; this.clips--) this.parts.push(endOf("g"));
    Object.assign(this, was);
  }

  /** Returns a pattern that repeats an image. @param {HTMLCanvasElement} image */
  createPattern(image) {
    const id = newId();
    this.defs.push(`<pattern id="${id}" width="${image.width}" height="${image.height}" patternUnits="userSpaceOnUse"><image href="${image.toDataURL()}" width="${image.width}" height="${image.height}"/>${endOf("pattern")}`);
    return { id };
  }
}

let ids = 0;
/** Returns an id that is unique in a page with several pictures. */
function newId() { return `scopeview-${++ids}`; }

/** The contexts into which the canvases are drawn instead; null: none. @type {Map<HTMLCanvasElement, SvgContext>|null} */
let recording = null;

/** Returns the context that a canvas is drawn into while pictures are made; null: its own. @param {HTMLCanvasElement} canvas */
export function recordingOf(canvas) {
  if (recording === null) return null;
  const measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const ctx = new SvgContext(measure);
  recording.set(canvas, ctx);
  return /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (ctx));
}

/**
 * Draws all canvases into contexts that write SVG.
 * @param {() => void} draw
 * @returns {Map<HTMLCanvasElement, SvgContext>}
 */
export function recorded(draw) {
  const made = recording = new Map();
  try {
    draw();
  } finally {
    recording = null;
  }
  return made;
}
