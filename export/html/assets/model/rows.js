// The order of rows, and their folding into groups.

import { shortFunc, shortText } from "../data/names.js";
import { processOf, shownProcesses } from "./processes.js";
import { rowSums } from "./rowsums.js";
import { startFunc } from "./titles.js";

/** The number of alike rows above which they fold. */
const foldAbove = 8;

/** The collator for row names. */
export const rowOrders = /** @type {const} */ (["name", "start", "busy", "wait", "cpu"]);

const rowNames = new Intl.Collator("en", { numeric: true });

/**
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {(typeof rowOrders)[number]} RowOrder
 * @typedef {{kind: "row", row: Row}|{kind: "group", id: string, title: string, rows: Row[]}} Arranged
 */

/**
 * Orders rows and folds alike ones, where there are more than 8 of them: those of one name; those whose names differ in
 * a number at the end only; and of those without a name, however long they lived, those that began in one function, or
 * else whose outermost scopes have one name. By name, rows without one come last, in the order
 * of their first activity. By times, the largest come first, and what is not known last.
 * @param {Row[]} rows in the order of first activity
 * @param {string[]} names
 * @param {RowOrder} [order]
 * @param {Map<Row, import("./rowsums.js").RowSums>|null} [sums] for an order by times
 * @param {(row: Row) => string} [funcOf] returns the function in which a row's goroutine began; "": unknown
 * @returns {Arranged[]}
 */
export function arrange(rows, names, order = "name", sums = null, funcOf = () => "") {
  const parts = partsOf(rows);
  const id = groupIds(rows, parts, funcOf);
  const sorted = order === "start" ? rows : [...byName(rows.filter((row) => row.named), parts), ...rows.filter((row) => !row.named)];
  /** @type {Map<string, Arranged>} */
  const groups = new Map();
  /** @type {Arranged[]} */
  const arranged = [];
  for (const row of sorted) {
    const key = id.get(row) ?? "";
    const group = groups.get(key);
    if (group?.kind === "group") group.rows.push(row);
    else arranged.push(key === "" ? { kind: "row", row } : { kind: "group", id: key, title: "", rows: [row] });
    if (key !== "" && !group) groups.set(key, /** @type {Arranged} */ (arranged.at(-1)));
  }
  for (const a of arranged) if (a.kind === "group") a.title = `${a.rows.length.toLocaleString("en")} × ${a.id.startsWith("f") ? shortFunc(a.id.slice(1)) : alikeText(a.rows, names, parts)}`;
  if (sums && order !== "name" && order !== "start") {
    const time = (/** @type {Row} */ row) => sums.get(row)?.[order] ?? NaN;
    for (const a of arranged) if (a.kind === "group") a.rows = largestFirst(a.rows, time);
    return largestFirst(arranged, (a) => (a.kind === "row" ? time(a.row) : a.rows.reduce((sum, row) => sum + (time(row) || 0), 0)));
  }
  return arranged;
}

/**
 * Returns the arranged rows of a model; computed once per version.
 * @param {import("./model.js").Model} model
 * @param {"goroutine"|"thread"} by
 * @param {RowOrder} order
 * @returns {Arranged[]}
 */
export function arrangedRows(model, by, order) {
  const sums = order === "name" || order === "start" ? null : rowSums(model, by);
  if (sums === null && order !== "start") order = "name"; // until the sums are known
  const had = model.cached(`arranged ${by} ${order}`, () => ({ sums, arranged: arrangedBy(model, by, order, sums) }));
  if (had.sums !== sums) Object.assign(had, { sums, arranged: arrangedBy(model, by, order, sums) });
  return had.arranged;
}

/** @param {import("./model.js").Model} model @param {"goroutine"|"thread"} by @param {RowOrder} order @param {Map<Row, import("./rowsums.js").RowSums>|null} sums */
function arrangedBy(model, by, order, sums) {
  const processes = by === "goroutine" ? shownProcesses(model.meta) : [];
  const all = model.rows(by);
  const funcOf = (/** @type {Row} */ row) => (by === "goroutine" ? startFunc(model, row.key) : "");
  if (processes.length === 0) return arrange(all, model.names, order, sums, funcOf);
  /** @type {Map<import("../data/meta.js").Process|null, Row[]>} */
  const of = new Map([...processes, null].map((p) => [p, []]));
  for (const row of all) of.get(processOf(model.meta, row.key))?.push(row);
  return [...of].flatMap(([process, own]) => { // alike rows of different processes are not folded together
    return arrange(own, model.names, order, sums, funcOf).map((a) => (a.kind === "group" ? { ...a, id: `${process?.number ?? 0}.${a.id}` } : a));
  });
}

/**
 * Splits names into a stem and a number at the end.
 * @param {Row[]} rows
 * @returns {Map<Row, {stem: string, number: number}>}
 */
function partsOf(rows) {
  const parts = new Map();
  for (const row of rows) {
    const digits = row.named ? /\d{1,15}$/.exec(row.name.slice(-15))?.[0] ?? "" : "";
    if (row.named) parts.set(row, { stem: row.name.slice(0, row.name.length - digits.length), number: digits === "" ? -1 : Number(digits) });
  }
  return parts;
}

/**
 * Sorts rows by name, 2 before 10. Each stem is compared once.
 * @param {Row[]} rows @param {Map<Row, {stem: string, number: number}>} parts
 */
function byName(rows, parts) {
  const part = (/** @type {Row} */ row) => /** @type {{stem: string, number: number}} */ (parts.get(row));
  const stems = [...new Set(rows.map((row) => part(row).stem))].sort(rowNames.compare);
  const rank = new Map(stems.map((stem, k) => [stem, k]));
  const rankOf = (/** @type {Row} */ row) => rank.get(part(row).stem) ?? 0;
  return [...rows].sort((a, b) => rankOf(a) - rankOf(b) || part(a).number - part(b).number);
}

/**
 * Returns the group id of each row in a group. Ids keep their meaning while the trace grows.
 * @param {Row[]} rows @param {Map<Row, {stem: string, number: number}>} parts @param {(row: Row) => string} funcOf
 * @returns {Map<Row, string>}
 */
function groupIds(rows, parts, funcOf) {
  /** @type {Map<Row, string>} */
  const ids = new Map();
  /**
   * Folds rows with the same key; undefined: no key.
   * @param {string} kind
   * @param {(row: Row) => string|number|undefined} keyOf
   * @param {(row: Row) => string|number} [name] what identifies the group; the key
   */
  const fold = (kind, keyOf, name = (row) => keyOf(row) ?? "") => {
    /** @type {Map<string|number, Row[]>} */
    const found = new Map();
    for (const row of rows) {
      const key = ids.has(row) ? undefined : keyOf(row);
      const fellows = key === undefined ? null : found.get(key);
      if (fellows) fellows.push(row);
      else if (key !== undefined) found.set(key, [row]);
    }
    for (const fellows of found.values()) {
      if (fellows.length > foldAbove) for (const row of fellows) ids.set(row, kind + name(fellows[0]));
    }
  };
  fold("r", (row) => (row.named ? row.name : undefined), (row) => row.nameId);
  fold("s", (row) => ((parts.get(row)?.number ?? -1) < 0 ? undefined : parts.get(row)?.stem), (row) => row.nameId);
  fold("f", (row) => (row.named ? undefined : funcOf(row) || undefined));
  fold("n", (row) => (row.named ? undefined : row.outer));
  return ids;
}

/**
 * Returns the title of alike rows.
 * @param {Row[]} rows
 * @param {string[]} names
 * @param {Map<Row, {stem: string, number: number}>} parts
 */
function alikeText(rows, names, parts) {
  const [{ named, name, outer }] = rows;
  if (!named) return shortText(names[outer] ?? "") || "(no scope)";
  if (rows.every((row) => row.name === name)) return shortText(name);
  const numbers = rows.map((row) => parts.get(row)?.number ?? 0);
  const range = [Math.min, Math.max].map((pick) => numbers.reduce((a, b) => pick(a, b)));
  return `${shortText(parts.get(rows[0])?.stem ?? "")}${range.join("–")}`;
}

/** @template T @param {T[]} list @param {(x: T) => number} value NaN comes last @returns {T[]} */
function largestFirst(list, value) {
  const known = (/** @type {number} */ v) => (Number.isNaN(v) ? -Infinity : v);
  return list.map((x) => ({ x, v: known(value(x)) })).sort((a, b) => (a.v === b.v ? 0 : b.v - a.v)).map(({ x }) => x);
}
