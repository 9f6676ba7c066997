// The causes of a wait: the holders of the object, the number of waiting goroutines, and the
// activity of the holders. All comes from records; the rest is unknown.

import { lowerBound } from "../data/bisect.js";
import { firstEnding, firstFrom } from "../data/batch.js";
import { Flag, Kind } from "../data/kinds.js";
import { lockBetween } from "./locklinks.js";
import { innermostAt } from "./relate.js";
import { lockArgs, mayBeSought } from "./waitlinks.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("../data/states.js").StateSet} StateSet
 * @typedef {{from: number, to: number}} Piece
 * @typedef {Piece & {start: number}} HeldPiece start: begin of the hold
 *
 * A wait: from a record, from an interval of a goroutine's states, or both.
 * @typedef {Object} Wait
 * @property {number} key the goroutine
 * @property {number} from
 * @property {number} to
 * @property {number} began begin of the whole wait; before from if this is a part of it
 * @property {Ref|null} ref its record
 * @property {{set: StateSet, i: number}|null} interval of its states
 * @property {string} object the id of its row among the locks; "": not known
 * @property {string} name name of the object; "": only the state is known
 * @property {string} state
 * @property {number} holder goroutine that held the object when the wait began; 0: unknown
 * @property {boolean} held the object is of a kind that can be held
 *
 * A part of a wait's time.
 *   hold: key held it; shared: several readers held it together
 *   merged: many merged holds; key had the longest
 *   atMost: key held it when the wait began; the time of its release is unknown
 *   waker: key ended the wait; own: the goroutine itself was in state, no longer waiting
 *   unknown
 * @typedef {Object} WaitPart
 * @property {"hold"|"shared"|"merged"|"atMost"|"waker"|"own"|"unknown"} kind
 * @property {number} key the goroutine; 0: none
 * @property {number} scope name id of the scope in which it held the object; -1: none
 * @property {string} state
 * @property {number} ns
 * @property {number} many holds in it
 * @property {HeldPiece[]} pieces
 *
 * The number of waiting goroutines, including this one: at its begin, and the maximum in
 * equal parts of its time.
 * @typedef {{first: number, min: number, max: number, columns: number[], exact: boolean}} WaitQueue
 *
 * parts add up to the wait, the longest first; wanted: better data are not loaded yet.
 * @typedef {{wait: Wait, parts: WaitPart[], queue: WaitQueue|null, wanted: boolean}} Why
 */

/**
 * The maximum number of items, or intervals of states, that are processed one by one; with
 * more, short ones are merged to save time.
 */
export const maxItems = 50_000;
/**
 * The maximum number of holds whose activities are examined, the longest first; with more
 * holds in a wait, or more waits in a scope, states between them are ignored.
 */
export const maxHolds = 1000;
/** The number of parts in which a queue is shown. */
const queueColumns = 80;
/** The states of waiting for another goroutine. */
const awaited = new Set(["lock", "channel", "select", "cond", "join"]);
/** The states of waiting for something else. */
const alone = new Set(["network", "sleep", "runnable", "preempted", "gc", "other", "blocked"]);
/** The states of waits for objects without a holder, by kind of object. */
const statesOfKinds = /** @type {Record<string, string>} */ ({ send: "channel", receive: "channel", select: "select", cond: "cond", waitgroup: "join" });

/**
 * Returns the wait that an item represents; null: it is not a wait.
 * @param {Model} model @param {Ref} ref @returns {Wait|null}
 */
export function waitOfItem(model, ref) {
  const { batch, i } = model.resolve(ref);
  const args = lockArgs(model, batch, i);
  if (!args || batch.kind[i] !== Kind.wait || batch.many(i) > 1 || batch.flags[i] & Flag.across) return null;
  const key = batch.lanes[batch.lane[i]].key;
  return {
    key, from: batch.start[i], to: batch.end(i), began: batch.start[i], ref: { batch, i }, interval: null, object: `l${batch.name[i]}@${args.addr || "0x0"}`, name: model.name(batch.name[i]),
    state: statesOfKinds[args.kind] ?? "lock", holder: args.holder === key ? 0 : args.holder, held: args.held,
  };
}

/**
 * Returns the wait that interval i of a goroutine's states represents; null: it is not a wait.
 * @param {Model} model
 * @param {number} key
 * @param {StateSet} set
 * @param {number} i
 * @returns {Wait|null}
 */
export function waitOfState(model, key, set, i) {
  const state = set.nameOf(set.state[i]);
  if (!awaited.has(state) && !alone.has(state) || set.count !== null && set.count[i] > 1) return null;
  const from = set.start[i];
  const to = from + set.dur[i];
  const record = awaited.has(state) ? longestWait(waitsIn(model, key, from, to), (to - from) / 2) : null;
  return {
    key, from, to, began: record?.began ?? from, ref: record?.ref ?? null, interval: { set, i }, object: record?.object ?? "", name: record?.name ?? "",
    state, holder: record?.holder ?? 0, held: record?.held ?? state === "lock",
  };
}

/**
 * Returns the duration above which states in [from, to] are processed one by one, ns.
 * @param {import("../data/states.js").StateLane|null} lane @param {number} from @param {number} to
 */
export function stateRes(lane, from, to) {
  if (!lane) return 0;
  const { start } = lane.set;
  return firstFrom(start, lane.from, lane.to, to) - firstFrom(start, lane.from, lane.to, from) > maxItems ? (to - from) / maxItems : 0;
}

/** Returns the longest wait that takes at least least ns. @param {Wait[]} waits @param {number} least */
function longestWait(waits, least) {
  return waits.reduce((best, w) => (w.to - w.from > (best ? best.to - best.from : Math.max(0, least - 1)) ? w : best), /** @type {Wait|null} */ (null));
}

/** Reports whether a wait is for another goroutine, in which the chain can continue. @param {Wait} wait */
export function isAwaited(wait) { return awaited.has(wait.state); }

/**
 * Returns a goroutine's recorded waits in [from, to], cut to it, in order of time.
 * @param {Model} model
 * @param {number} key
 * @param {number} from
 * @param {number} to
 * @returns {Wait[]}
 */
export function waitsIn(model, key, from, to) {
  const found = [];
  for (const lane of model.goroutines.rows.get(key)?.lanes ?? []) {
    for (const { batch, from: a, to: b } of model.details.exact(lane, from, to) ?? [...lane.parts, ...lane.open ? [lane.open] : []]) {
      for (let i = firstEnding(batch, a, b, from); i < b && batch.start[i] < to; i++) {
        const wait = batch.kind[i] === Kind.wait && batch.end(i) > from ? waitOfItem(model, { batch, i }) : null;
        if (wait) found.push(cutWait(wait, from, to));
      }
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

/** Returns the part of a wait in [from, to]. @param {Wait} wait @param {number} from @param {number} to @returns {Wait} */
export function cutWait(wait, from, to) {
  return { ...wait, from: Math.max(wait.from, from), to: Math.min(wait.to, to) };
}

/**
 * Returns the causes of a wait.
 * @param {Model} model @param {Wait} wait @param {boolean} ask request better data from a server
 * @returns {Why}
 */
export function explain(model, wait, ask = true) {
  const known = model.waits.of(wait.from, wait.to, ask);
  const id = [model.version, wait.key, wait.from, wait.to, wait.began, wait.object, wait.state].join();
  const had = model.cache.get("why")?.value;
  if (had?.id === id && had.locks === known.locks && had.states === known.states) return { ...had.why, wait, wanted: known.wanted };
  const why = whyOf(model, wait, known);
  model.cache.set("why", { version: model.version, value: { id, locks: known.locks, states: known.states, why } });
  return why;
}

/** @param {Model} model @param {Wait} wait @param {import("./waits.js").Known} known @returns {Why} */
function whyOf(model, wait, known) {
  /** @type {import("../data/lockset.js").Held|undefined} */
  let row = wait.object === "" ? undefined : known.locks.find((l) => l.id === wait.object);
  if (wait.ref && (!row || row.res > 0) && !model.reduced && mayBeSought(model)) row = lockBetween(model, wait.ref, wait.began, wait.to) ?? row;
  const holds = row ? lowerBound(row.starts, wait.to) - lowerBound(row.ends, wait.from) : 0;
  const parts = new Parts(wait, holds > maxHolds ? null : known.states?.lanes.get(wait.key) ?? null);
  const before = row ? lowerBound(row.ends, wait.began + 1) : 0;
  if (row && row.starts[before] < wait.from) parts.holder = 0; // another hold has begun since, or this one is recorded
  let at = wait.from;
  for (let k = row && wait.held ? lowerBound(row.ends, at) : Infinity; row && k < row.starts.length && row.starts[k] < wait.to; k++) {
    const from = Math.max(row.starts[k], at);
    const to = Math.min(row.ends[k], wait.to);
    if (to <= from) continue;
    parts.gap(model, at, from);
    const single = row.many[k] === 1;
    const kind = row.shared[k] && (single || row.res === 0) ? "shared" : single ? "hold" : "merged";
    parts.add(kind, row.goids[k], row.scopes[k], from, to, row.many[k], row.starts[k]);
    at = to;
  }
  parts.gap(model, at, wait.to);
  return { wait, parts: parts.list(), queue: row ? queueOf(row, wait) : null, wanted: known.wanted };
}

/** The parts of a wait under construction. */
class Parts {
  /** @param {Wait} wait @param {import("../data/states.js").StateLane|null} lane of the waiting goroutine */
  constructor(wait, lane) {
    this.wait = wait;
    this.lane = lane;
    this.holder = wait.held ? wait.holder : 0;
    /** @type {Map<number|string, WaitPart>} */ this.parts = new Map();
  }

  /** @param {WaitPart["kind"]} kind @param {number} key @param {number} scope @param {number} from @param {number} to @param {number} many @param {number} start @param {string} state */
  add(kind, key, scope, from, to, many = 0, start = from, state = "") {
    if (to <= from) return;
    const id = kind === "hold" ? key * 65537 + scope + 1 : kind === "unknown" ? -2 : `${kind} ${key} ${scope} ${state}`; // there may be a million of these
    let part = this.parts.get(id);
    if (!part) this.parts.set(id, part = { kind, key, scope, state, ns: 0, many: 0, pieces: [] });
    part.ns += to - from;
    part.many += many;
    const last = part.pieces.at(-1);
    if (last?.to === from && many === 0) last.to = to;
    else part.pieces.push({ from, to, start });
  }

  /**
   * Adds the parts of a stretch without a recorded hold. The holder at the begin of the wait
   * held the object at most up to the stretch's end. Otherwise the waiting goroutine's
   * states are used: its waker, or a state in which it was awake.
   * @param {Model} model @param {number} from @param {number} to
   */
  gap(model, from, to) {
    const { wait, lane } = this;
    if (this.holder !== 0 && from === wait.from) {
      let until = lane ? -1 : to;
      lane?.each(from, to, 0, (run) => { if (run.t0 < to && awaited.has(lane.set.nameOf(run.top))) until = Math.min(run.t1, to); });
      const at = until < 0 ? to : until;
      this.add("atMost", this.holder, scopeAt(model, this.holder, from), from, at);
      from = at;
    }
    let at = from;
    lane?.each(from, to, 0, (run) => {
      const [a, b] = [Math.max(run.t0, at), Math.min(run.t1, to)];
      if (b <= a) return;
      this.unknown(at, a);
      at = b;
      const state = lane.set.nameOf(run.top);
      const by = run.n === 1 ? lane.set.by[run.i] : 0;
      if (by !== 0 && by !== wait.key && (awaited.has(state) || state === wait.state)) this.add("waker", by, -1, a, b);
      else if (run.n > 1 || awaited.has(state) || state === "unknown") this.unknown(a, b);
      else this.add("own", wait.key, -1, a, b, 0, a, state);
    });
    this.unknown(at, to);
  }

  /** @param {number} from @param {number} to */
  unknown(from, to) { this.add("unknown", 0, -1, from, to); }

  /** Returns the parts. @returns {WaitPart[]} the known ones by length, then the unknown one */
  list() { return [...this.parts.values()].sort((a, b) => Number(a.kind === "unknown") - Number(b.kind === "unknown") || b.ns - a.ns); }
}

/**
 * Returns the name id of a goroutine's scope at a time; -1: none or unknown.
 * @param {Model} model @param {number} key @param {number} t
 */
function scopeAt(model, key, t) {
  const row = model.goroutines.rows.get(key);
  const scope = row ? innermostAt(row, t, Infinity) : null;
  return scope ? scope.batch.name[scope.i] : -1;
}

/**
 * Returns the number of goroutines that waited for an object during a wait.
 * @param {import("../data/lockset.js").Held} row @param {Wait} wait @returns {WaitQueue|null}
 */
function queueOf({ times, counts, res }, { from, to }) {
  const begin = lowerBound(times, from + 1) - 1;
  if (begin < 0 || to <= from || counts[begin] < 1) return null; // otherwise the wait itself is not yet counted
  const queue = { first: counts[begin], min: Infinity, max: 0, columns: new Array(queueColumns).fill(0), exact: res === 0 };
  const column = (/** @type {number} */ t) => ((Math.max(t, from) - from) / (to - from)) * queueColumns;
  for (let k = begin; k < times.length && times[k] < to; k++) {
    queue.min = Math.min(queue.min, counts[k]);
    queue.max = Math.max(queue.max, counts[k]);
    const end = Math.min(queueColumns, column(k + 1 < times.length ? times[k + 1] : to));
    for (let c = Math.floor(column(times[k])); c < end; c++) queue.columns[c] = Math.max(queue.columns[c], counts[k]);
  }
  return queue;
}

/**
 * Returns the longest most pieces, the longest first.
 * @template {Piece} T @param {T[]} pieces @param {number} most @returns {T[]}
 */
export function longestPieces(pieces, most) {
  const length = (/** @type {Piece} */ p) => p.to - p.from;
  if (pieces.length > most) {
    const least = Float64Array.from(pieces, length).sort()[pieces.length - most];
    const longer = pieces.filter((p) => length(p) > least);
    pieces = [...longer, ...pieces.filter((p) => length(p) === least).slice(0, most - longer.length)];
  }
  return [...pieces].sort((a, b) => length(b) - length(a));
}

/**
 * An activity of a goroutine during a part of a wait. name: the object it waited for, if known. state "": unknown.
 * longest is its longest piece; wait is the wait in that piece, if it waited.
 * @typedef {{state: string, name: string, ns: number, longest: Piece & {interval: {set: StateSet, i: number}|null}, wait: Wait|null}} Activity
 */

/**
 * Returns the activities of a goroutine during a part of a wait, the longest first; they add up to the longest of its
 * pieces, up to a maximum number. Without states they include its recorded waits only.
 * @param {Model} model @param {WaitPart} part @param {Piece} within the range requested from a server
 * @returns {{activities: Activity[], states: boolean, pieces: number, ns: number}}
 */
export function activitiesOf(model, part, within) {
  const { key } = part;
  const pieces = longestPieces(part.pieces, maxHolds);
  const lane = model.waits.of(within.from, within.to, false).states?.lanes.get(key) ?? null;
  /** @type {Map<string, Activity>} */
  const activities = new Map();
  const add = (/** @type {string} */ state, /** @type {number} */ ns, /** @type {Activity["longest"]} */ at, /** @type {Wait|null} */ wait) => {
    if (ns <= 0) return;
    const id = `${state} ${wait?.name ?? ""}`;
    let activity = activities.get(id);
    if (!activity) activities.set(id, activity = { state, name: wait?.name ?? "", ns: 0, longest: at, wait });
    activity.ns += ns;
    if (at.to - at.from > activity.longest.to - activity.longest.from) [activity.longest, activity.wait] = [at, wait];
  };
  for (const { from, to } of pieces) {
    let at = from;
    const rest = (/** @type {number} */ until) => add("", until - at, { from: at, to: until, interval: null }, null);
    if (!lane) {
      for (const wait of waitsIn(model, key, from, to)) {
        rest(wait.from);
        add(wait.state, wait.to - wait.from, { from: wait.from, to: wait.to, interval: null }, wait);
        at = wait.to;
      }
    }
    lane?.each(from, to, stateRes(lane, from, to), (run) => {
      const [a, b] = [Math.max(run.t0, at), Math.min(run.t1, to)];
      if (b <= a) return;
      rest(a);
      at = b;
      const single = run.n === 1;
      const wait = single ? waitOfState(model, key, lane.set, run.i) : null;
      const state = lane.set.nameOf(run.top);
      const top = single ? b - a : Math.round((run.time * (b - a)) / (run.t1 - run.t0));
      add(state, top, { from: a, to: b, interval: single ? { set: lane.set, i: run.i } : null }, wait && cutWait(wait, a, b));
      add("", b - a - top, { from: a, to: b, interval: null }, null);
    });
    rest(to);
  }
  const list = [...activities.values()].sort((a, b) => b.ns - a.ns);
  return { activities: list, states: lane !== null, pieces: pieces.length, ns: list.reduce((sum, d) => sum + d.ns, 0) };
}

/**
 * Returns the hold of a goroutine that began at start; null: unknown or merged.
 * @param {Model} model @param {number} key @param {number} start @returns {Ref|null}
 */
export function holdAt(model, key, start) {
  for (const lane of model.goroutines.rows.get(key)?.lanes ?? []) {
    for (const part of [lane.detail, ...lane.parts, lane.open]) {
      if (!part) continue;
      const i = firstFrom(part.batch.start, part.from, part.to, start);
      if (i < part.to && part.batch.start[i] === start && part.batch.kind[i] === Kind.hold && part.batch.many(i) === 1) return { batch: part.batch, i };
    }
  }
  return null;
}
