// The row filter: plain words and conditions such as wait>10ms, all of which must hold.

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
const units = /** @type {Record<string, number>} */ ({ ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, m: 6e10 });

/** One of: a field with a comparison; name: with a text; a quoted text; a word. */
const token = /\s*(-?)(?:([a-z]+)(>=|<=|>|<|=)(\S*)|(name:)?(?:"((?:[^"\\]|\\.)*)("?)|(\S+)))/giy;

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
  token.lastIndex = 0;
  for (let m = token.exec(text); m !== null && m[0].trim() !== ""; m = token.exec(text)) {
    const [whole, minus, field, sign, value, name, quoted, closed, word] = m;
    const not = minus === "-";
    if (field !== undefined && (fields.includes(field.toLowerCase()) || sign !== "=")) {
      flush();
      const error = compare(found, field.toLowerCase(), sign, value, { not, length });
      if (error) return { ...found, error };
    } else if (quoted !== undefined && closed === "") {
      return { ...found, error: `${whole.trim()}: a quote is not closed` };
    } else if (quoted !== undefined || name !== undefined || (not && word !== undefined)) {
      flush();
      has(quoted?.replace(/\\(.)/g, "$1") ?? word, not);
    } else {
      words.push(word ?? whole.trim());
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
  const m = /^(\d+(?:\.\d*)?|\.\d+)([a-zµμ]+|%)?$/i.exec(value);
  if (!m) return `${term}: ${value === "" ? "a number is missing" : `${value} is not a number`}`;
  const [, digits, unit = ""] = m;
  if (field === "scopes" && unit !== "") return `${term}: a number of scopes has no unit`;
  if (field !== "scopes" && unit === "") return `${term}: a unit is missing, as in ${field}${sign}${digits}ms or ${field}${sign}${digits}%`;
  const factor = unit === "" ? 1 : unit === "%" ? length / 100 : units[unit.toLowerCase()];
  if (factor === undefined) return `${term}: unknown unit ${unit}; the units are ns, us, ms, s, m and %`;
  const limit = Number(digits) * factor;
  const holds = {
    ">": (/** @type {number} */ v) => v > limit, "<": (/** @type {number} */ v) => v < limit, "=": (/** @type {number} */ v) => v === limit,
    ">=": (/** @type {number} */ v) => v >= limit, "<=": (/** @type {number} */ v) => v <= limit,
  }[sign];
  if (field !== "scopes") to.sums = true;
  to.terms.push((facts) => {
    const v = facts[/** @type {"wait"|"busy"|"cpu"|"scopes"} */ (field)];
    return v !== undefined && !Number.isNaN(v) && holds?.(v) !== not;
  });
  return "";
}

/**
 * Returns a function that reports whether to show a row, or another thing with a title. An invalid filter shows all.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {{row(row: any): boolean, other(facts: RowFacts): boolean}}
 */
export function rowFilter(model, text) {
  const { terms, sums, error } = parseRows(text, model.end);
  if (error || terms.length === 0) return { row: () => true, other: () => true };
  /** @type {Map<any, import("./rowsums.js").RowSums>|null} */
  let times = sums ? null : new Map();
  const other = (/** @type {RowFacts} */ facts) => terms.every((holds) => holds(facts));
  const row = (/** @type {any} */ r) => {
    times ??= rowSums(model, r.by);
    return other({ title: r.name || r.title, scopes: r.scopes, ...times.get(r) });
  };
  return { row, other };
}
