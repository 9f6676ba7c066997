// Selects what is at a point of the rows, for the mouse, for fingers and for the context menu.

import { selectHeld } from "./procs.js";

/** @import { App } from "../app.js" */

/** Selects the item at a point of the canvas, or clears the selection. @param {App} app @param {App["rows"]} rows @param {number} x @param {number} y */
export function chooseAt(app, rows, x, y) {
  const hit = rows.at(x, y);
  app.chooseRow(hit && ["row", "lock", "group"].includes(hit.strip.kind) ? hit.strip.id : "");
  if (hit?.held) selectHeld(app, hit.held);
  else if (hit?.state) app.selectState({ key: hit.strip.row.key, title: hit.strip.title, set: hit.strip.states.set, run: hit.state });
  else if (hit?.answer) app.showAnswerPlace(hit.answer);
  else if (hit?.strip.kind === "lock") app.selectHold(hit.strip.lock, /** @type {number} */ (hit.time));
  else if (hit?.batch !== undefined && !hit.merged) app.select({ batch: hit.batch, i: hit.i });
  else if (hit?.batch !== undefined) app.select({ batch: hit.batch, i: hit.i, j: hit.j });
  else {
    app.select(null);
    app.setRange(null);
  }
}
