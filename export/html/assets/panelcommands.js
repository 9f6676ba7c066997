// The commands that change what the tabs below the rows look at.

import { Brush } from "./model/brush.js";

/** @import { Page, Selection } from "./app.js" */

/** @param {string} id */
function isHidden(id) { return document.getElementById(id)?.hidden === true; }

/**
 * @param {Page} app
 * @param {{select: (ref: Selection|null) => void, showTab: (tab: import("./state.js").Tab) => void, redraw: () => void, kept: () => void, relayout: () => void}} to
 */
export function panelCommands(app, { select, showTab, redraw, kept, relayout }) {
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
    /** Lights those of them that take so long; null: none. @param {{lo: number, hi: number}|null} long */
    brushRuns(long) {
      app.brush = long && new Brush(model, app.runsOf, long.lo, long.hi);
      app.tell("range");
      kept();
    },
    /** @param {boolean} on sums of a range are of whole scopes, not of what lies in it */
    setWhole(on) {
      app.whole = on;
      app.tell("range");
      app.keepState();
    },
    /** Shows the panel below the rows, or not. @param {boolean} show */
    togglePanel(show = isHidden("panel")) {
      if (show !== isHidden("panel")) return;
      if (!show && document.activeElement?.closest("#panel, #divider")) app.rows.element.focus();
      for (const id of ["panel", "divider"]) /** @type {HTMLElement} */ (document.getElementById(id)).hidden = !show;
      app.announce(show ? "panel shown" : "panel hidden");
      app.tell("tab");
      relayout();
    },
    /** Changes what the tabs of functions look at. @param {Partial<import("./model/calls.js").CallChoices>} change */
    chooseCalls(change) {
      app.calls = { ...app.calls, ...change };
      app.tell("calls");
      app.keepState();
    },
    /** Looks at a function in a tab. @param {string} func its whole name @param {import("./state.js").Tab} tab */
    showFunc(func, tab) {
      app.calls = { ...app.calls, func };
      if (app.tab === tab) app.tell("calls");
      else showTab(tab);
      app.keepState();
    },
    /** Chooses a finding of the doctor. @param {string} id */
    chooseFinding(id) {
      app.finding = id;
      app.jump = false;
      app.keepState();
    },
    /** Has another trace to compare with. @param {import("./model/model.js").Model|null} other */
    setOther(other) {
      app.other = other;
      app.tell("other");
    },
    /** Sets the other trace's rows so much earlier. @param {number} shift ns */
    shiftOther(shift) {
      app.shift = shift;
      kept();
    },
    /** Looks at the two sides of a name. @param {string} name */
    compareName(name) {
      app.compared = name;
      app.tell("other");
      app.keepState();
    },
    /** Draws the critical path on the rows, or not. */
    togglePath() {
      app.path = !app.path;
      if (app.path && !model.doctor) model.askDoctor();
      const known = model.doctor?.critical_path?.some((p) => p.steps?.length);
      app.announce(!app.path ? "the critical path is not drawn" : known ? "the critical path is drawn" : "the critical path is not known: it takes Go's execution trace");
      app.tell("path");
      kept();
    },
  };
}
