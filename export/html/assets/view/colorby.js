// What the colours of scopes tell: their names, or on request their rows, their threads or
// the values of one of their arguments.

import { argsList } from "../data/args.js";
import { colorOf } from "./color.js";
import { rowTitle } from "../model/rowset.js";

/**
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("../model/model.js").Model} Model
 */

/** What comes before the key of an argument. */
const argument = "argument ";
/** So many texts of arguments are looked at for their keys, and so many keys are told. */
const mostTexts = 2000;
const mostKeys = 30;

/** The color of each text of a batch's arguments, by what is asked for. @type {WeakMap<Batch, {by: string, colors: (string|null)[]}>} */
const argumentColors = new WeakMap();

/** What scopes can be coloured by, as a link keeps it. @param {Model} model @returns {string[]} */
export function colorChoices(model) {
  const keys = new Set();
  let left = mostTexts;
  for (const { strings } of model.batches()) {
    for (let k = 1; k < strings.length && left > 0; k++, left--) for (const [key] of argsList(strings[k])) keys.add(argument + key);
  }
  return ["name", "row", "thread", ...[...keys].slice(0, mostKeys)];
}

/**
 * Finds the colour of a scope; null: what it is coloured by is not known of it.
 * @param {Model} model @param {string} by one of colorChoices @param {Batch} batch @param {number} i
 * @returns {string|null}
 */
export function colorBy(model, by, batch, i) {
  if (by.startsWith(argument)) return argumentColor(by, batch, i);
  if (by === "thread") return batch.thread[i] ? colorOf(`thread ${batch.thread[i]}`) : null;
  if (by !== "row") return colorOf(model.name(batch.name[i]));
  const { key } = batch.lanes[batch.lane[i]];
  const row = model.goroutines.rows.get(key);
  return colorOf((row && row.nameId !== 0 && model.name(row.nameId)) || rowTitle("goroutine", key));
}

/** @param {string} by @param {Batch} batch @param {number} i */
function argumentColor(by, batch, i) {
  let known = argumentColors.get(batch);
  if (known?.by !== by) argumentColors.set(batch, known = { by, colors: [] });
  const text = batch.args[i];
  if (known.colors[text] === undefined) {
    const value = argsList(batch.strings[text]).find(([key]) => argument + key === by)?.[1];
    known.colors[text] = value === undefined ? null : colorOf(`${by}=${value}`);
  }
  return known.colors[text];
}
