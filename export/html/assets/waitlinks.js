// Arrows of waits: from who held a lock to who waited for it, and from who woke a
// goroutine to it.

import { firstFrom } from "./segment.js";
import { Kind } from "./kinds.js";
import { lockLinks } from "./locklinks.js";
import { innermostAt } from "./relate.js";

/** @typedef {import("./relate.js").Link} Link */

/** Of so many waits in sight arrows are drawn unasked; more would hide the bars. */
export const mostUnasked = 60;
/** An item has so many wake-ups at most. */
const mostWakes = 50;
/** Of a trace with more items who held a lock is not looked for among all holds while it grows. */
const mostSought = 200000;

/**
 * The goroutine that held a lock when a wait for it began; 0: not known.
 * @param {any} model @param {any} seg @param {number} i
 */
export function holderOf(model, seg, i) {
  if (seg.kind[i] !== Kind.wait) return 0;
  const m = /"(?:holder|goid)":(\d{1,16})/.exec(model.argsText(seg, i));
  return m ? Number(m[1]) : 0;
}

/**
 * The scope that a wait's holder was in when the wait began; null: in none, or not
 * known.
 * @param {any} model @param {number} holder @param {number} t
 * @returns {import("./segment.js").Ref|null}
 */
export function scopeOfHolder(model, holder, t) {
  const row = holder === 0 ? undefined : model.goroutines.rows.get(holder);
  return row ? innermostAt(row, t, Infinity) : null;
}

/**
 * From who held the lock to who waited, at the moment when the wait began.
 * @param {any} model @param {import("./segment.js").Ref} ref
 * @returns {Link[]}
 */
export function blockLinks(model, ref) {
  const { seg, i } = model.resolve(ref);
  const holder = holderOf(model, seg, i);
  const own = seg.lanes[seg.lane[i]].key;
  if (holder === 0 || holder === own) return [];
  const time = seg.start[i];
  return [{ kind: "block", from: { rowKey: holder, time, ref: scopeOfHolder(model, holder, time) }, to: { rowKey: own, time, ref: { seg, i } } }];
}

/**
 * The arrows of the waits in sight, if they are few enough to be looked at.
 * @param {any} model @param {{seg: any, i: number}[]} waiting
 * @returns {Link[]}
 */
export function waitingLinks(model, waiting) {
  if (waiting.length > mostUnasked) return [];
  const known = model.cached("block links", () => new Map());
  const seek = model.meta.writer !== "running" || model.base.n < mostSought;
  return waiting.flatMap(({ seg, i }) => {
    let of = known.get(seg);
    if (!of) known.set(seg, of = new Map());
    let links = of.get(i);
    if (!links) {
      links = blockLinks(model, { seg, i });
      if (links.length === 0 && seek) links = lockLinks(model, { seg, i });
      of.set(i, links);
    }
    return links;
  });
}

/**
 * From who woke a goroutine to it, while an item lasted.
 * @param {any} model @param {import("./segment.js").Ref} ref
 * @returns {Link[]}
 */
export function wakeLinks(model, ref) {
  const { seg, i } = model.resolve(ref);
  const { key } = seg.lanes[seg.lane[i]];
  const lane = model.waits?.lane(key);
  if (!lane || key === 0) return [];
  /** @type {Link[]} */
  const found = [];
  const { set } = lane;
  const to = seg.end(i);
  for (let k = firstFrom(set.start, lane.from, lane.to, seg.start[i]); k < lane.to && set.start[k] < to && found.length < mostWakes; k++) {
    if (set.start[k] + set.dur[k] <= to) found.push(...wakeLink(set, key, k));
  }
  return found;
}

function wakeLink(set, key, k) {
  const by = set.by[k];
  if (!by || by === key) return [];
  const time = set.start[k] + set.dur[k];
  return [{ kind: "wake", from: { rowKey: by, time, ref: null, strip: true }, to: { rowKey: key, time, ref: null, strip: true } }];
}

/**
 * The arrow of a stretch of a strip of states.
 * @param {number} key @param {any} set @param {import("./states.js").StateRun} run
 * @returns {Link[]}
 */
export function stateLinks(key, set, run) { return run.j - run.i === 1 ? wakeLink(set, key, run.i) : []; }
