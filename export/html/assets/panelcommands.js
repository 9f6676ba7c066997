// The commands that change the selection of the tabs below the rows.

import { Brush } from "./model/brush.js";
import { goroutineTitle } from "./model/titles.js";
import { viewThatShows } from "./view/viewport.js";
import { stateAt } from "./view/waitfacts.js";

/** @import { Page, Selection } from "./app.js" */

/** @param {string} id */
function isHidden(id) { return document.getElementById(id)?.hidden === true; }

/**
 * @param {Page} app
 * @param {{select: (ref: Selection|null, how?: {reveal?: boolean}) => void, selectState: (stretch: import("./app.js").StateSelection) => void, moveTo: (view: import("./app.js").Stretch) => void, showTab: (tab: import("./state.js").Tab) => void, redraw: () => void, stateChanged: () => void, relayout: () => void}} to
 */
export function panelCommands(app, { select, selectState, moveTo, showTab, redraw, stateChanged, relayout }) {
  const { model } = app;
  /** The place of an answer whose bar is not loaded yet; undefined: there was none yet. @type {import("./model/answertrack.js").AnswerPlace|null|undefined} */
  let sought;

  /** Selects what begins at a place of an answer; false: no such bar is loaded. */
  function selectPlace({ start, goroutine, depth, name }) {
    const ref = goroutine ? model.find(goroutine, depth, start) : null;
    if (!ref || name !== "" && model.name(ref.batch.name[ref.i]) !== name) return false;
    select(ref, { reveal: true });
    return true;
  }
  /** Selects what begins at a place once it is loaded, unless the view has moved away by then. @param {import("./model/answertrack.js").AnswerPlace} place */
  function seek(place) {
    if (sought === undefined) {
      app.on("model", () => {
        if (sought && app.aim.from <= sought.start && sought.start <= app.aim.to && !selectPlace(sought)) return;
        sought = null;
      });
    }
    sought = place;
  }
  return {
    /** Shows the executions of a name. @param {string} name */
    showRuns(name) {
      app.runsOf = name;
      app.brush = null;
      if (app.selection && model.name(app.selection.batch.name[app.selection.i]) !== name) select(null);
      showTab("runs");
      redraw();
    },
    /**
     * Goes to the place of a row of an answer and selects what begins there: a scope, a wait, else the goroutine's state.
     * @param {import("./model/answertrack.js").AnswerPlace} place
     */
    showAnswerPlace(place) {
      const { start, dur, goroutine } = place;
      if (sought) sought = null;
      if (selectPlace(place)) return;
      const view = viewThatShows(app.aim, start, start + dur);
      if (view) moveTo(view);
      if (goroutine) app.rows.reveal(goroutine, 0);
      const lane = goroutine ? model.waits.lane(goroutine) : null;
      const run = lane && stateAt(lane, start + dur / 2, 1);
      if (lane && run && place.name === "") return selectState({ key: goroutine, title: goroutineTitle(model, goroutine), set: lane.set, run });
      const loading = goroutine > 0 && model.reduced;
      if (loading) seek(place);
      app.announce(`${app.time(start)}${loading ? ": its bar is being loaded" : ""}`, true);
    },
    /** Draws an answer above the rows. @param {import("./model/answertrack.js").AnswerTrack} track */
    addAnswerTrack(track) {
      model.answers.push(track);
      relayout();
      app.rows.element.scrollTop = 0;
      app.announce(`${track.title} is drawn above the rows`, true);
    },
    /** @param {string} id of a track of an answer */
    removeAnswerTrack(id) {
      model.answers = model.answers.filter((track) => track.id !== id);
      relayout();
      app.announce("the track is removed");
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
