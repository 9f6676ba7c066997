// Search by halves.

/**
 * The first k in [lo, hi) for which before(k) does not hold; hi if it holds for
 * all. Where it does not hold, it must not hold behind it either.
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

/**
 * The first index whose value is not below v.
 * @param {Float64Array|number[]} list sorted
 * @param {number} v
 */
export function lowerBound(list, v) { return bisect(0, list.length, (k) => list[k] < v); }
