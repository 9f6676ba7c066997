// Binary search.

/**
 * Returns the first k in [lo, hi) for which before(k) is false; hi if there is none. before
 * must be true up to some k and false from there on.
 * @param {number} lo
 * @param {number} hi
 * @param {(k: number) => boolean} before
 */
export function bisect(lo, hi, before) {
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (before(mid)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Returns the first index whose value is at least v. @param {Float64Array|number[]} list sorted @param {number} v */
export function lowerBound(list, v) { return bisect(0, list.length, (k) => list[k] < v); }
