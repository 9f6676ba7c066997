// Touch on the rows: one finger moves the view, two zoom it, a tap selects, a double tap
// zooms to the item, and a drag after a long press selects a range.

import { limitedWidth } from "./view/viewport.js";

/** @import { App } from "./app.js" */

/** The maximum movement of a resting finger, px. */
const fingerRests = 8;
/** The minimum duration of a long press, ms. */
const longPress = 500;
/** The maximum time and distance of the second tap of a double tap, ms and px. */
const doubleTap = { within: 350, reach: 30 };
/** The minimum distance assumed between two fingers, px, so that the zoom does not jump. */
const fingersApart = 20;

/**
 * @template Begin
 * @param {App} app
 * @param {App["rows"]} rows
 * @param {Object} does what the mouse does, too
 * @param {(e: MouseEvent) => {x: number, y: number}} does.point on the canvas
 * @param {(e: MouseEvent) => void} does.choose
 * @param {(e: MouseEvent) => void} does.zoomTo
 * @param {(e: PointerEvent) => Begin} does.beginRange
 * @param {(begin: Begin, e: PointerEvent) => void} does.dragRange
 * @param {() => void} does.endRange
 */
export function listenTouch(app, rows, { point, choose, zoomTo, beginRange, dragRange, endRange }) {
  const { element, canvas } = rows;
  /** The fingers that move the view, by id. @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  /** The state when the fingers were put down: time and height of the sheet at them, and the width of the view. */
  let grip = { time: 0, top: 0, ns: 0, apart: 1 };
  /** The finger that may be tapping, and its first position. @type {{x: number, y: number, timer: any}|null} */
  let tap = null;
  /** @type {{id: number, begin: Begin}|null} */
  let range = null;
  let tapped = { x: 0, y: 0, at: -Infinity };
  let touched = false; // the last pointer was a finger

  /** Returns the point between the fingers, and their distance. */
  function hand() {
    const [a, b = a] = fingers.values();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: a === b ? 1 : Math.max(fingersApart, Math.hypot(a.x - b.x, a.y - b.y)) };
  }

  /** Records the point between the fingers. */
  function take() {
    if (fingers.size === 0) return;
    const { x, y, apart } = hand();
    const { from, to } = app.aim;
    grip = { time: from + (x / rows.width()) * (to - from), top: element.scrollTop + y, ns: to - from, apart };
  }

  /** Moves the view so that the recorded point is between the fingers again. */
  function follow() {
    const { x, y, apart } = hand();
    const ns = limitedWidth(app.model, (grip.ns * grip.apart) / apart);
    const from = grip.time - (x / rows.width()) * ns;
    app.setView(from, from + ns);
    element.scrollTop = grip.top - y;
  }

  function noTap() {
    clearTimeout(tap?.timer);
    tap = null;
  }

  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    touched = e.pointerType === "touch";
    if (!touched || range || fingers.size === 2) return;
    const { x, y } = point(e);
    canvas.setPointerCapture(e.pointerId);
    element.focus({ preventScroll: true });
    fingers.set(e.pointerId, { x, y });
    noTap();
    take();
    if (fingers.size > 1) return;
    const timer = setTimeout(() => {
      tap = null;
      fingers.clear();
      range = { id: e.pointerId, begin: beginRange(e) };
      app.announce("drag to select a range", true);
    }, longPress);
    tap = { x, y, timer };
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    if (range?.id === e.pointerId) return dragRange(range.begin, e);
    if (!fingers.has(e.pointerId)) return;
    const { x, y } = point(e);
    if (tap && Math.hypot(x - tap.x, y - tap.y) <= fingerRests) return;
    noTap();
    fingers.set(e.pointerId, { x, y });
    follow();
  });
  canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
    if (range?.id === e.pointerId) endRange();
    else if (tap) {
      choose(e);
      const { x, y } = point(e);
      if (e.timeStamp - tapped.at < doubleTap.within && Math.hypot(x - tapped.x, y - tapped.y) < doubleTap.reach) zoomTo(e);
      tapped = { x, y, at: e.timeStamp };
    }
    lift(e);
  });
  canvas.addEventListener("pointercancel", lift);
  /** @param {PointerEvent} e */
  function lift(e) {
    if (range?.id === e.pointerId) range = null;
    if (!fingers.delete(e.pointerId)) return;
    noTap();
    take();
  }
  // A menu would end a long press.
  canvas.addEventListener("contextmenu", (e) => {
    if (touched) e.preventDefault();
  });
  return {
    /** Reports whether the last pointer was a finger: browsers turn its taps into clicks. */
    last() { return touched; },
  };
}
