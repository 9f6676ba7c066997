// The commands that change which rows are shown, and how much of each.

import { showMore } from "./view/layout.js";

/** @param {import("./view/layout.js").RowChoices} choices @param {() => void} relayout arranges the rows anew */
export function rowCommands(choices, relayout) {
  return {
    /** Puts a row, a group or a lock into a set of the choices, or takes it out. @param {"hidden"|"pinned"|"shut"|"opened"|"full"} set @param {string} id */
    toggleRow(set, id) {
      if (!choices[set].delete(id)) choices[set].add(id);
      relayout();
    },
    /** @param {string} id of a group */
    showMore(id) {
      showMore(choices, id);
      relayout();
    },
    showHidden() {
      choices.hidden.clear();
      relayout();
    },
    /** Has a row of a group among those that are shown. @param {string} group @param {number} place in the group */
    openGroup(group, place) {
      choices.opened.add(group);
      showMore(choices, group, place);
      relayout();
    },
    /** Has a row's line of a depth shown. @param {string} id @param {boolean} deep */
    openRow(id, deep) {
      choices.shut.delete(id);
      if (deep) choices.full.add(id);
      relayout();
    },
    /** Has a row shown that was hidden. @param {string} id */
    unhide(id) {
      choices.hidden.delete(id);
      relayout();
    },
    /** Has the row of a lock shown. @param {string} id @param {number} place among the locks */
    openLock(id, place) {
      choices.hidden.delete(id);
      choices.shut.delete("locks");
      choices.locks = true;
      showMore(choices, "locks", place);
      relayout();
    },
    /** @param {string} text */
    filterRows(text) {
      choices.filter = text;
      relayout();
    },
  };
}
