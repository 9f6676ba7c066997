// What the keys do, by the names that help.js gives to actions.

import { extentOf } from "./model/refs.js";
import { children, longest, neighbour, onRow, parent } from "./model/relate.js";
import { arrange } from "./model/rows.js";

/** @import { App } from "./app.js" */

/**
 * @param {App} app
 * @param {string} action
 * @param {boolean} fast
 * @returns {boolean} whether it did something, so that the browser need not
 */
export function actions(app, action, fast) {
  const { from, to } = app.aim;
  const width = to - from;
  const middle = app.cursor ?? (from + to) / 2;
  switch (action) {
    case "zoom-in":
      app.zoomAt(middle, fast ? 0.35 : 0.75);
      return true;
    case "zoom-out":
      app.zoomAt(middle, fast ? 2.8 : 1.333);
      return true;
    case "pan-left":
      app.pan(-width * (fast ? 0.5 : 0.1));
      return true;
    case "pan-right":
      app.pan(width * (fast ? 0.5 : 0.1));
      return true;
    case "fit":
      return fitSelection(app);
    case "whole":
      app.seeAll();
      return true;
    case "follow":
      app.setFollow(true);
      return true;
    case "search":
      app.searchBox.focus();
      return true;
    case "next-hit":
      return app.searchBox.step(1);
    case "prev-hit":
      return app.searchBox.step(-1);
    case "next-on-row":
    case "prev-on-row":
    case "parent":
    case "child":
    case "next-same":
    case "prev-same":
    case "longest-same":
      return moveSelection(app, action);
    case "range-of-selection":
      if (!app.selection) return false;
      app.setRange(rangeOf(app.selection));
      return true;
    case "mark":
      app.toggleMark(app.cursor ?? (app.selection ? extentOf(app.selection).start : (from + to) / 2));
      return true;
    case "clear":
      clearAll(app);
      return true;
    case "threads":
      app.setBy(app.by === "thread" ? "goroutine" : "thread");
      return true;
    case "states":
      app.nextStateSize();
      return true;
    case "locks":
      app.toggleLocks();
      return true;
    case "collapse":
      return changeRow(app, "shut");
    case "pin":
      return changeRow(app, "pinned");
    case "hide":
      return changeRow(app, "hidden");
    case "details":
    case "summary":
    case "flame":
    case "doctor":
    case "about":
      app.showTab(action);
      document.getElementById(`tab-${action}`)?.focus();
      return true;
    case "text-table":
      app.textView.toggle();
      return true;
    case "theme":
      app.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      return true;
    case "wallclock":
      app.toggleClock();
      return true;
    case "help":
      app.help.toggle();
      return true;
  }
  return false;
}

/** @param {import("./app.js").Selection} ref */
function rangeOf(ref) {
  const { start, end } = extentOf(ref);
  return { from: start, to: end };
}

/** Zooms to the range or the selection; if that is what is shown, to all. @param {App} app */
function fitSelection(app) {
  const what = app.range ?? (app.selection && rangeOf(app.selection));
  const { from, to } = app.aim;
  if (!what || (from <= what.from && what.to <= to && (what.to - what.from) > (to - from) * 0.8)) app.seeAll();
  else app.fit(what.from, what.to);
  return true;
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
    app.announce("there is none");
    return true;
  }
  app.select(to, { reveal: true });
  return true;
}

/** Without a selection the keys begin at the first scope in the view. @param {App} app */
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

/** One thing at a time: what one is at, then what was chosen, then the search. @param {App} app */
function clearAll(app) {
  const at = document.activeElement;
  if (at instanceof HTMLInputElement) {
    at.blur();
    if (at.id === "search-text" && at.value !== "") return app.searchBox.set("");
  }
  if (app.range) app.setRange(null);
  else if (app.selection) app.select(null);
  else app.searchBox.set("");
}

/** @param {App} app @param {"shut"|"pinned"|"hidden"} set */
function changeRow(app, set) {
  if (!app.chosenRow) {
    const first = arrange(app.model.rows(app.by), app.model.meta.names ?? []).length;
    app.announce(first ? "choose a row first: click it, or select a scope" : "there are no rows");
    return true;
  }
  app.toggleRow(set, app.chosenRow);
  return true;
}
