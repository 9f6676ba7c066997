// Mouse and keyboard; touch.js handles fingers. Keys are looked up in the list of help.js,
// so that the help shows their real actions.

import { Kind } from "./data/kinds.js";
import { barPixels } from "./data/merge.js";
import { areaText, snapped } from "./model/area.js";
import { extentOf } from "./model/refs.js";
import { keyOf } from "./panel/help.js";
import { listenTouch } from "./touch.js";
import { chooseAt } from "./view/choose.js";

/** @import { App } from "./app.js" */

/**
 * @param {App} app
 * @param {App["rows"]} rows the rows' view
 * @param {ReturnType<typeof import("./view/popup.js").createPopup>} popup
 * @param {string[]} more ids of further elements that receive the wheel
 */
export function listenMouse(app, rows, popup, more = []) {
  const { element, canvas } = rows;
  /** @type {{x: number, y: number, mode: "press"|"range"|"pan", from: number, to: number, scroll: number, begin: ReturnType<typeof beginRange>}|null} */
  let drag = null;
  /**
   * The resting position of the pointer and the state for which the pop-up was shown.
   * @type {{e: MouseEvent, view: any, version: number, top: number}|null}
   */
  let rest = null;
  const timeAt = (/** @type {number} */ x, view = app.view) => view.from + (x / rows.width()) * (view.to - view.from);
  /**
   * Returns the begin or end of a bar of the row if the pointer is near one, else the
   * pointer's time. Alt disables snapping.
   * @param {PointerEvent} e
   */
  function snappedAt(e) {
    const { x, y } = point(e);
    const pixel = (app.view.to - app.view.from) / rows.width();
    const strip = rows.at(x, y)?.strip;
    return e.altKey || strip?.kind !== "row" ? timeAt(x) : snapped(app.model, strip.lanes, timeAt(x), 6 * pixel, barPixels * pixel);
  }
  /** Returns the opposite end of the range if x is at one of its ends; undefined: it is not. @param {number} x */
  function otherEnd(x) {
    const { range } = app;
    const near = (4 * (app.view.to - app.view.from)) / rows.width();
    if (range && Math.abs(timeAt(x) - range.to) < near) return range.from;
    return range && Math.abs(timeAt(x) - range.from) < near ? range.to : undefined;
  }
  const point = (/** @type {MouseEvent} */ e) => {
    const box = canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  /**
   * Returns the begin of a dragged range, as time and strip. end: it is an end of the existing range.
   * @param {PointerEvent} e
   */
  function beginRange(e) {
    const { x, y } = point(e);
    const other = otherEnd(x);
    return { time: other ?? snappedAt(e), strip: rows.at(x, y)?.strip.id, end: other !== undefined };
  }
  /**
   * Selects the range from its begin to the pointer.
   * @param {ReturnType<typeof beginRange>} begin @param {PointerEvent} e
   */
  function dragRange({ time, strip, end }, e) {
    const { x, y } = point(e);
    const t = snappedAt(e);
    app.setRange({ from: Math.min(time, t), to: Math.max(time, t) }, end ? app.area : rows.idsBetween(strip, rows.at(x, y)?.strip.id));
  }
  function endRange() {
    if (app.range) app.announce(`${app.span(app.range.to - app.range.from)}${areaText(app.area)} selected`);
  }

  /** Shows the pop-up of the item under the pointer. @param {MouseEvent} e */
  function look(e) {
    const { x, y } = point(e);
    const hit = rows.at(x, y);
    rest = { e, view: app.view, version: app.model.version, top: element.scrollTop };
    app.hoverOn(hit && hit.batch !== undefined && !hit.merged ? hit.batch.name[hit.i] : -1);
    const pointed = hit && hit.batch !== undefined && !hit.merged ? app.model.requests.linkOf({ batch: hit.batch, i: hit.i }) : null;
    app.hoverOnRequest(pointed?.trace ?? "");
    app.hoverOnWait(hit ? waitAt(hit) : null);
    popup.show(hit, e.clientX, e.clientY, timeAt(x));
    canvas.style.cursor = otherEnd(x) !== undefined ? "ew-resize" : hit?.batch !== undefined || hit?.state || hit?.held ? "pointer" : "default";
  }

  /** Updates the pop-up if the item under a resting pointer has moved. During an animation it does nothing. */
  function lookAgain() {
    if (!rest || rest.view === app.view && rest.version === app.model.version && rest.top === element.scrollTop) return;
    if (app.view === app.aim) look(rest.e);
    else popup.hide();
  }

  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    if (e.pointerType === "touch" || e.button !== 0 && e.button !== 1) return;
    const { x, y } = point(e);
    canvas.setPointerCapture(e.pointerId);
    element.focus({ preventScroll: true });
    drag = { x, y, begin: beginRange(e), mode: e.shiftKey || e.button === 1 ? "pan" : "press", from: app.aim.from, to: app.aim.to, scroll: element.scrollTop };
    if (e.button === 1) e.preventDefault();
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    if (e.pointerType === "touch") return;
    const { x, y } = point(e);
    app.hover(x / rows.width());
    if (!drag) return look(e);
    popup.hide();
    rest = null;
    if (drag.mode === "press" && Math.abs(x - drag.x) > 4) drag.mode = "range";
    if (drag.mode === "range") dragRange(drag.begin, e);
    if (drag.mode === "pan") {
      const moved = ((drag.x - x) / rows.width()) * (drag.to - drag.from);
      app.setView(drag.from + moved, drag.to + moved);
      element.scrollTop = drag.scroll + drag.y - y;
    }
  });
  canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
    const mode = drag?.mode;
    drag = null;
    if (mode === "range") endRange();
    if (mode === "press") choose(e);
  });
  /** Selects the item at the pointer, or clears the selection. @param {MouseEvent} e */
  function choose(e) {
    const { x, y } = point(e);
    chooseAt(app, rows, x, y);
  }
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => {
    popup.hide();
    rest = null;
    app.hover(null);
    app.hoverOn(-1);
    app.hoverOnRequest("");
    app.hoverOnWait(null);
  });
  const touch = listenTouch(app, rows, { point, choose, zoomTo, beginRange, dragRange, endRange });
  canvas.addEventListener("dblclick", (/** @type {MouseEvent} */ e) => {
    if (!touch.last()) zoomTo(e);
  });
  /** Zooms to the item at the pointer. @param {MouseEvent} e */
  function zoomTo(e) {
    const { x, y } = point(e);
    const hit = rows.at(x, y);
    if (hit?.state) app.fit(hit.state.t0, hit.state.t1);
    if (hit?.batch === undefined) return;
    const { start, end } = extentOf({ batch: hit.batch, i: hit.i, j: hit.j });
    app.fit(start, end);
  }

  /** @param {WheelEvent} e */
  function wheel(e) {
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
    const dx = e.deltaX * unit;
    const dy = e.deltaY * unit;
    if (e.ctrlKey || e.metaKey) {
      // The time at the pointer stays in place.
      e.preventDefault();
      app.zoomAt(timeAt(point(e).x, app.aim), Math.exp(Math.max(-300, Math.min(300, dy)) * 0.0025));
      return;
    }
    const along = e.shiftKey && dx === 0 ? dy : dx;
    if (along !== 0 && Math.abs(along) >= Math.abs(e.shiftKey ? 0 : dy)) {
      e.preventDefault();
      app.pan((along / rows.width()) * (app.aim.to - app.aim.from));
    }
  }
  for (const over of [element, ...more.map((id) => document.getElementById(id))]) over?.addEventListener("wheel", wheel, { passive: false });
  return { lookAgain };
}

/** Returns the single wait of a hit, or the state that is one. @param {import("./view/rowsview.js").Hit} hit @returns {App["hoverWait"]} */
function waitAt({ strip, batch, i, merged, state }) {
  if (batch !== undefined) return !merged && batch.kind[i] === Kind.wait ? { batch, i } : null;
  const set = strip.states?.set;
  return state && state.n === 1 && state.top === set.lockState ? { key: strip.row.key, set, i: state.i } : null;
}

/** @param {App} app */
export function listenKeys(app) {
  document.addEventListener("keydown", (e) => {
    const key = keyOf(e);
    if (!key) return;
    const inSearch = /** @type {HTMLElement} */ (e.target).id === "search-text";
    if (inSearch && e.code !== "Escape") return; // the search box has keys of its own
    if (app.act(key.action, key.fast === true)) e.preventDefault();
  });
}

/**
 * Lets a drag of the divider, or the arrow keys on it, change the height of the panel below.
 * @param {App} app @param {HTMLElement} divider @param {HTMLElement} panel
 */
export function listenDivider(app, divider, panel) {
  const resize = (/** @type {number} */ h) => {
    panel.style.flex = `0 0 ${Math.max(60, Math.min(innerHeight * 0.8, h))}px`;
    /** @type {HTMLElement} */ (panel.parentElement).dataset.divided = "true";
    divider.setAttribute("aria-valuenow", String(Math.round((100 * panel.offsetHeight) / innerHeight)));
    app.relayout();
  };
  divider.setAttribute("aria-valuemin", "5");
  divider.setAttribute("aria-valuemax", "80");
  divider.setAttribute("aria-valuenow", "32");
  divider.addEventListener("pointerdown", (e) => divider.setPointerCapture(e.pointerId));
  divider.addEventListener("pointermove", (e) => {
    if (divider.hasPointerCapture(e.pointerId)) resize(panel.offsetHeight + divider.getBoundingClientRect().top + divider.offsetHeight / 2 - e.clientY);
  });
  divider.addEventListener("keydown", (e) => {
    const by = { ArrowUp: 30, ArrowDown: -30 }[e.code];
    if (by) {
      resize(panel.offsetHeight + by);
      e.preventDefault();
      e.stopPropagation();
    }
  });
}
