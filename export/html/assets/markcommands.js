// The commands that set, name and visit marks.

import { longestMarkName, mostMarks } from "./state.js";
import { span } from "./view/numbers.js";
import { viewAround, viewThatShows } from "./view/viewport.js";

/** @import { Page, Stretch } from "./app.js" */
/** @import { Mark } from "./state.js" */

/**
 * @param {Page} app
 * @param {() => void} stateChanged what the address keeps has changed
 * @param {(view: Stretch) => void} moveTo
 */
export function markCommands(app, stateChanged, moveTo) {
  /** @type {Mark|null} */
  let visited = null;

  function changed() {
    app.marks.sort((a, b) => a.from - b.from || a.to - b.to);
    app.notify("marks");
    stateChanged();
  }

  /** @param {Mark} mark */
  function putMark(mark) {
    if (app.marks.length >= mostMarks) return app.announce(`at most ${mostMarks} marks are possible; remove one first`, true);
    app.marks.push(mark);
    app.announce(mark.from === mark.to ? `marked ${app.time(mark.from)}` : `marked ${span(mark.to - mark.from)} from ${app.time(mark.from)}`);
    changed();
  }

  /** @param {Mark} mark */
  function removeMark(mark) {
    app.marks.splice(app.marks.indexOf(mark), 1);
    app.announce("mark removed");
    changed();
  }

  /**
   * Visits a mark.
   * @param {Mark} mark
   * @param {boolean} middle center it, or fit it to the view, even if it is visible
   */
  function visitMark(mark, middle = false) {
    visited = mark;
    const { from, to } = mark;
    const half = (app.aim.to - app.aim.from) / 2;
    const view = !middle ? viewThatShows(app.aim, from, to) : from < to ? viewAround(from, to) : { from: from - half, to: from + half };
    if (view) moveTo(view);
    app.announce(`${mark.name || "mark"}, at ${app.time(mark.from)}`);
  }

  return {
    putMark, removeMark, visitMark,
    /** Sets a mark at time t, or removes the one there. @param {number} t */
    toggleMark(t) {
      const near = (app.view.to - app.view.from) / 150;
      const there = app.marks.find((m) => m.from === m.to && Math.abs(m.from - t) < near);
      if (there) removeMark(there);
      else putMark({ from: t, to: t, name: "" });
    },
    /** @param {Mark} mark @param {string} name */
    nameMark(mark, name) {
      mark.name = name.slice(0, longestMarkName);
      stateChanged();
    },
    /** Goes to the next mark (1) or the previous one (-1). @param {1|-1} dir */
    stepMark(dir) {
      const { marks, aim } = app;
      const was = visited && aim.from <= visited.from && visited.from <= aim.to ? marks.indexOf(visited) : -1;
      const middle = (aim.from + aim.to) / 2;
      const next = was >= 0 ? marks[was + dir] : dir > 0 ? marks.find((m) => m.from > middle) : marks.filter((m) => m.from < middle).at(-1);
      if (next) visitMark(next);
      else app.announce(marks.length === 0 ? "no marks yet; press M to set one" : "no further mark", true);
    },
  };
}
