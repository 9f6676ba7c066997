// The locks: for each object its holders and its number of waiting goroutines over time.

import { columnFinder } from "./columns.js";
import { shortText } from "./names.js";

/**
 * One object. starts, ends, goids, scopes, many and shared describe the stretches in which it was held; they do not
 * overlap. goids and scopes have the goroutine of the longest hold of a stretch and the name id of its scope (-1:
 * none). From each of times until the next one, at most counts goroutines waited at once, together for sums ns.
 * @typedef {Object} LockRow
 * @property {string} id key in pinned, hidden and the address
 * @property {number} nameId
 * @property {string} addr
 * @property {string} kind
 * @property {number} waits
 * @property {number} wait ns
 * @property {number} waitMax
 * @property {number} holds
 * @property {number} hold
 * @property {number} holdMax
 * @property {number} most maximum number of goroutines that waited at once
 * @property {import("./columns.js").LockSums=} counted
 * @property {boolean} alone no other object has its name
 * @property {number} res shorter items are merged, ns; 0: none
 * @property {Float64Array} starts
 * @property {Float64Array} ends
 * @property {ArrayLike<number>} goids
 * @property {Float64Array} scopes
 * @property {ArrayLike<number>} many
 * @property {ArrayLike<number>} shared
 * @property {Float64Array} times
 * @property {ArrayLike<number>} counts
 * @property {ArrayLike<number>} sums
 *
 * @typedef {Pick<LockRow, "starts"|"ends"|"goids"|"scopes"|"many"|"shared"|"times"|"counts"|"res">} Held the holders and the number of waiting goroutines
 */

/**
 * @param {import("./columns.js").LocksHeader} header
 * @param {Map<string, import("./columns.js").Column>} columns
 * @returns {LockRow[]} those that were waited for longest first
 */
export function readLocks(header, columns) {
  const column = columnFinder(columns);
  const [start, dur, goid, scope, many, flags] = ["holdStart", "holdDur", "holdGoid", "holdScope", "holdMany", "holdFlags"].map(column);
  const [time, count, sum] = ["waitTime", "waitCount", "waitSum"].map(column);
  for (const c of [dur, goid, scope, many, flags]) {
    if (c.length !== start.length) throw new Error(`The timeline's data have ${start.length} holds, but a column of ${c.length}.`);
  }
  let h = 0;
  let w = 0;
  const names = new Map();
  /** @type {LockRow[]} */
  const list = (header.locks ?? []).map((l) => {
    const [h0, w0] = [h, w];
    h = Math.min(start.length, h + l.held);
    w = Math.min(time.length, w + l.steps);
    names.set(l.name, (names.get(l.name) ?? 0) + 1);
    return {
      ...l, counted: l.sums, id: `l${l.name}@${l.addr}`, nameId: l.name, alone: true, res: header.res ?? 0,
      starts: Float64Array.from(start.subarray(h0, h)), ends: Float64Array.from(start.subarray(h0, h), (t, k) => t + dur[h0 + k]),
      goids: goid.subarray(h0, h), scopes: Float64Array.from(scope.subarray(h0, h), (s) => s - 1), many: many.subarray(h0, h), shared: flags.subarray(h0, h),
      times: Float64Array.from(time.subarray(w0, w)), counts: count.subarray(w0, w), sums: sum.subarray(w0, w),
    };
  });
  for (const l of list) l.alone = names.get(l.nameId) === 1;
  return list;
}

/** Returns the title of a lock's row. @param {(id: number) => string} nameOf @param {LockRow} l */
export function lockTitle(nameOf, l) {
  const name = shortText(nameOf(l.nameId)) || l.kind || "lock";
  return l.alone ? name : `${name} ${l.addr}`;
}
