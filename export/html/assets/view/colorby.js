// The meaning of scopes' colours: their names, or optionally their rows, their threads or the values of an argument.

import { argsList } from "../data/args.js";
import { colorOf } from "./color.js";
import { rowTitle } from "../model/rowset.js";

/**
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("../model/model.js").Model} Model
 */

/** The prefix before the key of an argument. */
const argument = "argument ";
/** The maximum number of argument texts searched for keys, and of keys listed. */
const mostTexts = 2000;
const mostKeys = 30;

/**
 * The colours of a batch's argument texts, by criterion.
 * @type {WeakMap<Batch, {by: string, colors: (string|null)[]}>}
 */
const argumentColors = new WeakMap();

/** Returns the criteria for colouring scopes, as stored in links. @param {Model} model @returns {string[]} */
export function colorChoices(model) {
  const keys = new Set();
  let left = mostTexts;
  for (const { strings } of model.batches()) {
    for (let k = 1; k < strings.length && left > 0; k++, left--) for (const [key] of argsList(strings[k])) keys.add(argument + key);
  }
  return ["name", "row", "thread", ...[...keys].slice(0, mostKeys)];
}

/**
 * Returns the colour of a scope; null: its value is unknown.
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
