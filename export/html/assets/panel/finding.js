// Navigation from a finding of the doctor to its place on the rows.

import { findWait } from "../model/refs.js";
import { percentText } from "../view/numbers.js";
import { goroutineTitle } from "../model/titles.js";
import { stateAt } from "../view/waitfacts.js";

/**
 * @typedef {import("../data/meta.js").Finding} Finding
 */
/** @import { App } from "../app.js" */

/** Returns the id of a finding in the address. @param {{verdict: string, object?: string}} f */
export function findingId(f) { return `${f.verdict}:${f.object ?? ""}`; }

/** Shows the place of a finding. @param {App} app @param {Finding} f */
export function showFinding(app, f) {
  app.chooseFinding(findingId(f));
  if (f.to_ns > f.from_ns) {
    app.setRange({ from: f.from_ns, to: f.to_ns });
    app.fit(f.from_ns, f.to_ns);
  }
  const shown = f.object && app.rows.revealLock(f.object, "");
  const row = (f.goids ?? []).find((/** @type {number} */ g) => app.model.goroutines.rows.has(g) || app.model.waits.lane(g));
  if (!shown && row !== undefined) {
    app.chooseRow(`g${row}`);
    app.rows.reveal(row, 0);
  }
  app.announce(`${f.verdict} ${f.object ?? ""}: place shown`);
}

/**
 * Selects the longest wait of a finding: its record, else the goroutine's state at that
 * time. If the page has neither, such as for merged scopes, it shows the time and the row.
 * @param {App} app @param {Finding} f
 */
export function showWorst(app, f) {
  const { worst } = f;
  if (!worst) return showFinding(app, f);
  const { goid, from_ns: from, to_ns: to } = worst;
  const wait = findWait(app.model, goid, from);
  const lane = app.model.waits.lane(goid);
  app.chooseFinding(findingId(f));
  app.setRange(null);
  app.fit(from - (to - from) / 2, to + (to - from) / 2);
  if (wait) app.select(wait, { reveal: true });
  else {
    app.chooseRow(`g${goid}`);
    app.rows.reveal(goid, 0);
    const run = lane && stateAt(lane, (from + to) / 2, 1);
    if (lane && run) app.selectState({ key: goid, title: goroutineTitle(app.model, goid), set: lane.set, run });
    else app.announce(`${f.verdict} ${f.object ?? ""}: its longest wait, ${app.span(to - from)}, shown`);
  }
}

/** The confidences from which on a finding is in the first line of the page: a likely one, else a guess that is named as one. */
const leastSure = [0.4, 0.25];

/**
 * Returns the finding for the first line of the page: the first that is sure enough.
 * @param {import("../data/meta.js").DoctorReport|null} report
 */
export function firstFinding(report) { return leastSure.map((least) => report?.findings?.find((f) => f.confidence >= least)).find((f) => f) ?? null; }

/** Describes the doctor's confidence, with the words of scopeview doctor. @param {number} c 0 to 1 */
export function sureText(c) {
  if (!Number.isFinite(c)) return "unknown";
  return `${c >= 0.8 ? "sure" : c >= 0.6 ? "quite sure" : c >= 0.4 ? "likely" : "a guess"} (${percentText(c)})`;
}
