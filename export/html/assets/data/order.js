// Sorting by start what is made of sorted pieces, as the items of a row are
// made of its lanes.

/**
 * Orders positions by start, of equal starts the one of lesser depth first: a
 * scope before what is in it. Merges what is in order already, so that a few
 * sorted pieces cost little more than reading them.
 * @param {Float64Array} start
 * @param {ArrayLike<number>} depth
 * @param {number} n how many of them count
 * @returns {Uint32Array} positions
 */
export function orderByStart(start, depth, n) {
  let order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  const later = (a, b) => start[a] > start[b] || start[a] === start[b] && depth[a] > depth[b];
  let ends = [];
  for (let i = 1; i < n; i++) if (later(i - 1, i)) ends.push(i);
  if (n > 0) ends.push(n);
  let other = ends.length > 1 ? new Uint32Array(n) : order;
  while (ends.length > 1) {
    const merged = [];
    let from = 0;
    for (let k = 0; k < ends.length; k += 2) {
      const mid = ends[k];
      const to = ends[k + 1] ?? mid;
      mergePieces({ start, depth, source: order, target: other }, from, mid, to);
      merged.push(to);
      from = to;
    }
    [order, other] = [other, order];
    ends = merged;
  }
  return order;
}

/**
 * Merges source[from:mid] and source[mid:to], each in order, into target. A closure
 * would be some percent slower.
 */
function mergePieces({ start, depth, source, target }, from, mid, to) {
  let a = from;
  let b = mid;
  let at = from;
  while (a < mid && b < to) {
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
}
