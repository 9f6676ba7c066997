// Fingers on the rows: one moves the view, two zoom it, a tap selects, a double tap zooms
// to what is there, and a drag after a long press selects a range.

import { limitedWidth } from "./view/viewport.js";

/** @import { App } from "./app.js" */

/** How far a finger moves that still rests, px. */
const fingerRests = 8;
/** How long it rests before what follows is a range, ms. */
const longPress = 500;
/** Within which the second tap of two comes, ms and px. */
const doubleTap = { within: 350, reach: 30 };
/** Fingers that are nearer to each other are taken to be so far apart, px: the zoom would jump. */
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
  /** Those that move the view, by their ids. @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  /** What they hold: a moment and a height of the sheet, and how wide the view was when they took it. */
  let grip = { time: 0, top: 0, ns: 0, apart: 1 };
  /** The finger that may yet turn out to tap, and where it came down. @type {{x: number, y: number, timer: any}|null} */
  let tap = null;
  /** @type {{id: number, begin: Begin}|null} */
  let range = null;
  let tapped = { x: 0, y: 0, at: -Infinity };
  let touched = false; // the last pointer was a finger

  /** The point between the fingers, and how far they are from each other. */
  function hand() {
    const [a, b = a] = fingers.values();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: a === b ? 1 : Math.max(fingersApart, Math.hypot(a.x - b.x, a.y - b.y)) };
  }

  /** Takes hold of what lies between the fingers. */
  function take() {
    if (fingers.size === 0) return;
    const { x, y, apart } = hand();
    const { from, to } = app.aim;
    grip = { time: from + (x / rows.width()) * (to - from), top: element.scrollTop + y, ns: to - from, apart };
  }

  /** Has what they hold between them again. */
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
  // A menu would take the finger away from a long press.
  canvas.addEventListener("contextmenu", (e) => {
    if (touched) e.preventDefault();
  });
  return {
    /** Reports whether the last pointer was a finger: browsers make clicks of its taps. */
    last() { return touched; },
  };
}
