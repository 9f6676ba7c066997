// Sorting by start of concatenated sorted sequences, such as the lanes of a row.

import { atOnce } from "./slices.js";

/** The number of positions processed between two yields. */
const orderedAtOnce = 1 << 16;

/**
 * Sorts positions by start, and by depth for equal starts, so that a scope precedes its
 * contents. It merges existing sorted runs, so few of them cost little more than reading.
 * @param {Float64Array} start
 * @param {ArrayLike<number>} depth
 * @param {number} n number of positions
 * @returns {Uint32Array} positions
 */
export function orderByStart(start, depth, n) { return atOnce(startOrderSteps(start, depth, n)); }

/**
 * As orderByStart, step by step.
 * @param {Float64Array} start
 * @param {ArrayLike<number>} depth
 * @param {number} n
 * @returns {Generator<void, Uint32Array>}
 */
export function* startOrderSteps(start, depth, n) {
  let order = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    order[i] = i;
    if (i % orderedAtOnce === 0) yield;
  }
  const later = (a, b) => start[a] > start[b] || start[a] === start[b] && depth[a] > depth[b];
  let ends = [];
  for (let i = 1; i < n; i++) {
    if (later(i - 1, i)) ends.push(i);
    if (i % orderedAtOnce === 0) yield;
  }
  if (n > 0) ends.push(n);
  let other = ends.length > 1 ? new Uint32Array(n) : order;
  while (ends.length > 1) {
    const merged = [];
    let from = 0;
    for (let k = 0; k < ends.length; k += 2) {
      const mid = ends[k];
      const to = ends[k + 1] ?? mid;
      for (let at = from, a = from, b = mid; at < to; at = a + b - mid) {
        [a, b] = mergePieces({ start, depth, source: order, target: other }, { a, mid, b, to, at });
        yield;
      }
      merged.push(to);
      from = to;
    }
    [order, other] = [other, order];
    ends = merged;
  }
  return order;
}

/**
 * Merges source[a:mid] and source[b:to], which are sorted, into target from at on, up to orderedAtOnce positions, and
 * returns the new a and b. A closure would be some percent slower.
 */
function mergePieces({ start, depth, source, target }, { a, mid, b, to, at }) {
  const until = at + orderedAtOnce;
  while (a < mid && b < to) {
    if (at === until) return [a, b];
    const x = source[a];
    const y = source[b];
    if (start[x] < start[y] || start[x] === start[y] && depth[x] <= depth[y]) {
      target[at++] = x;
      a++;
    } else {
      target[at++] = y;
      b++;
    }
  }
  target.set(source.subarray(a, mid), at);
  target.set(source.subarray(b, to), at + mid - a);
  return [mid, to];
}
