// Keeps the view's state in the page's address, and each step in the browser's history, so
// that Back and Forward go through the steps like the keys.

import { decodeState, encodeState } from "./state.js";
import { viewOfAll } from "./view/viewport.js";

/** @import { Page } from "./app.js" */

/** The time in ms without a change after which a step is complete; a single turn of the wheel is not a step. */
const settleMs = 700;

/** The maximum number of rows of an area that is stored: browsers truncate addresses. */
const mostAreaRows = 500;

/** The maximum number of opened groups that is stored. */
const mostOpened = 200;

/** Returns the state to store in the address. @param {Page} app @returns {import("./state.js").ViewState} */
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
    hidden: [...choices.hidden], pinned: [...choices.pinned], shut: [...choices.shut], opened: [...choices.opened].slice(0, mostOpened),
    row: ref === null && app.stateSelection === null && app.tab === "details" ? app.chosenRow || undefined : undefined,
  };
}

/** @param {import("./model/model.js").Model} model @param {import("./app.js").Selection} ref */
function keyOfItem(model, ref) {
  const { key, depth } = model.place(ref, "goroutine");
  return { key, depth, start: ref.batch.start[ref.i] };
}

/**
 * Returns the keeper of the steps. Call keep after each change, and begin once, when the
 * page is ready. go moves to the previous step (-1) or the next one (1).
 * @param {Page} app
 * @param {(s: import("./state.js").ViewState, follow: boolean) => void} restore
 */
export function addressKeeper(app, restore) {
  let timer = 0;
  let stepNumber = 0; // number of the step that is shown
  let newest = 0;
  let savedState = ""; // contents of that step
  /** The contents of a step. Without the view while it follows a growing trace, which changes by itself. */
  const step = () => encodeState({ ...shownState(app), view: app.follow ? undefined : { from: app.aim.from, to: app.aim.to } });

  function settle() {
    clearTimeout(timer);
    timer = 0;
    const now = step();
    const another = now !== savedState;
    savedState = now;
    if (another) newest = ++stepNumber;
    try {
      history[another ? "pushState" : "replaceState"]({ stepNumber, follow: app.follow }, "", `#${encodeState(shownState(app))}`);
    } catch {} // an embedded page may have no address of its own
  }

  /** @param {PopStateEvent} e */
  function arrive(e) {
    if (e.state?.stepNumber === undefined) newest = ++stepNumber; // a pasted link
    else stepNumber = e.state.stepNumber;
    restore(decodeState(location.hash.slice(1)), e.state?.follow === true);
    savedState = step();
    settle();
  }

  return {
    keep() {
      clearTimeout(timer);
      timer = window.setTimeout(settle, settleMs);
    },
    begin() {
      stepNumber = newest = history.state?.stepNumber ?? 0;
      savedState = step();
      settle();
      window.addEventListener("popstate", arrive);
    },
    /** The link to the current state. */
    link() { return `${location.href.split("#")[0]}#${encodeState(shownState(app))}`; },
    /** @param {1|-1} dir */
    go(dir) {
      if (timer) settle();
      if (stepNumber + dir < 0 || stepNumber + dir > newest) return app.announce(dir < 0 ? "nothing to undo" : "nothing to redo", true);
      app.announce(dir < 0 ? "undone" : "redone");
      history.go(dir);
    },
  };
}
