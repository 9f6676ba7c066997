// A goroutine's time on a processor or a thread: its scopes, and why it left.

import { isScope } from "../data/kinds.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("../data/batch.js").Ref} Ref
 *
 * A stretch of time and its innermost scope; null: none or unknown. n: number of short
 * scopes merged into one piece, of which ref is the first.
 * @typedef {{t0: number, t1: number, ref: Ref|null, n: number}} Piece
 */

/**
 * Returns the innermost scopes of a goroutine in [from, to], as consecutive pieces.
 * @param {Model} model @param {number} goid @param {number} from @param {number} to
 * @param {number} res ns; shorter scopes may be merged
 * @returns {Piece[]}
 */
export function scopesDuring(model, goid, from, to, res) {
  /** @type {Piece[]} */
  let pieces = [{ t0: from, t1: to, ref: null, n: 1 }];
  for (const lane of model.goroutines.rows.get(goid)?.lanes ?? []) {
    /** @type {Piece[]} */
    const over = [];
    model.eachBar(lane, from, to, res, ({ batch, i, j, t0, t1 }) => {
      if (!isScope(batch.kind[i]) || t1 <= from || t0 >= to) return;
      over.push({ t0: Math.max(t0, from), t1: Math.min(t1, to), ref: { batch, i }, n: j - i > 1 ? j - i : batch.many(i) });
    });
    if (over.length > 0) pieces = laidOver(pieces, over);
  }
  return pieces;
}

/**
 * Returns pieces overlaid by others; both are sorted by time.
 * @param {Piece[]} below @param {Piece[]} over @returns {Piece[]}
 */
function laidOver(below, over) {
  /** @type {Piece[]} */
  const seen = [];
  let k = 0;
  for (const piece of below) {
    let t = piece.t0;
    for (; k < over.length && over[k].t0 < piece.t1; k++) {
      if (over[k].t0 > t) seen.push({ ...piece, t0: t, t1: over[k].t0 });
      if (seen.at(-1) !== over[k]) seen.push(over[k]);
      t = Math.max(t, over[k].t1);
      if (t > piece.t1) break; // it extends into the next one
    }
    if (t < piece.t1) seen.push({ ...piece, t0: t });
  }
  return seen;
}

/**
 * Returns a goroutine's next state after a stretch of running; null: unknown.
 * @param {Model} model @param {number} goid @param {number} end of the stretch
 * @returns {{state: string, reason: string, at: string}|null} empty strings: unknown
 */
export function whatCameNext(model, goid, end) {
  const lane = model.waits.lane(goid);
  if (!lane || end >= lane.last) return null;
  let next = null;
  lane.each(end, end, 0, (run) => {
    if (run.t0 === end) next = { ...run };
  });
  const run = /** @type {import("../data/states.js").StateRun|null} */ (next);
  if (run === null || run.n > 1) return null;
  const { set } = lane;
  return { state: set.nameOf(run.top), reason: set.reasons[set.reason[run.i]] ?? "", at: set.stackOf(set.stack[run.i]).find((f) => !/^(runtime|internal\/|sync\b)/.test(f)) ?? "" };
}
