// In which order rows are shown, and which of them are folded into groups.

/** Rows that lived for a small part of the trace and are more than this fold. */
const foldAbove = 8;

/**
 * @typedef {import("./rowset.js").Row} Row
 * @typedef {{kind: "row", row: Row}|{kind: "group", title: string, nameId: number|string, rows: Row[]}} Arranged
 */

/**
 * Orders rows: those with a name by their first activity, then those without.
 * The short-lived ones without a name fold into one group by the name of their
 * outermost scopes, where more than 8 share it. A row is short-lived that lived for
 * less than a fifth of the trace. The group stands where its first row would.
 * @param {Row[]} rows in the order of first activity
 * @param {string[]} names
 * @returns {Arranged[]}
 */
export function arrange(rows, names) {
  const foldable = new Map();
  for (const row of rows) {
    if (row.named || !row.short) continue;
    const fellows = foldable.get(row.outer);
    if (fellows) fellows.push(row);
    else foldable.set(row.outer, [row]);
  }
  /** @type {Arranged[]} */
  const named = [];
  /** @type {Arranged[]} */
  const rest = [];
  const done = new Set();
  for (const row of rows) {
    if (row.named) {
      named.push({ kind: "row", row });
      continue;
    }
    const fellows = row.short ? foldable.get(row.outer) : [];
    if (fellows.length <= foldAbove) {
      rest.push({ kind: "row", row });
    } else if (!done.has(row.outer)) {
      done.add(row.outer);
      rest.push({ kind: "group", title: groupTitle(fellows, names[row.outer] ?? ""), nameId: row.outer, rows: fellows });
    }
  }
  return [...named, ...rest];
}

function groupTitle(rows, name) { return `${rows.length.toLocaleString("en")} × ${name || "(no scope)"}`; }
