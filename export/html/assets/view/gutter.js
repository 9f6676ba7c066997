// The column of names, with an adjustable width.

import { make } from "./make.js";
import { remember, remembered } from "./remembered.js";

/** @import { App } from "../app.js" */

const narrowestGutter = 80;
const gutterStep = 20;

/** Creates the handle between names and bars, which is moved by dragging or with the arrow keys. @param {App} app */
export function createGutter(app) {
  const handle = make("div", { class: "gutter", role: "separator", tabIndex: 0, "aria-orientation": "vertical", "aria-label": "Width of the names", "aria-valuemin": String(narrowestGutter) });
  const width = () => app.rows.gutter();
  const most = () => Math.max(narrowestGutter, Math.round(innerWidth / 2));
  /** @param {number} px */
  function set(px) {
    document.documentElement.style.setProperty("--gutter", `${Math.round(Math.max(narrowestGutter, Math.min(most(), px)))}px`);
    showWidth();
  }
  /** @param {number} px */
  function resize(px) {
    set(px);
    remember("gutter", String(width()));
    app.relayout();
  }
  function showWidth() {
    handle.setAttribute("aria-valuemax", String(most()));
    handle.setAttribute("aria-valuenow", String(width()));
  }
  handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    handle.setPointerCapture(e.pointerId);
    e.preventDefault();
  });
  handle.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    if (handle.hasPointerCapture(e.pointerId)) resize(e.clientX);
  });
  handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const by = { ArrowLeft: -gutterStep, ArrowRight: gutterStep }[e.code];
    if (!by) return;
    resize(width() + by);
    e.preventDefault();
    e.stopPropagation(); // the arrow keys have another meaning on the rows
  });
  const before = Number(remembered("gutter"));
  if (before > 0) set(before);
  else showWidth();
  return handle;
}
