// The commands that change which rows are shown, and how much of each. Each announces its result to screen readers.

import { isShut, pinLimit, showMore } from "./view/layout.js";

/** @import { Page } from "./app.js" */

/** The announcements for adding a row to a set of the choices, and for removing it. */
const rowWords = {
  hidden: ["hidden", "shown again"], pinned: ["pinned to the top", "no longer pinned"], shut: ["collapsed", "expanded"],
  opened: ["its rows are shown", "its rows are folded"], full: ["all lines are shown", "the usual lines are shown"],
};

/** @param {Page} app @param {() => void} relayout lays the rows out again */
export function rowCommands(app, relayout) {
  const { choices } = app;
  return {
    /**
     * Adds a row, a group or a lock to a set of the choices, or removes it.
     * @param {"hidden"|"pinned"|"shut"|"opened"|"full"} set @param {string} id
     */
    toggleRow(set, id) {
      const { kind, title } = app.rows?.stripOf(id) ?? { kind: "row", title: id };
      if ((kind === "group" || kind === "process") && set === "pinned") return app.announce(`${title} is a group: pin its rows instead`);
      if (kind === "group" && set === "shut") set = "opened"; // to fold it
      if (!choices[set].delete(id)) choices[set].add(id);
      relayout();
      const [done, undone] = rowWords[set];
      const on = set === "shut" ? isShut(choices, id) : choices[set].has(id);
      const scrolls = set === "pinned" && on && !app.rows?.sticks(id);
      app.announce(`${title}: ${on ? done : undone}${scrolls ? `; it scrolls with the others, because ${pinLimit}` : ""}`);
    },
    /** Collapses all rows and groups, or expands them if nothing is open. */
    collapseAll() {
      choices.collapsed = !choices.collapsed || choices.shut.size > 0 || choices.opened.size > 0;
      choices.shut.clear();
      choices.opened = new Set(choices.collapsed ? [] : app.arranged.flatMap((a) => (a.kind === "group" ? [a.id] : [])));
      app.announce(choices.collapsed ? "all rows are collapsed" : "all rows are expanded");
      relayout();
    },
    toggleOneLine() {
      choices.oneLine = !choices.oneLine;
      app.announce(choices.oneLine ? "one line for each row" : "all lines of the rows");
      app.notify("filter");
      relayout();
    },
    /** @param {import("./model/rows.js").RowOrder} order */
    sortRows(order) {
      choices.sort = order;
      app.announce(`rows by ${order}`);
      app.notify("filter");
      relayout();
    },
    /** @param {string} id of a group @param {boolean} all show all, not one more step */
    showMore(id, all = false) {
      if (all) choices.shown.set(id, Infinity);
      else showMore(choices, id);
      relayout();
    },
    showHidden() {
      choices.hidden.clear();
      app.announce("all rows are shown");
      relayout();
    },
    /** Shows a row of a group. @param {string} group @param {number} place in the group */
    openGroup(group, place) {
      choices.opened.add(group);
      showMore(choices, group, place);
      relayout();
    },
    /** Shows a row's line of a depth. @param {string} id @param {boolean} deep */
    openRow(id, deep) {
      choices.oneLine = false;
      expand(id);
      if (deep) choices.full.add(id);
      relayout();
    },
    /** Shows a hidden row or group. @param {string} id */
    unhide(id) {
      choices.hidden.delete(id);
      relayout();
    },
    /** Shows the row of a lock. @param {string} id @param {number} place among the locks */
    openLock(id, place) {
      choices.hidden.delete(id);
      expand("locks");
      choices.locks = true;
      showMore(choices, "locks", place);
      relayout();
    },
    /** @param {string} text */
    filterRows(text) {
      choices.filter = text;
      app.notify("filter");
      relayout();
    },
  };

  /** @param {string} id */
  function expand(id) {
    if (isShut(choices, id) && !choices.shut.delete(id)) choices.shut.add(id);
  }
}
