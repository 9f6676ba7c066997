// What goroutines are called: by their own name, else by the function in which they began, with their number behind it.

import { shortFunc, shortText } from "../data/names.js";
import { ownGoroutine } from "./processes.js";
import { rowTitle } from "./rowset.js";

/** @typedef {import("./model.js").Model} Model */

/** Returns the function in which a goroutine began; "": unknown. @param {Model} model @param {number} key */
export function startFunc(model, key) { return model.waits?.lane(key)?.func ?? ""; }

/** Returns the title of a goroutine without a name. @param {Model} model @param {number} key */
export function unnamedTitle(model, key) {
  const func = key === 0 ? "" : startFunc(model, key);
  const id = ownGoroutine(model.meta, key);
  return func === "" ? rowTitle("goroutine", id) : `${shortFunc(func)} ${id}`;
}

/** Returns the title of a goroutine's row. @param {Model} model @param {number} key */
export function goroutineTitle(model, key) {
  const row = model.goroutines.rows.get(key);
  return (row && row.nameId !== 0 && shortText(model.name(row.nameId))) || unnamedTitle(model, key);
}
