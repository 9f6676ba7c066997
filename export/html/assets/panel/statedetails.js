// The states in the Details tab: those of a goroutine during a scope, and the facts of one stretch of a strip.

import { make, makeButton } from "../view/make.js";
import { createSortable } from "./sortable.js";
import { stateText } from "../data/states.js";
import { goroutineTitle } from "../model/titles.js";
import { stateFacts, stateTitle } from "../view/waitfacts.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/**
 * Returns the time of a goroutine by state in a range of time, the longest first. Merged
 * time of unknown state has the state -1. merged: some of it comes from several intervals that were merged, so that the
 * numbers are not exact.
 * @param {import("../data/states.js").StateLane} lane @param {number} from @param {number} to
 * @returns {{state: number, ns: number, count: number, longest: number, merged: boolean, run: import("../data/states.js").StateRun}[]}
 */
export function stateSums(lane, from, to) {
  const sums = new Map();
  const add = (/** @type {number} */ state, /** @type {number} */ ns, /** @type {any} */ run) => {
    if (ns <= 0) return;
    let s = sums.get(state);
    if (!s) sums.set(state, s = { state, ns: 0, count: 0, longest: 0, merged: false, run: null });
    s.ns += ns;
    s.merged ||= run.n > 1;
    s.count += run.n;
    if (ns > s.longest) [s.longest, s.run] = [ns, { ...run }];
  };
  lane.each(from, to, 0, (run) => {
    const seen = Math.min(run.t1, to) - Math.max(run.t0, from);
    const part = seen / (run.t1 - run.t0);
    if (run.n === 1) return add(run.top, seen, run);
    add(run.top, run.time * part, run);
    const lock = run.top === lane.set.lockState ? 0 : run.lock;
    if (lock > 0) add(lane.set.lockState, lock * part, run);
    add(-1, (run.t1 - run.t0 - run.time - lock) * part, run);
  });
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/**
 * Returns the sums of several goroutines, each with the goroutine that contributed most.
 * @param {import("../data/states.js").StateLane[]} lanes @param {number} from @param {number} to
 */
export function stateSumsOf(lanes, from, to) {
  /** @type {Map<number, ReturnType<typeof stateSums>[number] & {key: number}>} */
  const sums = new Map();
  for (const lane of lanes) {
    for (const one of stateSums(lane, from, to)) {
      const s = sums.get(one.state);
      const most = !s || one.longest > s.longest ? { longest: one.longest, run: one.run, key: lane.key } : {};
      sums.set(one.state, { ...one, key: lane.key, ...s, ...most, ns: one.ns + (s?.ns ?? 0), count: one.count + (s?.count ?? 0), merged: one.merged || s?.merged === true });
    }
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/** Marks what was computed from merged intervals. @param {{merged: boolean}} sum */
function about({ merged }) { return merged ? "≈ " : ""; }

/**
 * Creates the table of goroutines' states during the selection. set fills it.
 * @param {App} app
 * @param {string} caption
 * @returns {{element: HTMLElement, set(keys: number[], from: number, to: number): void}}
 */
export function createStateTable(app, caption) {
  const table = createSortable({
    caption, by: "ns", id: (r) => r.name,
    pick: (r) => {
      const { key } = r;
      const lane = app.model.waits.lane(key);
      if (!lane) return;
      app.setView(r.run.t0 - (r.run.t1 - r.run.t0), r.run.t1 + (r.run.t1 - r.run.t0), { animate: true });
      app.selectState({ key, title: goroutineTitle(app.model, key), set: lane.set, run: r.run });
    },
    columns: [
      { key: "name", title: "state", pick: true, value: (r) => r.name, tone: (r) => (r.name === stateText("lock") ? "wait" : "") },
      { key: "ns", title: "time", numeric: true, value: (r) => r.ns, text: (r) => about(r) + app.span(r.ns) },
      { key: "share", title: "of it", numeric: true, value: (r) => r.share, text: (r) => percentText(r.share), share: (r) => r.share, bar: "total" },
      { key: "count", title: "times", numeric: true, value: (r) => (r.merged ? null : r.count), text: (r) => (r.merged ? "-" : thousands(r.count)) },
      { key: "longest", title: "longest", numeric: true, hint: "Click a state to go to its longest interval", value: (r) => r.longest, text: (r) => about(r) + app.span(r.longest) },
    ],
  });
  table.element.classList.add("column");
  return {
    element: table.element,
    set(keys, from, to) {
      const lanes = keys.map((key) => (key === 0 ? null : app.model.waits.lane(key))).filter((lane) => lane !== null);
      table.element.hidden = lanes.length === 0;
      if (lanes.length === 0) return;
      const { set } = lanes[0];
      // The server has sent the states of the visible range.
      const [a, b] = [Math.max(from, set.from), Math.min(to, set.to)];
      const here = b - a < 0.999 * (to - from) ? `${caption}, ${app.span(Math.max(0, b - a))} of it; move the view there to load more` : caption;
      table.set(stateSumsOf(lanes, a, b).map((s) => ({ ...s, name: s.state < 0 ? "too short to be distinguished" : stateText(set.nameOf(s.state)), share: s.ns / Math.max(1, (b - a) * lanes.length) })), here);
    },
  };
}

/**
 * Fills the head and the facts with a selected stretch of a strip.
 * @param {App} app @param {import("../app.js").StateSelection} stretch @param {HTMLElement} head @param {HTMLElement} facts @param {HTMLElement} around
 */
export function drawState(app, stretch, head, facts, around) {
  const { key, title, set, run } = stretch;
  const swatch = make("span", { class: `state-swatch state-${set.nameOf(run.top)}`, "aria-hidden": "true" });
  head.replaceChildren(swatch, make("h2", { text: stateTitle(set, run) }), make("span", { class: "quiet", text: title }),
    make("span", { class: "buttons" }, makeButton("zoom to it", () => app.setView(run.t0, run.t1, { animate: true }), { "data-keep": "zoom" }),
      makeButton("as range", () => app.setRange({ from: run.t0, to: run.t1 }), { "data-keep": "range" })));
  const list = make("dl", { class: "facts" });
  for (const [name, text] of stateFacts(app, set, run, 1000)) {
    if (text !== null) list.append(make("dt", { text: name }), make("dd", { text, class: name === "at" ? "mono" : "" }));
  }
  facts.replaceChildren(list);
  const by = run.j - run.i === 1 ? set.by[run.i] : 0;
  around.replaceChildren();
  if (!by || by === key) return;
  const stack = set.stackOf(set.byStack[run.i]);
  around.append(make("h3", { text: "Woken by" }), makeButton(goroutineTitle(app.model, by), () => {
    app.chooseRow(`g${by}`);
    app.rows.reveal(by, 0);
  }, { class: "link", "data-keep": "waker" }));
  if (stack.length > 0) around.append(make("p", { class: "mono stack", text: stack.join("\n") }));
}
