// The language of the search and of the row filter: words, quoted texts, and comparisons such as dur>10ms.

/** The units of times, in ns. */
const units = /** @type {Record<string, number>} */ ({ ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, m: 6e10 });

/** One of: a field with a comparison; name: with a text; a quoted text; a word. */
const token = /\s*(-?)(?:([\p{L}_][\p{L}\p{N}_.]*)(>=|<=|>|<|=)(\S*)|(name:)?(?:"((?:[^"\\]|\\.)*)("?)|(\S+)))/giuy;

/**
 * A part of an expression. field: a comparison of field with value; text: a quoted or named text; word: any other.
 * open: a quote is not closed.
 * @typedef {{whole: string, not: boolean, field?: string, sign: string, value: string, text?: string, word?: string, open: boolean}} Token
 */

/** @param {string} text @returns {Generator<Token>} */
export function* tokens(text) {
  token.lastIndex = 0;
  for (let at = 0; ;) {
    token.lastIndex = at; // another expression may be read meanwhile
    const m = token.exec(text);
    if (m === null || m[0].trim() === "") return;
    at = token.lastIndex;
    const [whole, minus, field, sign = "", value = "", name, quoted, closed, word] = m;
    const not = minus === "-";
    const said = quoted !== undefined ? quoted.replace(/\\(.)/g, "$1") : name !== undefined || not && field === undefined ? word : undefined;
    yield { whole: whole.trim(), not, field, sign, value, text: said, word: said === undefined ? word ?? whole.trim() : undefined, open: quoted !== undefined && closed === "" };
  }
}

/**
 * Splits a value into its number and its unit; null: it is not a number.
 * @param {string} value @returns {{n: number, digits: string, unit: string}|null}
 */
export function quantity(value) {
  const m = /^(\d+(?:\.\d*)?|\.\d+)([a-zµμ]+|%)?$/i.exec(value);
  return m && { n: Number(m[1]), digits: m[1], unit: (m[2] ?? "").toLowerCase() };
}

/** Returns a duration in ns; null: it is not one. @param {string} value such as 10ms */
export function duration(value) {
  const q = quantity(value.trim().replace(/\s+/, ""));
  return q && units[q.unit] ? q.n * units[q.unit] : null;
}

/** Returns the ns, or the part of length, that a value denotes; undefined: its unit is unknown. @param {{n: number, unit: string}} q @param {number} length */
export function limitOf({ n, unit }, length) {
  if (unit === "") return n;
  if (unit === "%") return (n * length) / 100;
  return units[unit] === undefined ? undefined : n * units[unit];
}

/** Returns a comparison with a limit. @param {string} sign @param {number} limit @returns {(v: number) => boolean} */
export function comparison(sign, limit) {
  switch (sign) {
    case ">": return (v) => v > limit;
    case "<": return (v) => v < limit;
    case ">=": return (v) => v >= limit;
    case "<=": return (v) => v <= limit;
  }
  return (v) => v === limit;
}
