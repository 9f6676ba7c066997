// What a goroutine did while it had a processor or a thread: in which scopes it was,
// and why it lost it.

import { isScope } from "../data/kinds.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("../data/batch.js").Ref} Ref
 *
 * A stretch of time and the innermost scope in it; null: in none, or not known. n scopes
 * are so short that they are told together, and ref is the first of them.
 * @typedef {{t0: number, t1: number, ref: Ref|null, n: number}} Piece
 */

/**
 * The innermost scopes of a goroutine in [from, to], as pieces that follow each other.
 * @param {Model} model @param {number} goid @param {number} from @param {number} to
 * @param {number} res ns; what is narrower may be told together
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

/** What is seen of pieces with others over them; both are by time. @param {Piece[]} below @param {Piece[]} over @returns {Piece[]} */
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
      if (t > piece.t1) break; // it reaches into the next one
    }
    if (t < piece.t1) seen.push({ ...piece, t0: t });
  }
  return seen;
}

/**
 * What a goroutine did next, once a stretch of its running had ended; null: nothing is
 * known of it.
 * @param {Model} model @param {number} goid @param {number} end of the stretch
 * @returns {{state: string, reason: string, at: string}|null} empty: not known
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
