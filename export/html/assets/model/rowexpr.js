// The row filter: words and conditions such as wait>10ms, all of which must hold.

import { comparison, limitOf, quantity, tokens } from "./expression.js";
import { rowSums } from "./rowsums.js";

/**
 * The subject of a filter: a row, a lock or a counter. Conditions on absent values do not hold.
 * @typedef {{title: string, scopes?: number, wait?: number, busy?: number, cpu?: number}} RowFacts
 *
 * @typedef {Object} RowExpression
 * @property {((facts: RowFacts) => boolean)[]} terms
 * @property {boolean} sums it uses times of rows
 * @property {string} error syntax error; "": none
 */

const fields = ["wait", "busy", "cpu", "scopes"];
/** The syntax of the filter with examples, for the help. */
export const filterHelp = [
  ["handler", "rows whose name contains it; \"two words\" and name:handler work, too"],
  ["-name:idle", "rows whose name does not contain it"],
  ["wait>10ms", "rows that waited longer; units: ns, us, ms, s, m, or % of the trace"],
  ["busy>50%", "rows that were in scopes longer"],
  ["cpu>1s", "rows with more known CPU time"],
  ["scopes>100", "rows with more scopes; <, >=, <= and = work, too"],
];

/**
 * Parses a filter. Adjacent words form one text, for compatibility.
 * @param {string} text
 * @param {number} length of the trace, ns
 * @returns {RowExpression}
 */
export function parseRows(text, length) {
  /** @type {RowExpression} */
  const found = { terms: [], sums: false, error: "" };
  /** @type {string[]} */
  let words = [];
  const has = (/** @type {string} */ part, /** @type {boolean} */ not) => {
    const lower = part.toLowerCase();
    found.terms.push(({ title }) => title.toLowerCase().includes(lower) !== not);
  };
  const flush = () => {
    if (words.length > 0) has(words.join(" "), false);
    words = [];
  };
  for (const { whole, not, field, sign, value, text: said, word, open } of tokens(text)) {
    if (field !== undefined && (fields.includes(field.toLowerCase()) || sign !== "=")) {
      flush();
      const error = compare(found, field.toLowerCase(), sign, value, { not, length });
      if (error) return { ...found, error };
    } else if (open) {
      return { ...found, error: `${whole}: a quote is not closed` };
    } else if (said !== undefined) {
      flush();
      has(said, not);
    } else {
      words.push(word ?? whole);
    }
  }
  flush();
  return found;
}

/**
 * Adds a comparison.
 * @param {RowExpression} to @param {string} field @param {string} sign @param {string} value
 * @param {{not: boolean, length: number}} how
 * @returns {string} the error; "": none
 */
function compare(to, field, sign, value, { not, length }) {
  const term = `${field}${sign}${value}`;
  if (!fields.includes(field)) return `${term}: unknown field ${field}; the fields are ${fields.join(", ")} and name:text. Quote a name that contains ${sign}`;
  const q = quantity(value);
  if (!q) return `${term}: ${value === "" ? "a number is missing" : `${value} is not a number`}`;
  if (field === "scopes" && q.unit !== "") return `${term}: a number of scopes has no unit`;
  if (field !== "scopes" && q.unit === "") return `${term}: a unit is missing, as in ${field}${sign}${q.digits}ms or ${field}${sign}${q.digits}%`;
  const limit = limitOf(q, length);
  if (limit === undefined) return `${term}: unknown unit ${q.unit}; the units are ns, us, ms, s, m and %`;
  const holds = comparison(sign, limit);
  if (field !== "scopes") to.sums = true;
  to.terms.push((facts) => {
    const v = facts[/** @type {"wait"|"busy"|"cpu"|"scopes"} */ (field)];
    return v !== undefined && !Number.isNaN(v) && holds(v) !== not;
  });
  return "";
}

/**
 * Returns a function that reports whether to show a row, or another thing with a title. An invalid filter shows all, and
 * one by times does until the sums of the rows are known.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {{row(row: any): boolean, other(facts: RowFacts): boolean}}
 */
export function rowFilter(model, text) {
  const { terms, sums, error } = parseRows(text, model.end);
  if (error || terms.length === 0) return { row: () => true, other: () => true };
  /** @type {Map<any, import("./rowsums.js").RowSums>|null|undefined} undefined: not used yet */
  let times;
  const other = (/** @type {RowFacts} */ facts) => terms.every((holds) => holds(facts));
  const row = (/** @type {any} */ r) => {
    const title = r.name || r.title;
    if (!sums) return other({ title, scopes: r.scopes });
    if (times === undefined) times = rowSums(model, r.by);
    return times === null || other({ title, scopes: r.scopes, ...times.get(r) });
  };
  return { row, other };
}
