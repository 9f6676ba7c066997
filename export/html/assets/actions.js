// The implementation of the actions that help.js assigns to keys, by name.

import { extentOf } from "./model/refs.js";
import { children, longest, neighbour, onRow, parent } from "./model/relate.js";
import { copyText } from "./panel/copy.js";
import { longestMarkName, tabs } from "./state.js";
import { rememberTheme } from "./view/theme.js";

/** @import { App } from "./app.js" */

/**
 * The functions of the actions, except those that show a tab. A function that returns false did nothing.
 * @type {Record<string, (app: App, fast: boolean) => boolean|void>}
 */
export const actionFunctions = {
  "zoom-in": (app, fast) => app.zoomAt(pointed(app), fast ? 0.35 : 0.75),
  "zoom-out": (app, fast) => app.zoomAt(pointed(app), fast ? 2.8 : 1.333),
  "pan-left": (app, fast) => app.pan(-(app.aim.to - app.aim.from) * (fast ? 0.5 : 0.1)),
  "pan-right": (app, fast) => app.pan((app.aim.to - app.aim.from) * (fast ? 0.5 : 0.1)),
  fit: (app) => fitSelection(app),
  whole: (app) => app.seeAll(),
  follow: (app) => app.setFollow(true),
  search: (app) => app.searchBox.focus(),
  "next-hit": (app) => app.searchBox.step(1),
  "prev-hit": (app) => app.searchBox.step(-1),
  "next-on-row": (app) => moveSelection(app, "next-on-row"),
  "prev-on-row": (app) => moveSelection(app, "prev-on-row"),
  parent: (app) => moveSelection(app, "parent"),
  child: (app) => moveSelection(app, "child"),
  "next-same": (app) => moveSelection(app, "next-same"),
  "prev-same": (app) => moveSelection(app, "prev-same"),
  "longest-same": (app) => moveSelection(app, "longest-same"),
  blocker: (app) => app.followWaits(false),
  root: (app) => app.followWaits(true),
  "range-of-selection": (app) => (app.selection ? app.setRange(rangeOf(app.selection)) : false),
  mark: (app) => app.toggleMark(app.cursor ?? (app.selection ? extentOf(app.selection).start : pointed(app))),
  note: (app) => noteSelection(app),
  "next-mark": (app) => app.stepMark(1),
  "prev-mark": (app) => app.stepMark(-1),
  clear: (app) => clearAll(app),
  back: (app) => app.steps.go(-1),
  forward: (app) => app.steps.go(1),
  threads: (app) => void app.setBy(app.by === "thread" ? "goroutine" : "thread"),
  states: (app) => app.nextStateSize(),
  locks: (app) => app.toggleLocks(),
  path: (app) => app.togglePath(),
  flows: (app) => app.toggleFlows(),
  "only-request": (app) => app.toggleOnly(),
  processors: (app) => app.toggleProcs(),
  graphs: (app) => app.nextGraphs(),
  collapse: (app) => changeRow(app, "shut"),
  "collapse-all": (app) => app.collapseAll(),
  "one-line": (app) => app.toggleOneLine(),
  pin: (app) => changeRow(app, "pinned"),
  hide: (app) => changeRow(app, "hidden"),
  "text-table": (app) => app.textView.toggle(),
  theme: (app) => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    app.setTheme(theme);
    rememberTheme(theme);
  },
  panel: (app) => app.togglePanel(),
  "copy-link": (app) => void copyText(app, app.steps.link(), "a link to this view"),
  wallclock: (app) => app.toggleClock(),
  palette: (app) => app.palette.open(),
  help: (app) => app.help.toggle(),
  align: (app) => (app.pair ? app.pair.alignSelected() : app.announce("no other trace is open; press J to open one", true)),
};

/** The actions that apply to the selection, including a selection in the other trace. */
const ofSelection = new Set(["fit", "next-on-row", "prev-on-row", "parent", "child", "next-same", "prev-same", "longest-same", "blocker", "root", "range-of-selection", "clear"]);

/**
 * @param {App} app
 * @param {string} action the name of one of these actions, or of a tab
 * @param {boolean} fast
 * @returns {boolean} whether it did something, so that the browser need not
 */
export function actions(app, action, fast) {
  if (app.pair?.chosen && ofSelection.has(action)) app = app.pair.app;
  const tab = tabs.find((name) => name === action);
  if (tab === undefined) return actionFunctions[action] !== undefined && actionFunctions[action](app, fast) !== false;
  if (tab === "request" && !app.model.requests.any) {
    app.announce("no scope of this trace is part of a request", true);
    return true;
  }
  app.togglePanel(true);
  app.showTab(tab);
  document.getElementById(`tab-${tab}`)?.focus();
  return true;
}

/**
 * Returns the time at the mouse pointer after the view has reached its aim; without a pointer, the middle of the view.
 * @param {App} app
 */
function pointed({ aim, pointer }) { return aim.from + (pointer ?? 0.5) * (aim.to - aim.from); }

/** @param {import("./app.js").Selection} ref */
function rangeOf(ref) {
  const { start, end } = extentOf(ref);
  return { from: start, to: end };
}

/** Zooms to the range or the selection; if it fills the view already, to the whole trace. @param {App} app */
function fitSelection(app) {
  const what = app.range ?? (app.selection && rangeOf(app.selection));
  const { from, to } = app.aim;
  if (!what || (from <= what.from && what.to <= to && (what.to - what.from) > (to - from) * 0.8)) app.seeAll();
  else app.fit(what.from, what.to);
  return true;
}

/** Marks the time of the range or the selection, and opens the mark's name for editing. @param {App} app */
function noteSelection(app) {
  const what = app.range ?? (app.selection && rangeOf(app.selection));
  if (!what) return app.announce("select a scope or a range first", true);
  const name = app.selection && !app.range ? app.model.name(app.selection.batch.name[app.selection.i]) : "";
  const mark = { from: what.from, to: what.to, name: name.slice(0, longestMarkName) };
  app.putMark(mark);
  actions(app, "about", false);
  /** @type {HTMLInputElement|undefined} */ (document.querySelectorAll(".marks input")[app.marks.indexOf(mark)])?.select();
}

/** @param {App} app @param {string} action */
function moveSelection(app, action) {
  const ref = app.selection;
  if (!ref) return selectFirst(app);
  const { model } = app;
  const to = {
    "next-on-row": () => onRow(model, ref, 1, app.by),
    "prev-on-row": () => onRow(model, ref, -1, app.by),
    parent: () => parent(model, ref),
    child: () => children(model, ref, 1)[0],
    "next-same": () => neighbour(model, ref, 1),
    "prev-same": () => neighbour(model, ref, -1),
    "longest-same": () => longest(model, ref.batch.name[ref.i]),
  }[action]?.();
  if (!to) {
    app.announce("no such scope");
    return true;
  }
  app.select(to, { reveal: true });
  return true;
}

/** Selects the first scope in the view, where the keys start without a selection. @param {App} app */
function selectFirst(app) {
  for (const row of app.model.rows(app.by)) {
    const lane = row.lanes[0];
    /** @type {import("./app.js").Selection|null} */
    let first = null;
    if (lane) {
      app.model.eachBar(lane, app.aim.from, app.aim.to, 0, ({ batch, i }) => { first ??= { batch, i }; });
    }
    if (first) {
      app.select(first, { reveal: true });
      return true;
    }
  }
  return true;
}

/** Clears one thing: the focused control, then the selection or range, then the search. @param {App} app */
function clearAll(app) {
  const at = document.activeElement;
  if (at instanceof HTMLInputElement) {
    at.blur();
    if (at.id === "search-text" && at.value !== "") return app.searchBox.set("");
  }
  if (app.brush) app.brushRuns(null);
  else if (app.range) app.setRange(null);
  else if (app.selection) app.select(null);
  else if (app.request) app.showRequest("");
  else app.searchBox.set("");
}

/** @param {App} app @param {"shut"|"pinned"|"hidden"} set */
function changeRow(app, set) {
  if (!app.chosenRow) {
    const first = app.model.rows(app.by).length;
    app.announce(first ? "choose a row first: click it, or select a scope" : "there are no rows");
    return true;
  }
  app.toggleRow(set, app.chosenRow);
  return true;
}
