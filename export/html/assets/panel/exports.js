// The export menu: CSV, a trace for other viewers, a trace of ours, a picture.

import { csvPieces } from "./exportcsv.js";
import { createExcerptExport } from "./exportexcerpt.js";
import { pictureOf, svgOf } from "./exportpicture.js";
import { tracePieces } from "./exporttrace.js";
import { areaText } from "../model/area.js";
import { make, makeButton } from "../view/make.js";
import { thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/**
 * Creates buttons that offer the selected range, with its rows only, or else the view, as a file.
 * @param {App} app
 * @returns {HTMLElement[]}
 */
export function createExports(app) {
  /** @param {string} what @param {string} type @param {string} suffix @param {string} tool @param {(model: App["model"], from: number, to: number, skipped: {merged: number}, area: ReadonlySet<string>|null) => Generator<string>} pieces */
  function save(what, type, suffix, tool, pieces) {
    const { from, to } = app.range || app.view;
    const whole = `${what}${areaText(app.area)} saved`;
    const skipped = { merged: 0 };
    offerFile(new Blob([...pieces(app.model, from, to, skipped, app.area)], { type }), app.model.meta.title, suffix);
    app.announce(skipped.merged > 0 ? `${whole}, without ${thousands(skipped.merged)} scopes that are merged in this page; ${tool} exports all of them.` : `${whole}.`);
  }
  function picture() {
    pictureOf(/** @type {HTMLElement} */ (document.querySelector("main")), app.colors).toBlob((blob) => {
      if (blob) offerFile(blob, app.model.meta.title, "png");
      app.announce(blob ? "Picture saved." : "This browser can't make a picture that large.");
    });
  }
  function vectors() {
    const text = svgOf(/** @type {HTMLElement} */ (document.querySelector("main")), app.colors, () => app.drawNow());
    offerFile(new Blob([text], { type: "image/svg+xml" }), app.model.meta.title, "svg");
    app.announce("Picture saved.");
  }
  return [
    makeButton("CSV", () => save("CSV", "text/csv", "csv", "scopeview export csv", csvPieces), { title: "The selected range and its rows, or else the view, for a spreadsheet" }),
    makeButton("Trace (Chrome JSON)", () => save("Trace", "application/json", "json", "scopeview export chrome", tracePieces), { title: "The same for Perfetto, Speedscope and chrome://tracing" }),
    createExcerptExport(app, offerFile),
    makeButton("Picture (PNG)", picture, { title: "The timeline as shown" }),
    makeButton("Picture (SVG)", vectors, { title: "The same as lines and texts, for print and for drawing programs" }),
    makeButton("Print", () => print(), { title: "The timeline and the panel's tab on paper" }),
  ];
}

/** Offers a file. @param {Blob} blob @param {string|undefined} title @param {string} suffix */
export function offerFile(blob, title, suffix) {
  const link = make("a", { href: URL.createObjectURL(blob), download: fileName(title, suffix) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Returns a file name that is valid on all systems. @param {string|undefined} title @param {string} suffix */
function fileName(title, suffix) {
  return `${(title || "trace").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+/, "").slice(0, 80) || "trace"}.${suffix}`;
}
