// The time of a scope: its waits by object, and the rest by its goroutine's states or, if
// unknown, by the scopes inside.

import { Kind } from "../data/kinds.js";
import { isAwaited, maxHolds, maxItems, stateRes, waitOfItem, waitOfState, waitsIn } from "./explain.js";
import { extentOf } from "./refs.js";
import { Replay, RowItems, hasMoments } from "./replay.js";

/**
 * One part of a scope's time: waits, a state, or scopes of a name. wait is the longest of
 * the waits, whole; state "": unknown.
 * @typedef {Object} Spent
 * @property {string} name name of the object waited for, or of the scopes
 * @property {string} state
 * @property {boolean} own self time of the scope
 * @property {number} ns
 * @property {import("./explain.js").Wait|null} wait
 */

/**
 * Returns the parts of a scope's time: waits first, the longest first. The parts add up to it.
 * @param {import("./model.js").Model} model @param {import("../data/batch.js").Ref} ref
 * @returns {{parts: Spent[], merged: boolean}} merged: short items in it are merged and are not counted as waits
 */
export function spentIn(model, ref) {
  const { row, ref: at } = model.place(ref);
  const { start: from, end: to } = extentOf(at);
  let lane = model.waits.of(from, to, true).states?.lanes.get(row.key) ?? null;
  const res = stateRes(lane, from, to);
  /** @type {Map<string, Spent>} */
  const parts = new Map();
  const add = (/** @type {string} */ name, /** @type {string} */ state, /** @type {number} */ ns, /** @type {import("./explain.js").Wait|null} */ wait, own = false) => {
    if (ns <= 0) return;
    const id = `${wait !== null} ${own} ${state} ${name}`;
    let part = parts.get(id);
    if (!part) parts.set(id, part = { name, state, own, ns: 0, wait });
    part.ns += ns;
    if (wait && part.wait && wait.to - wait.from > part.wait.to - part.wait.from) part.wait = wait;
  };
  /** Moments without a recorded wait. */
  const rest = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ name, /** @type {boolean} */ own) => {
    let reached = a;
    const states = lane;
    states?.each(a, b, res, (run) => {
      const end = Math.min(run.t1, b);
      if (end <= reached) return;
      add("", "", Math.max(run.t0, reached) - reached, null);
      const begin = Math.max(run.t0, reached);
      const wait = run.n === 1 ? waitOfState(model, row.key, states.set, run.i) : null;
      const top = run.n === 1 ? end - begin : Math.round((run.time * (end - begin)) / (run.t1 - run.t0));
      add("", states.set.nameOf(run.top), top, wait && isAwaited(wait) ? wait : null);
      add("", "", end - begin - top, null);
      reached = end;
    });
    if (reached < b) add(states ? "" : name, "", b - reached, null, !states && own);
  };
  const items = new RowItems(row, from, to);
  if (!model.reduced && items.pieces.reduce((n, p) => n + p.end - p.i, 0) <= maxItems) {
    eachMoment(model, items, at, from, to, rest, add);
  } else {
    let reached = from;
    const waits = waitsIn(model, row.key, from, to);
    if (waits.length > maxHolds) lane = null;
    for (const wait of waits) {
      rest(reached, wait.from, "", false);
      add(wait.name, wait.state, wait.to - wait.from, wait.ref && waitOfItem(model, wait.ref));
      reached = wait.to;
    }
    rest(reached, to, "", false);
  }
  const list = [...parts.values()].sort((a, b) => Number(b.wait !== null) - Number(a.wait !== null) || b.ns - a.ns);
  return { parts: list, merged: row.lanes.some((l) => model.details.exact(l, from, to) === null) };
}

/** Attributes each moment of a scope to the innermost item of its row. */
function eachMoment(model, items, at, from, to, rest, add) {
  /** @type {import("../data/batch.js").Ref[]} */
  const refs = [];
  const replay = new Replay((id, a, b) => {
    [a, b] = [Math.max(a, from), Math.min(b, to)];
    if (b <= a) return;
    const { batch, i } = refs[id];
    const wait = batch.kind[i] === Kind.wait ? waitOfItem(model, { batch, i }) : null;
    if (wait) add(wait.name, wait.state, b - a, wait);
    else rest(a, b, model.name(batch.name[i]), batch === at.batch && i === at.i);
  }, () => {});
  replay.start(from);
  while (items.next()) {
    const { batch, i } = items;
    if (!hasMoments(batch.kind[i])) continue;
    if (batch.start[i] > from) replay.advance(Math.min(batch.start[i], to));
    replay.begin(batch.end(i), refs.push({ batch, i }) - 1);
  }
  replay.advance(to);
}

/**
 * Returns the longest wait inside a scope; null: none is known.
 * @param {import("./model.js").Model} model @param {import("../data/batch.js").Ref} ref
 */
export function longestInside(model, ref) {
  return spentIn(model, ref).parts.reduce((best, { wait }) => (wait && (!best || wait.to - wait.from > best.to - best.from) ? wait : best), /** @type {import("./explain.js").Wait|null} */ (null));
}
