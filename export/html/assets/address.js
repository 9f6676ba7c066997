// Keeps what is shown in the address.

import { encodeState } from "./state.js";
import { viewOfAll } from "./view/viewport.js";

/** @import { Page } from "./app.js" */

/** Returns what the address is to say. @param {Page} app @returns {import("./state.js").ViewState} */
function shownState(app) {
  const { model, aim, range, choices, selection: ref } = app;
  const all = viewOfAll(model);
  return {
    view: app.follow || (aim.from === all.from && aim.to >= model.end) ? undefined : { from: Math.max(0, aim.from), to: aim.to },
    range: range ? { from: Math.max(0, range.from), to: Math.max(0, range.to) } : undefined,
    selection: ref ? keyOfItem(model, ref) : undefined,
    search: app.searchBox?.text() || undefined,
    rows: choices.filter || undefined,
    threads: app.by === "thread" || undefined,
    wall: app.wall || undefined,
    marks: app.marks,
    tab: app.tab === "summary" ? undefined : app.tab,
    finding: app.tab === "doctor" ? app.finding || undefined : undefined,
    states: choices.states === "thin" ? undefined : choices.states,
    nolocks: choices.locks ? undefined : true,
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

/** Returns what keeps the address up to date once it is called. @param {Page} app @returns {() => void} */
export function addressKeeper(app) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => history.replaceState(null, "", `#${encodeState(shownState(app))}`), 250);
  };
}
