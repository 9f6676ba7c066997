// The commands that change the selection of the tabs below the rows.

import { Brush } from "./model/brush.js";

/** @import { Page, Selection } from "./app.js" */

/** @param {string} id */
function isHidden(id) { return document.getElementById(id)?.hidden === true; }

/**
 * @param {Page} app
 * @param {{select: (ref: Selection|null) => void, showTab: (tab: import("./state.js").Tab) => void, redraw: () => void, stateChanged: () => void, relayout: () => void}} to
 */
export function panelCommands(app, { select, showTab, redraw, stateChanged, relayout }) {
  const { model } = app;
  return {
    /** Shows the executions of a name. @param {string} name */
    showRuns(name) {
      app.runsOf = name;
      app.brush = null;
      if (app.selection && model.name(app.selection.batch.name[app.selection.i]) !== name) select(null);
      showTab("runs");
      redraw();
    },
    /** Chooses a row or a group of rows and shows what its goroutines did. @param {string} id */
    showRow(id) {
      select(null);
      app.chosenRow = id;
      showTab("details");
      stateChanged();
    },
    /** Highlights the executions with durations in a range; null: none. @param {{lo: number, hi: number}|null} long */
    brushRuns(long) {
      app.brush = long && new Brush(model, app.runsOf, long.lo, long.hi);
      app.notify("range");
      stateChanged();
    },
    /** Sets whether sums count whole scopes or only their parts inside the range. @param {boolean} on */
    setWhole(on) {
      app.whole = on;
      app.notify("range");
      app.keepState();
    },
    /** Shows or hides the panel below the rows. @param {boolean} show */
    togglePanel(show = isHidden("panel")) {
      if (show !== isHidden("panel")) return;
      if (!show && document.activeElement?.closest("#panel, #divider")) app.rows.element.focus();
      for (const id of ["panel", "divider"]) /** @type {HTMLElement} */ (document.getElementById(id)).hidden = !show;
      app.announce(show ? "panel shown" : "panel hidden");
      app.notify("tab");
      relayout();
    },
    /** Changes the selection of the function tabs. @param {Partial<import("./model/calls.js").CallChoices>} change */
    chooseCalls(change) {
      app.calls = { ...app.calls, ...change };
      app.notify("calls");
      app.keepState();
    },
    /** Shows a function in a tab. @param {string} func its whole name @param {import("./state.js").Tab} tab */
    showFunc(func, tab) {
      app.calls = { ...app.calls, func };
      if (app.tab === tab) app.notify("calls");
      else showTab(tab);
      app.keepState();
    },
    /** Chooses a finding of the doctor. @param {string} id */
    chooseFinding(id) {
      app.finding = id;
      app.showFindingPlace = false;
      app.keepState();
    },
    /** Sets the trace to compare with. @param {import("./model/model.js").Model|null} other */
    setOther(other) {
      app.other = other;
      app.notify("other");
    },
    /** Sets the time shift of the other trace's rows. @param {number} shift ns */
    shiftOther(shift) {
      app.shift = shift;
      stateChanged();
    },
    /** Selects a name for comparing its two sides. @param {string} name */
    compareName(name) {
      app.compared = name;
      app.notify("other");
      app.keepState();
    },
    /** Switches the critical path on the rows on or off. */
    togglePath() {
      app.path = !app.path;
      if (app.path && !model.doctor) model.askDoctor();
      const known = model.doctor?.critical_path?.some((p) => p.steps?.length);
      app.announce(!app.path ? "the critical path is hidden" : known ? "the critical path is shown" : "the critical path is unknown: it needs Go's execution trace");
      app.notify("path");
      stateChanged();
    },
  };
}
