// The range on the time axis: a drag selects a range of all rows, and a handle at each end
// moves that end, with the mouse or the arrow keys.

import { make } from "./make.js";

/** @import { App } from "../app.js" */

/**
 * @param {App} app
 * @param {HTMLElement} element the axis
 * @param {HTMLCanvasElement} canvas what of it shows time
 * @returns {{place(): void}}
 */
export function createHandles(app, element, canvas) {
  const timeAt = (/** @type {PointerEvent} */ e) => {
    const box = canvas.getBoundingClientRect();
    return app.view.from + ((e.clientX - box.left) / box.width) * (app.view.to - app.view.from);
  };

  /** @param {"from"|"to"} end @param {number} t */
  function move(end, t) {
    if (!app.range) return;
    const { from, to } = app.range;
    app.setRange(end === "from" ? { from: Math.min(t, to), to } : { from, to: Math.max(t, from) }, app.area);
  }

  const handles = (/** @type {const} */ (["from", "to"])).map((end) => {
    const handle = make("div", { class: "handle", role: "slider", tabIndex: 0, "aria-label": end === "from" ? "Begin of the range" : "End of the range", hidden: true });
    handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => handle.setPointerCapture(e.pointerId));
    handle.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      if (handle.hasPointerCapture(e.pointerId)) move(end, timeAt(e));
    });
    handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      const dir = { ArrowLeft: -1, ArrowRight: 1 }[e.code];
      if (!dir || !app.range || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      move(end, app.range[end] + (dir * (app.view.to - app.view.from)) / (e.shiftKey ? 10 : 200));
    });
    element.append(handle);
    return { end, handle };
  });

  let begun = { t: 0, x: NaN }; // begin of a drag; x NaN: it has moved far enough
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    canvas.setPointerCapture(e.pointerId);
    begun = { t: timeAt(e), x: e.clientX };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!canvas.hasPointerCapture(e.pointerId) || Math.abs(e.clientX - begun.x) <= 4) return;
    begun.x = NaN;
    const t = timeAt(e);
    app.setRange({ from: Math.min(begun.t, t), to: Math.max(begun.t, t) });
  });

  return {
    /** Moves the handles to the ends of the range. */
    place() {
      const { range, view } = app;
      for (const { end, handle } of handles) {
        const share = range ? (range[end] - view.from) / (view.to - view.from) : -1;
        handle.hidden = share < 0 || share > 1;
        if (!range || handle.hidden) continue;
        handle.style.left = `${canvas.offsetLeft + share * canvas.clientWidth}px`;
        handle.setAttribute("aria-valuemin", "0");
        handle.setAttribute("aria-valuemax", String(Math.max(app.model.end, range.to)));
        handle.setAttribute("aria-valuenow", String(range[end]));
        handle.setAttribute("aria-valuetext", app.time(range[end]));
      }
    },
  };
}
