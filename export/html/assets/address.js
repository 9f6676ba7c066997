// Keeps what is shown in the address, and each step to it in the browser's history: so
// Back and Forward lead through the steps, as the keys do.

import { decodeState, encodeState } from "./state.js";
import { viewOfAll } from "./view/viewport.js";

/** @import { Page } from "./app.js" */

/** So long after the last change a step is over, in ms: a turn of the wheel is none by itself. */
const settles = 700;

/** The rows of a larger area are not kept: browsers cut addresses. */
const mostAreaRows = 500;

/** Returns what the address is to say. @param {Page} app @returns {import("./state.js").ViewState} */
function shownState(app) {
  const { model, aim, range, choices, selection: ref } = app;
  const all = viewOfAll(model);
  return {
    view: app.follow || (aim.from === all.from && aim.to >= Math.max(model.end, model.reach?.to ?? 0)) ? undefined : { from: Math.max(0, aim.from), to: aim.to },
    range: range ? { from: Math.max(0, range.from), to: Math.max(0, range.to) } : undefined,
    area: app.area && app.area.size <= mostAreaRows ? [...app.area] : undefined,
    selection: ref ? keyOfItem(model, ref) : undefined,
    search: app.searchBox?.text() || undefined,
    rows: choices.filter || undefined,
    sort: choices.sort === "name" ? undefined : choices.sort, oneLine: choices.oneLine || undefined, collapsed: choices.collapsed || undefined,
    threads: app.by === "thread" || undefined,
    wall: app.wall || undefined,
    whole: app.whole || undefined,
    name: app.runsOf || undefined,
    long: app.brush ? { from: app.brush.lo, to: app.brush.hi } : undefined,
    marks: app.marks.map((m) => ({ ...m, from: Math.max(0, m.from), to: Math.max(0, m.to) })),
    tab: app.tab === (ref ? "details" : "summary") ? undefined : app.tab,
    finding: app.tab === "doctor" ? app.finding || undefined : undefined,
    path: app.path || undefined,
    states: choices.states === "thin" ? undefined : choices.states,
    nolocks: choices.locks ? undefined : true, noprocs: choices.procs ? undefined : true,
    graphs: app.graphs === "usual" ? undefined : app.graphs,
    request: app.request || undefined, only: choices.only !== null || undefined, flows: app.flows || undefined,
    compared: app.compared || undefined, shift: app.shift || undefined,
    color: choices.colorBy === "name" ? undefined : choices.colorBy,
    func: app.calls.func || undefined, metric: app.calls.metric || undefined, scope: app.calls.scope || undefined,
    executions: app.calls.executions === "all" ? undefined : app.calls.executions, of: app.calls.rows === "all" ? undefined : app.calls.rows === "chosen" && app.chosenRow.startsWith("g") ? app.chosenRow : app.calls.rows,
    hidden: [...choices.hidden], pinned: [...choices.pinned], shut: [...choices.shut],
  };
}

/** @param {import("./model/model.js").Model} model @param {import("./app.js").Selection} ref */
function keyOfItem(model, ref) {
  const { key, depth } = model.place(ref, "goroutine");
  return { key, depth, start: ref.batch.start[ref.i] };
}

/**
 * Keeps the steps. keep is to be called after each change, begin once, when the page is
 * there. go leads to a step before (-1) or behind (1).
 * @param {Page} app
 * @param {(s: import("./state.js").ViewState, follow: boolean) => void} restore
 */
export function addressKeeper(app, restore) {
  let timer = 0;
  let place = 0; // of the step that is shown
  let newest = 0;
  let had = ""; // that step
  /** What makes a step. Of a growing trace the whole is another each time, though nobody has moved. */
  const step = () => encodeState({ ...shownState(app), view: app.follow ? undefined : { from: app.aim.from, to: app.aim.to } });

  function settle() {
    clearTimeout(timer);
    timer = 0;
    const now = step();
    const another = now !== had;
    had = now;
    if (another) newest = ++place;
    try {
      history[another ? "pushState" : "replaceState"]({ place, follow: app.follow }, "", `#${encodeState(shownState(app))}`);
    } catch {} // a page within another may have no address of its own
  }

  /** @param {PopStateEvent} e */
  function arrive(e) {
    if (e.state?.place === undefined) newest = ++place; // a link that was pasted
    else place = e.state.place;
    restore(decodeState(location.hash.slice(1)), e.state?.follow === true);
    had = step();
    settle();
  }

  return {
    keep() {
      clearTimeout(timer);
      timer = window.setTimeout(settle, settles);
    },
    begin() {
      place = newest = history.state?.place ?? 0;
      had = step();
      settle();
      window.addEventListener("popstate", arrive);
    },
    /** The link to what is shown. */
    link() { return `${location.href.split("#")[0]}#${encodeState(shownState(app))}`; },
    /** @param {1|-1} dir */
    go(dir) {
      if (timer) settle();
      if (place + dir < 0 || place + dir > newest) return app.announce(dir < 0 ? "there is nothing to take back" : "there is nothing to do again", true);
      app.announce(dir < 0 ? "taken back" : "done again");
      history.go(dir);
    },
  };
}
