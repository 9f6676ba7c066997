// A histogram of durations on a logarithmic scale with a brush: a drag, or two sliders at its edges, select a part.

import { duration } from "../model/expression.js";
import { bucketsOf } from "../model/histogram.js";
import { make } from "../view/make.js";
import { bucketBars } from "./distribution.js";

/** @import { App } from "../app.js" */

/**
 * @param {App} app
 * @returns {{element: HTMLElement, set(sorted: Float64Array, color: string): void, update(): void}}
 */
export function createBrushView(app) {
  /** @type {{lo: number, hi: number, count: number}[]} */
  let buckets = [];
  /** The begins of the buckets and the end of the last one, in whole ns. @type {number[]} */
  let edges = [];
  /** The bucket where a drag began. */
  let drag = -1;
  const bars = make("div", { class: "plotted" });
  const handles = ["shortest", "longest"].map((which, side) => make("div", {
    class: "handle", role: "slider", tabIndex: 0, "aria-label": `The ${which} brushed duration`, "aria-orientation": "horizontal",
    onkeydown: (/** @type {KeyboardEvent} */ e) => key(e, side),
  }));
  const box = make("div", { class: "brushed" }, bars, ...handles);
  const ends = [make("span"), make("span", { text: "log" }), make("span")];
  const bounds = ["from", "to"].map((label) => make("input", { type: "text", class: "bound", placeholder: label === "from" ? "10ms" : "1s", "aria-label": `Brushed durations ${label}`, onchange: () => brushTyped() }));
  const element = make("figure", { class: "distribution" }, box, make("div", { class: "scale", "aria-hidden": "true" }, ...ends),
    make("div", { class: "bounds" }, make("span", { class: "quiet", text: "durations from" }), bounds[0], make("span", { class: "quiet", text: "to" }), bounds[1]));

  /** Returns the brushed buckets. @returns {[number, number]} first, and index after the last */
  function brushed() {
    const n = buckets.length;
    if (!app.brush) return [0, n];
    const { lo, hi } = app.brush;
    const from = edges.findLastIndex((e) => e <= lo);
    const to = edges.findIndex((e) => e >= hi);
    return [Math.min(Math.max(from, 0), n - 1), to < 0 ? n : Math.max(to, 1)];
  }

  /** @param {number} from @param {number} to */
  function brush(from, to) {
    if (from <= 0 && to >= buckets.length) app.brushRuns(null);
    else app.brushRuns({ lo: edges[from], hi: edges[to] });
  }

  /** Brushes the typed durations; an empty one is no bound. */
  function brushTyped() {
    const [lo, hi] = bounds.map((b) => duration(b.value));
    bounds.forEach((b, k) => b.setAttribute("aria-invalid", String(b.value.trim() !== "" && [lo, hi][k] === null)));
    if (lo === null && hi === null) return app.brushRuns(null);
    app.brushRuns({ lo: lo ?? 0, hi: (hi ?? Number.MAX_SAFE_INTEGER - 1) + 1 });
  }

  /** @param {KeyboardEvent} e @param {number} side */
  function key(e, side) {
    const [from, to] = brushed();
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5, PageUp: 5, Home: -Infinity, End: Infinity }[e.code];
    if (step === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    if (side === 0) brush(Math.max(0, Math.min(from + step, to - 1)), to);
    else brush(from, Math.min(buckets.length, Math.max(to + step, from + 1)));
  }

  const bucketAt = (/** @type {PointerEvent} */ e) => {
    const at = box.getBoundingClientRect();
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((e.clientX - at.left) / at.width) * buckets.length)));
  };
  const dragTo = (/** @type {PointerEvent} */ e) => {
    const at = bucketAt(e);
    if (drag === at && buckets.length === 1) return;
    brush(Math.min(drag, at), Math.max(drag, at) + 1);
  };
  box.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    if (e.button !== 0 || buckets.length === 0) return;
    box.setPointerCapture(e.pointerId);
    const side = handles.indexOf(e.target);
    const [from, to] = brushed();
    drag = side < 0 ? bucketAt(e) : side === 0 ? to - 1 : from; // a handle moves its edge; the other one stays
    if (side < 0) dragTo(e);
  });
  box.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => { if (drag >= 0) dragTo(e); });
  for (const over of ["pointerup", "pointercancel"]) box.addEventListener(over, () => { drag = -1; });

  function update() {
    const [from, to] = brushed();
    const typed = app.brush ? [app.brush.lo > 0 ? app.span(app.brush.lo) : "", app.brush.hi < Number.MAX_SAFE_INTEGER ? app.span(app.brush.hi - 1) : ""] : ["", ""];
    bounds.forEach((b, k) => { if (document.activeElement !== b) b.value = typed[k]; });
    const n = buckets.length;
    bars.querySelectorAll(".bucket").forEach((bar, k) => bar.classList.toggle("out", k < from || k >= to));
    [from, to].forEach((at, side) => {
      const handle = handles[side];
      handle.style.left = `${(100 * at) / Math.max(n, 1)}%`;
      for (const [name, value] of Object.entries({ valuemin: side, valuemax: side === 0 ? n - 1 : n, valuenow: at, valuetext: app.span(edges[at] ?? 0) })) handle.setAttribute(`aria-${name}`, String(value));
    });
  }

  return {
    element,
    update,
    set(sorted, color) {
      buckets = bucketsOf(sorted);
      edges = buckets.map((b) => Math.ceil(b.lo));
      if (buckets.length > 0) edges.push(sorted[sorted.length - 1] + 1);
      element.hidden = buckets.length === 0;
      bars.replaceChildren(...bucketBars(app, buckets, color));
      if (buckets.length > 0) [ends[0].textContent, ends[2].textContent] = [app.span(buckets[0].lo), app.span(buckets[buckets.length - 1].hi)];
      update();
    },
  };
}
