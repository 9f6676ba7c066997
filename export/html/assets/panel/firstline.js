// The first line of the page: what is wrong with the program, how much it takes, how sure that is, and a button to the
// place; where the doctor found nothing, what took the time.

import { longestTitle, shortText } from "../data/names.js";
import { stateText } from "../data/states.js";
import { make, makeButton, nameText, restLater } from "../view/make.js";
import { percentText } from "../view/numbers.js";
import { inSlices } from "../data/slices.js";
import { summarySteps } from "../model/stats.js";
import { setPending } from "./answer.js";
import { firstFinding, showFinding, showWorst, sureText } from "./finding.js";

/** @import { App } from "../app.js" */
/** @import { Model } from "../model/model.js" */

/** The number of parts named where the time went. */
const partsNamed = 3;
/** The maximum length of a name in the line. */
const longestPart = 60;

/**
 * A first line: its text, the doctor's finding if it is about one, and whether the doctor is still to be asked.
 * @typedef {{text: string, finding?: import("../data/meta.js").Finding, unasked?: boolean}} FirstLine
 */

/**
 * Returns the first line of a trace; null: it is not known yet.
 * @param {Model} model @param {import("../model/stats.js").Summary|null} summary of the whole trace; null: not known yet
 * @param {(ns: number) => string} span
 * @returns {FirstLine|null}
 */
export function firstLine(model, summary, span) {
  const { doctor, doctorAsked, doctorProblem, source } = model;
  if (doctorAsked) return null;
  const finding = firstFinding(doctor);
  const end = doctor?.end ? `${doctor.end.text} ` : model.meta.writer === "gone" ? "The program ended, or was killed, without Stop. " : "";
  if (finding) return { text: `${end}${finding.text} ${capital(sureText(finding.confidence))}.`, finding };
  const unasked = !doctor && doctorProblem === "" && source.doctor !== undefined;
  const nothing = `${end}${doctor && !doctor.error ? "No problem stands out. " : ""}`;
  const way = doctor?.critical_path?.[0];
  if (way?.parts?.length && way.of === "") return { text: nothing + wayText(way, span), unasked };
  return summary && { text: nothing + scopesText(model, summary), unasked };
}

/** Describes what the end of the run depended on. @param {import("../data/meta.js").CriticalPath} way @param {(ns: number) => string} span */
function wayText(way, span) {
  const list = (way.parts ?? []).slice(0, partsNamed).map((p) => `${p.name ? shortText(p.name, longestPart) : "no scope"}, ${stateText(p.state)}: ${percentText(p.share)}`);
  return `The run of ${span(way.ns)} took its time in ${list.join("; ")}.`;
}

/** Describes the scopes with the most time of their own. @param {Model} model @param {import("../model/stats.js").Summary} summary */
function scopesText(model, { scopes }) {
  const own = scopes.filter((s) => s.self !== null && s.self > 0).sort((a, b) => /** @type {number} */ (b.self) - /** @type {number} */ (a.self));
  const all = own.reduce((sum, s) => sum + /** @type {number} */ (s.self), 0);
  if (all === 0) return "";
  return `The scopes' time went to ${own.slice(0, partsNamed).map((s) => `${shortText(nameText(model.name(s.name)), longestPart)} ${percentText(/** @type {number} */ (s.self) / all)}`).join(", ")}.`;
}

/** @param {string} text */
function capital(text) { return text.slice(0, 1).toUpperCase() + text.slice(1); }

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createFirstLine(app) {
  const text = make("p", { class: "text" });
  const buttons = make("span", { class: "buttons" });
  const element = make("section", { class: "first-line", "aria-label": "What takes the time" }, text, buttons);
  /** @type {{of: unknown, summary: import("../model/stats.js").Summary|null}} of the base of the model */
  let known = { of: null, summary: null };
  let drawn = "";

  /** Returns the sums of the whole trace; null: they follow. */
  function summary() {
    const { model } = app;
    if (model.meta.summary) return model.meta.summary;
    if (known.of !== model.base && !model.meta.loading) {
      known = { of: model.base, summary: null };
      const stale = () => known.of !== model.base;
      const sums = model.reduced ? model.summary(0, model.end, true).catch(() => null) : inSlices(summarySteps(model, 0, model.end, true), stale);
      sums.then((s) => {
        if (stale()) return;
        known.summary = s ?? { scopes: [], locks: [] };
        fill();
      });
    }
    return known.summary;
  }

  function fill() {
    const { model } = app;
    const line = app.growing && !model.doctor && !model.doctorAsked ? { text: `Recording: ${app.span(model.end)} so far; new scopes appear within a second.`, unasked: true } : firstLine(model, model.doctor?.critical_path?.length || model.doctorAsked ? null : summary(), app.span);
    setPending(element, line === null ? "Looking for what takes the time…" : "");
    if (line === null) return;
    const key = JSON.stringify([line.text, line.unasked, line.finding?.worst]);
    if (key === drawn) return;
    drawn = key;
    element.classList.toggle("found", line.finding !== undefined);
    text.textContent = shortText(line.text, longestTitle);
    const f = line.finding;
    buttons.replaceChildren();
    if (f) buttons.append(makeButton(f.worst ? "Show the longest wait" : "Show where", () => (f.worst ? showWorst : showFinding)(app, f)));
    if (line.unasked) buttons.append(makeButton("Look for problems", () => app.model.askDoctor(), { title: "The doctor reads the whole trace" }));
    if ((model.doctor?.findings ?? []).length > 0) buttons.append(makeButton("All findings", () => app.showTab("doctor"), { title: "Why (7)" }));
    element.hidden = line.text === "" && buttons.childElementCount === 0;
    if (f) app.announce(line.text);
  }

  const later = restLater(fill);
  return { element, update: () => (app.growing ? later() : fill()) };
}
