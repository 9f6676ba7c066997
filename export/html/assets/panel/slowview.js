// The differences of the slowest executions, as tables: where their time goes, and what they have in common.

import { rootWords } from "../model/roots.js";
import { goroutineTitle } from "../model/titles.js";
import { make, makeButton, nameText } from "../view/make.js";
import { createSortable } from "./sortable.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** The number of causes and traits in the tables at first. */
const differencesShown = 6;

/** The prefix of a cause's name. */
const causeWords = { lock: "wait for ", callee: "in ", self: "in itself", state: "" };
/** The prefix of a trait's name. */
const traitWords = { argument: "", parent: "in ", row: "on " };

/** @param {App} app @returns {{element: HTMLElement, set(slow: import("../model/slow.js").SlowRuns|null): void}} */
export function createSlowView(app) {
  /** @type {[number, number]} */ let counts = [1, 1];
  let most = 1;
  const share = (r, side) => r[side] / counts[side === "slow" ? 0 : 1];
  const time = (key, title, value) => ({ key, title, numeric: true, value, text: (r) => (value(r) < 0 ? "−" : key === "more" ? "+" : "") + app.span(Math.abs(value(r))) });
  const part = (key, title, hint) => ({ key, title, hint, numeric: true, value: (r) => share(r, key), text: (r) => `${thousands(r[key])}, ${percentText(share(r, key))}` });
  const causes = createSortable({
    caption: "", by: "more", limit: differencesShown, id: (r) => r.kind + r.label,
    columns: [
      { key: "label", title: "where the time goes", value: (r) => causeWords[r.kind] + (r.kind === "self" ? "" : nameText(r.label)), tone: (r) => (r.kind === "lock" ? "wait" : "") },
      time("slow", "these", (r) => r.slow), time("usual", "others", (r) => r.usual),
      { ...time("more", "difference", (r) => r.slow - r.usual), share: (r) => (r.slow - r.usual) / most, bar: "total" },
    ],
  });
  const traits = createSortable({
    caption: "What they have in common", empty: "Nothing is more frequent among them than among the others.", by: "more", limit: differencesShown, id: (r) => r.kind + r.label,
    columns: [
      { key: "label", title: "trait", mono: true, value: (r) => traitWords[r.kind] + nameText(r.label) },
      part("slow", "these", "Number and share of these executions"), part("usual", "others", "Number and share of the others"),
      { key: "more", title: "more", numeric: true, value: (r) => share(r, "slow") - share(r, "usual"), text: (r) => percentText(share(r, "slow") - share(r, "usual")), share: (r) => share(r, "slow") - share(r, "usual"), bar: "total" },
    ],
  });
  const roots = createSortable({
    caption: "", by: "more", limit: differencesShown, id: (r) => `${r.kind} ${r.object} ${r.state} ${r.name}`, pick: showRoot,
    columns: [
      { key: "label", title: "whose activity it was", pick: true, hint: "Each moment counts for the goroutine on which the execution depended. Click one for its longest piece", value: (r) => rootWords(r, (key) => goroutineTitle(app.model, key)) },
      time("slow", "these", (r) => r.slow), time("usual", "others", (r) => r.usual),
      { ...time("more", "difference", (r) => r.slow - r.usual), share: (r) => (r.slow - r.usual) / most, bar: "total" },
    ],
  });
  /** The roots by the doctor, for a trace of which the page does not have each scope. */
  const wholeRoots = createSortable({
    caption: "", by: "ns", limit: differencesShown, id: (r) => r.text,
    columns: [
      { key: "text", title: "whose activity it was", hint: "Each moment counts for the goroutine on which the execution depended", value: (r) => r.text },
      { key: "ns", title: "difference", numeric: true, value: (r) => r.ns, text: (r) => `+${app.span(r.ns)}`, share: (r) => r.share, bar: "total" },
    ],
  });
  const ask = makeButton("Ask the doctor whose activity it was", () => { void app.model.askDoctor(); }, { title: "It reads the whole trace" });
  const note = make("p", { class: "quiet" });
  const element = make("div", { class: "differ" }, roots.element, wholeRoots.element, ask, causes.element, note, traits.element);

  /** Shows what the doctor found out about the executions. @param {boolean} brushed */
  function setWhole(brushed) {
    const { reduced, doctor, source } = app.model;
    const found = reduced && !brushed ? doctor?.slow?.find(({ of }) => of === app.runsOf) : undefined;
    wholeRoots.element.hidden = !found;
    ask.hidden = !reduced || brushed || doctor !== null || !source?.doctor;
    if (found) wholeRoots.set(found.roots, `Slowest 1% of the whole trace, ${app.span(found.limit_ns)} or more, and the middle half: the roots of their time, means per execution, by the doctor`);
  }

  /** Shows the longest piece of a root. @param {import("../model/roots.js").Root} root */
  function showRoot({ longest: { key, from, to } }) {
    app.chooseRow(`g${key}`);
    app.rows.reveal(key, 0);
    app.fit(from, to);
    app.announce(`${goroutineTitle(app.model, key)}, ${app.span(to - from)}, shown`);
  }
  return {
    element,
    set(slow) {
      element.hidden = slow === null;
      if (slow === null) return;
      ({ counts } = slow);
      most = Math.max(1, slow.means[0] - slow.means[1]);
      roots.element.hidden = slow.roots.length === 0;
      setWhole(slow.brushed);
      const sides = slow.brushed ? "The brushed executions and the others" : `Slowest 1%, ${app.span(slow.limit)} or more, and the middle half`;
      roots.set(slow.roots, `${sides}: the roots of their time, means per execution${slow.followed[0] < counts[0] || slow.followed[1] < counts[1] ? `, of ${thousands(slow.followed[0])} and ${thousands(slow.followed[1])} of them` : ""}`);
      causes.set(slow.causes, `${sides}: means per execution`);
      traits.set(slow.traits);
      const [a, b] = slow.stated;
      note.textContent = [
        slow.merged ? "Short scopes are merged here: locks and callees may have more time." : "",
        a === 0 || b === 0 ? "" : a === counts[0] && b === counts[1] ? "" : `The states of the goroutines are known for ${thousands(a)} slow executions and ${thousands(b)} of the middle half.`,
        slow.stateRes > 0 && a > 0 && b > 0 ? `States shorter than ${app.span(slow.stateRes)} are merged.` : "",
      ].filter((text) => text !== "").join(" ");
      note.hidden = note.textContent === "";
    },
  };
}
