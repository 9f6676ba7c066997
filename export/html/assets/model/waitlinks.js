// The arrows of waits: from the holder of a lock to the waiting goroutine, and from the waker of a goroutine to it.

import { firstFrom } from "../data/batch.js";
import { Kind } from "../data/kinds.js";
import { lockLinks, locksReady } from "./locklinks.js";
import { innermostAt } from "./relate.js";

/**
 * @typedef {import("./relate.js").Link} Link
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("../data/states.js").StateSet} StateSet
 */

/** The maximum number of wake-ups of an item. */
const mostWakes = 50;
/** The number of items above which holders are not searched for among all holds while the trace grows. */
const mostSought = 200000;

/** The kinds of objects without a holder. */
const notHeld = new Set(["retry", "waitgroup", "cond", "send", "receive", "select"]);

/**
 * Returns the lock of a wait or a hold: the object's address, its kind, whether it can be held, and whether it is
 * shared with other readers. holder is the goroutine that held it when the wait began; 0: unknown. atLeast: the hold
 * may have begun before its record. null: the item is neither.
 * @param {Model} model @param {Batch} batch @param {number} i
 * @returns {{addr: string, holder: number, kind: string, held: boolean, shared: boolean, atLeast: boolean}|null}
 */
export function lockArgs(model, batch, i) {
  if (batch.kind[i] !== Kind.wait && batch.kind[i] !== Kind.hold) return null;
  let known = parsedArgs.get(batch);
  if (!known) parsedArgs.set(batch, known = new Map());
  let args = known.get(batch.args[i]);
  if (!args) known.set(batch.args[i], args = readLockArgs(model.argsText(batch, i)));
  return args;
}

/**
 * The parsed arguments of a batch: they repeat, and parsing dominates the cost.
 * @type {WeakMap<Batch, Map<number, any>>}
 */
const parsedArgs = new WeakMap();

/** @param {string} text JSON */
function readLockArgs(text) {
  let a;
  try {
    a = JSON.parse(text || "{}");
  } catch {
    a = {};
  }
  const kind = typeof a.lock === "string" ? a.lock : "lock";
  return { addr: String(a.addr ?? ""), holder: Number(a.holder) || 0, kind, held: !notHeld.has(kind), shared: a.mode === "shared", atLeast: a.at_least === true };
}

/**
 * Returns the goroutine that held a lock when a wait for it began; 0: unknown.
 * @param {Model} model @param {Batch} batch @param {number} i
 */
export function holderOf(model, batch, i) { return batch.kind[i] === Kind.wait ? lockArgs(model, batch, i)?.holder ?? 0 : 0; }

/**
 * Returns the scope of a wait's holder when the wait began; null: none or unknown.
 * @param {Model} model @param {number} holder @param {number} t
 * @returns {import("../data/batch.js").Ref|null}
 */
function scopeOfHolder(model, holder, t) {
  const row = holder === 0 ? undefined : model.goroutines.rows.get(holder);
  return row ? innermostAt(row, t, Infinity) : null;
}

/**
 * Returns the arrow from the holder of the lock to the waiting goroutine, at the begin of the wait.
 * @param {Model} model @param {import("../data/batch.js").Ref} ref
 * @returns {Link[]}
 */
export function blockLinks(model, ref) {
  const { batch, i } = model.resolve(ref);
  const holder = holderOf(model, batch, i);
  const own = batch.lanes[batch.lane[i]].key;
  if (holder === 0 || holder === own) return [];
  const time = batch.start[i];
  return [{ kind: "block", from: { rowKey: holder, time, ref: scopeOfHolder(model, holder, time) }, to: { rowKey: own, time, ref: { batch, i } } }];
}

/**
 * Reports whether holds may be searched for among all items: while a trace grows, each update repeats the search.
 * @param {Model} model
 */
export function mayBeSought(model) { return model.meta.writer !== "running" || model.base.n < mostSought; }

/**
 * Returns the arrows of a wait, from the holder of its lock.
 * @param {Model} model @param {import("../data/batch.js").Ref} wait
 * @param {() => void} more called when a search has found more of them
 * @returns {Link[]}
 */
export function waitingLinks(model, wait, more) {
  const links = blockLinks(model, wait);
  if (links.length > 0 || !mayBeSought(model) || !locksReady(model, more)) return links;
  return lockLinks(model, wait);
}

/**
 * Returns the arrow of a wait known from states only, from the releasing goroutine. Recorded waits have better ones.
 * @param {Model} model @param {{key: number, set: StateSet, i: number}} locked
 * @returns {Link[]}
 */
export function lockedLinks(model, { key, set, i }) {
  return model.waits.locks.length > 0 ? [] : wakeLink(set, key, i).map((l) => ({ ...l, kind: "lock" }));
}

/**
 * Returns the arrows from the wakers of a goroutine during an item.
 * @param {Model} model @param {import("../data/batch.js").Ref} ref
 * @returns {Link[]}
 */
export function wakeLinks(model, ref) {
  const { batch, i } = model.resolve(ref);
  const { key } = batch.lanes[batch.lane[i]];
  const lane = model.waits?.lane(key);
  if (!lane || key === 0) return [];
  /** @type {Link[]} */
  const found = [];
  const { set } = lane;
  const to = batch.end(i);
  for (let k = firstFrom(set.start, lane.from, lane.to, batch.start[i]); k < lane.to && set.start[k] < to && found.length < mostWakes; k++) {
    if (set.start[k] + set.dur[k] <= to) found.push(...wakeLink(set, key, k));
  }
  return found;
}

/** @returns {Link[]} */
function wakeLink(set, key, k) {
  const by = set.by[k];
  if (!by || by === key) return [];
  const time = set.start[k] + set.dur[k];
  return [{ kind: "wake", from: { rowKey: by, time, ref: null, strip: true }, to: { rowKey: key, time, ref: null, strip: true } }];
}

/**
 * Returns the arrow of a stretch of a strip of states.
 * @param {number} key @param {StateSet} set @param {import("../data/states.js").StateRun} run
 * @returns {Link[]}
 */
export function stateLinks(key, set, run) { return run.j - run.i === 1 ? wakeLink(set, key, run.i) : []; }
