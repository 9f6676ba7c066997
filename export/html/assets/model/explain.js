// Why a goroutine waited: who held the object meanwhile, how many waited, and what the
// holder did. All is told from records; what they don't tell is not known.

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
 * @typedef {Piece & {start: number}} HeldPiece start: when the hold began
 *
 * A wait: what a record tells of it, an interval of a goroutine's states, or both.
 * @typedef {Object} Wait
 * @property {number} key the goroutine
 * @property {number} from
 * @property {number} to
 * @property {number} began before from, where a part of a wait is looked at
 * @property {Ref|null} ref its record
 * @property {{set: StateSet, i: number}|null} interval of its states
 * @property {string} object the id of its row among the locks; "": not known
 * @property {string} name what is waited for; "": its state tells no more
 * @property {string} state
 * @property {number} holder the goroutine that held it when it began; 0: not known
 * @property {boolean} held somebody can hold it
 *
 * A part of a wait's time.
 *   hold: key held it; shared: readers did, together
 *   merged: many holds, which cannot be told apart here; key had the longest
 *   atMost: key held it when the wait began, and when it let go is not known
 *   waker: key ended the wait; own: the goroutine itself was in state, and waited no more
 *   unknown
 * @typedef {Object} WaitPart
 * @property {"hold"|"shared"|"merged"|"atMost"|"waker"|"own"|"unknown"} kind
 * @property {number} key the goroutine; 0: none
 * @property {number} scope the name id of the scope it held it in; -1: none
 * @property {string} state
 * @property {number} ns
 * @property {number} many holds in it
 * @property {HeldPiece[]} pieces
 *
 * How many waited, this one included: when it began, and the most in each of some equal parts of its time.
 * @typedef {{first: number, min: number, max: number, columns: number[], exact: boolean}} WaitQueue
 *
 * parts add up to the wait, the longest first; wanted: better is under way.
 * @typedef {{wait: Wait, parts: WaitPart[], queue: WaitQueue|null, wanted: boolean}} Why
 */

/** So many items, or intervals of states, are told one by one; of more those that are short are merged, or it would take long. */
export const mostTold = 50_000;
/** What a holder did is told of so many of its longest holds; with more holds in a wait, or more waits in a scope, states between them are not looked for. */
export const mostHeld = 1000;
/** A queue is told in so many parts. */
const queueColumns = 80;
/** The states in which a goroutine waits for another. */
const awaited = new Set(["lock", "channel", "select", "cond", "join"]);
/** Those in which it waits for something else. */
const alone = new Set(["network", "sleep", "runnable", "preempted", "gc", "other", "blocked"]);
/** The states of waits for what nobody holds, by the kinds of objects. */
const statesOfKinds = /** @type {Record<string, string>} */ ({ send: "channel", receive: "channel", select: "select", cond: "cond", waitgroup: "join" });

/** The wait that an item is; null: it is none. @param {Model} model @param {Ref} ref @returns {Wait|null} */
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

/** The wait that interval i of a goroutine's states is; null: it is none. @param {Model} model @param {number} key @param {StateSet} set @param {number} i @returns {Wait|null} */
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

/** From which length on states in [from, to] are told one by one, ns. @param {import("../data/states.js").StateLane|null} lane @param {number} from @param {number} to */
export function stateRes(lane, from, to) {
  if (!lane) return 0;
  const { start } = lane.set;
  return firstFrom(start, lane.from, lane.to, to) - firstFrom(start, lane.from, lane.to, from) > mostTold ? (to - from) / mostTold : 0;
}

/** The longest of some waits that takes at least so many ns. @param {Wait[]} waits @param {number} least */
function longestWait(waits, least) {
  return waits.reduce((best, w) => (w.to - w.from > (best ? best.to - best.from : Math.max(0, least - 1)) ? w : best), /** @type {Wait|null} */ (null));
}

/** Reports whether a wait is for another goroutine, who may be asked why. @param {Wait} wait */
export function isAwaited(wait) { return awaited.has(wait.state); }

/** A goroutine's waits on record in [from, to], cut to it, by time. @param {Model} model @param {number} key @param {number} from @param {number} to @returns {Wait[]} */
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

/** @param {Wait} wait @param {number} from @param {number} to @returns {Wait} */
function cutWait(wait, from, to) {
  return { ...wait, from: Math.max(wait.from, from), to: Math.min(wait.to, to) };
}

/**
 * Says why a wait took as long as it did.
 * @param {Model} model @param {Wait} wait @param {boolean} ask a server, if it knows more
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
  const parts = new Parts(wait, holds > mostHeld ? null : known.states?.lanes.get(wait.key) ?? null);
  const before = row ? lowerBound(row.ends, wait.began + 1) : 0;
  if (row && row.starts[before] < wait.from) parts.holder = 0; // another hold has begun since, or this one is on record
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

/** The parts of a wait, while they are gathered. */
class Parts {
  /** @param {Wait} wait @param {import("../data/states.js").StateLane|null} lane of who waits */
  constructor(wait, lane) {
    this.wait = wait;
    this.lane = lane;
    this.holder = wait.held ? wait.holder : 0;
    /** @type {Map<number|string, WaitPart>} */ this.parts = new Map();
  }

  /** @param {WaitPart["kind"]} kind @param {number} key @param {number} scope @param {number} from @param {number} to @param {number} many @param {number} start @param {string} state */
  add(kind, key, scope, from, to, many = 0, start = from, state = "") {
    if (to <= from) return;
    const id = kind === "hold" ? key * 65537 + scope + 1 : kind === "unknown" ? -2 : `${kind} ${key} ${scope} ${state}`; // of these there may be a million
    let part = this.parts.get(id);
    if (!part) this.parts.set(id, part = { kind, key, scope, state, ns: 0, many: 0, pieces: [] });
    part.ns += to - from;
    part.many += many;
    const last = part.pieces.at(-1);
    if (last?.to === from && many === 0) last.to = to;
    else part.pieces.push({ from, to, start });
  }

  /**
   * A stretch in which no hold is on record. Who had the object when the wait began had it
   * up to the stretch's end at most. Else who waited tells: who woke it, or that it was awake.
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

  /** @returns {WaitPart[]} what is known by length, then what is not */
  list() { return [...this.parts.values()].sort((a, b) => Number(a.kind === "unknown") - Number(b.kind === "unknown") || b.ns - a.ns); }
}

/** The name id of the scope that a goroutine was in at a moment; -1: none, or not known. @param {Model} model @param {number} key @param {number} t */
function scopeAt(model, key, t) {
  const row = model.goroutines.rows.get(key);
  const scope = row ? innermostAt(row, t, Infinity) : null;
  return scope ? scope.batch.name[scope.i] : -1;
}

/** How many waited for an object while a wait lasted. @param {import("../data/lockset.js").Held} row @param {Wait} wait @returns {WaitQueue|null} */
function queueOf({ times, counts, res }, { from, to }) {
  const begin = lowerBound(times, from + 1) - 1;
  if (begin < 0 || to <= from || counts[begin] < 1) return null; // else the wait itself is not told of yet
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

/** The longest of some pieces, the longest first. @template {Piece} T @param {T[]} pieces @param {number} most @returns {T[]} */
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
 * What a goroutine did for a part of a wait. name: what it waited for, where that is known.
 * state "": not known. longest is the longest piece of it; wait is its wait then, if it waited.
 * @typedef {{state: string, name: string, ns: number, longest: Piece & {interval: {set: StateSet, i: number}|null}, wait: Wait|null}} Deed
 */

/**
 * Says what a goroutine did for a part of a wait, the longest first; it adds up to the
 * longest of its pieces, which are some of very many. Where its states are not known its waits on record still are.
 * @param {Model} model @param {WaitPart} part @param {Piece} within what a server is asked for
 * @returns {{deeds: Deed[], states: boolean, pieces: number, ns: number}}
 */
export function deedsOf(model, part, within) {
  const { key } = part;
  const pieces = longestPieces(part.pieces, mostHeld);
  const lane = model.waits.of(within.from, within.to, false).states?.lanes.get(key) ?? null;
  /** @type {Map<string, Deed>} */
  const deeds = new Map();
  const add = (/** @type {string} */ state, /** @type {number} */ ns, /** @type {Deed["longest"]} */ at, /** @type {Wait|null} */ wait) => {
    if (ns <= 0) return;
    const id = `${state} ${wait?.name ?? ""}`;
    let deed = deeds.get(id);
    if (!deed) deeds.set(id, deed = { state, name: wait?.name ?? "", ns: 0, longest: at, wait });
    deed.ns += ns;
    if (at.to - at.from > deed.longest.to - deed.longest.from) [deed.longest, deed.wait] = [at, wait];
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
  const list = [...deeds.values()].sort((a, b) => b.ns - a.ns);
  return { deeds: list, states: lane !== null, pieces: pieces.length, ns: list.reduce((sum, d) => sum + d.ns, 0) };
}

/** The hold of a goroutine that began at a moment; null: it is not here by itself. @param {Model} model @param {number} key @param {number} start @returns {Ref|null} */
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
