// The previous holder of a lock for a wait, and the next holders after a hold.

import { bisect } from "../data/bisect.js";
import { Kind } from "../data/kinds.js";
import { innermostAt } from "./relate.js";
import { atOnce, inSlices, sortSteps } from "../data/slices.js";

/** The maximum number of these links per item. */
const mostLockLinks = 50;
/** The number of items whose locks can be found within one frame. */
const soughtAtOnce = 1 << 13;

/**
 * The waits and holds of a lock: those with the same name and address.
 * @typedef {{batch: import("../data/batch.js").Batch, i: number, end: number}} LockItem
 * @typedef {{waits: LockItem[], holds: LockItem[]}} LockItems by their ends
 */

/**
 * @param {import("./model.js").Model} model
 * @param {import("../data/batch.js").Ref} ref
 * @returns {import("./relate.js").Link[]}
 */
export function lockLinks(model, ref) {
  const { batch, i } = model.resolve(ref);
  if (batch.kind[i] !== Kind.wait && batch.kind[i] !== Kind.hold) return [];
  const key = lockKey(model, batch, i);
  const lock = locksAtOnce(model).get(key);
  if (!lock) return [];
  if (batch.kind[i] === Kind.wait) {
    const holder = holderBefore(lock, batch, i);
    return holder ? [lockLink(holder, { batch, i })] : [];
  }
  // A wait caused by this hold began before the hold's end, and ended after it and before any other hold ended.
  const found = [];
  const end = batch.end(i);
  for (let k = firstEndingAt(lock.waits, end); k < lock.waits.length && found.length < mostLockLinks; k++) {
    const wait = lock.waits[k];
    const holder = holderBefore(lock, wait.batch, wait.i);
    if (holder && holder.batch === batch && holder.i === i) found.push(lockLink({ batch, i }, wait));
    else if (holder && holder.end > end && wait.batch.start[wait.i] < end) break;
  }
  return found;
}

/**
 * Returns the holders of an item's lock in [from, to] and the number of waiting goroutines,
 * from the records themselves; in the format of a lock's row, which exists only for the
 * locks with the longest waits. Overlapping holds are those of readers.
 * @param {import("./model.js").Model} model @param {import("../data/batch.js").Ref} ref @param {number} from @param {number} to
 * @returns {import("../data/lockset.js").Held|undefined} undefined: no record
 */
export function lockBetween(model, ref, from, to) {
  const lock = locksAtOnce(model).get(lockKey(model, ref.batch, ref.i));
  if (!lock) return undefined;
  const among = (/** @type {LockItem[]} */ list) => list.slice(firstEndingAt(list, from)).filter(({ batch, i }) => batch.start[i] < to).sort((a, b) => a.batch.start[a.i] - b.batch.start[b.i]);
  const starts = [], ends = [], goids = [], scopes = [], many = [], shared = [];
  let longest = 0;
  for (const { batch, i, end } of among(lock.holds)) {
    const { key } = batch.lanes[batch.lane[i]];
    const k = starts.length - 1;
    const more = k >= 0 && batch.start[i] < ends[k];
    const at = more ? k : k + 1;
    if (!more) [starts[at], ends[at], many[at], longest] = [batch.start[i], end, 0, -1];
    many[at]++;
    ends[at] = Math.max(ends[at], end);
    shared[at] = Number(many[at] > 1 || /"mode":"shared"/.test(model.argsText(batch, i)));
    if (batch.dur[i] <= longest) continue;
    longest = batch.dur[i];
    const row = model.goroutines.rows.get(key);
    const scope = row ? innermostAt(row, batch.start[i], Infinity) : null;
    [goids[at], scopes[at]] = [key, scope ? scope.batch.name[scope.i] : -1];
  }
  const times = [], counts = [];
  let n = 0;
  for (const [t, d] of among(lock.waits).flatMap(({ batch, i, end }) => [[batch.start[i], 1], [end, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    n += d;
    if (times.at(-1) === t) counts[counts.length - 1] = n;
    else counts[times.push(t) - 1] = n;
  }
  return { starts: Float64Array.from(starts), ends: Float64Array.from(ends), goids, scopes: Float64Array.from(scopes), many, shared, times: Float64Array.from(times), counts, res: 0 };
}

/** Returns the hold on another row that ended last at or before the wait's end. */
function holderBefore(lock, batch, i) {
  const key = batch.lanes[batch.lane[i]].key;
  const end = batch.end(i);
  for (let k = firstEndingAt(lock.holds, end + 1) - 1; k >= 0 && lock.holds[k].end >= batch.start[i]; k--) {
    const hold = lock.holds[k];
    if (hold.batch.lanes[hold.batch.lane[hold.i]].key !== key) return hold;
  }
  return null;
}

/** @returns {import("./relate.js").Link} */
function lockLink(hold, wait) {
  const end = (x) => ({ rowKey: x.batch.lanes[x.batch.lane[x.i]].key, time: x.batch.end(x.i), ref: { batch: x.batch, i: x.i } });
  return { kind: "lock", from: end(hold), to: end(wait) };
}

function firstEndingAt(list, t) { return bisect(0, list.length, (k) => list[k].end < t); }

/** Returns name and address. */
function lockKey(model, batch, i) {
  const addr = /"addr":"([^"]*)"/.exec(model.argsText(batch, i));
  return `${batch.name[i]} ${addr ? addr[1] : ""}`;
}

/**
 * Returns the waits and holds of each lock, by lockKey; null: not found yet.
 * @returns {{locks: Map<string, LockItems>|null, asked: boolean}}
 */
function locksOf(model) { return model.cached("locks", () => ({ locks: null, asked: false })); }

/** @returns {Map<string, LockItems>} */
function locksAtOnce(model) { return locksOf(model).locks ??= atOnce(lockSteps(model)); }

/**
 * Reports whether the data for lockLinks are ready. Of many items they are found in slices, so as not to delay a frame.
 * For a growing trace it always returns true: each update would abandon the search.
 * @param {import("./model.js").Model} model
 * void} then called when it is there =>
 * @param {() => void} then called when they are ready => void} then called when it is there
 */
export function locksReady(model, then) {
  const of = locksOf(model);
  if (of.locks || model.meta.writer === "running" || model.base.n <= soughtAtOnce) return true;
  if (!of.asked) {
    of.asked = true;
    inSlices(lockSteps(model), () => of !== locksOf(model)).then((locks) => {
      if (!locks) return;
      of.locks ??= locks;
      then();
    });
  }
  return false;
}

/** @returns {Generator<void, Map<string, LockItems>>} */
function* lockSteps(model) {
  const locks = new Map();
  for (const batch of model.batches()) {
    const keys = new Map(); // by name and arguments, which repeat
    for (let i = 0; i < batch.n; i++) {
      if ((i & 0xfff) === 0) yield;
      const kind = batch.kind[i];
      if (kind !== Kind.wait && kind !== Kind.hold || batch.many(i) > 1) continue;
      const same = batch.args[i] * 65536 + batch.name[i];
      let key = keys.get(same);
      if (key === undefined) keys.set(same, key = lockKey(model, batch, i));
      let lock = locks.get(key);
      if (!lock) locks.set(key, lock = { waits: [], holds: [] });
      (kind === Kind.wait ? lock.waits : lock.holds).push({ batch, i, end: batch.end(i) });
    }
  }
  const byEnd = (a, b) => a.end - b.end;
  for (const lock of locks.values()) {
    lock.waits = yield* sortSteps(lock.waits, byEnd);
    lock.holds = yield* sortSteps(lock.holds, byEnd);
  }
  return locks;
}
