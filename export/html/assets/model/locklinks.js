// From whom a wait for a lock got it, and to whom a hold gave it.

import { bisect } from "../data/bisect.js";
import { Kind } from "../data/kinds.js";

/** An item has so many of these links at most. */
const mostLockLinks = 50;

/**
 * The waits and the holds of a lock: those of one name, whose arguments tell the
 * same address.
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
  const lock = model.cached("locks", () => locksOf(model)).get(key);
  if (!lock) return [];
  if (batch.kind[i] === Kind.wait) {
    const holder = holderBefore(lock, batch, i);
    return holder ? [lockLink(holder, { batch, i })] : [];
  }
  // A wait that this hold kept waiting began before the hold's end, and got the
  // lock after it and before anybody else's hold ended.
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

/** The hold on another row that ended last before the wait's end, or at it. */
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

/** Name and address. */
function lockKey(model, batch, i) {
  const addr = /"addr":"([^"]*)"/.exec(model.argsText(batch, i));
  return `${batch.name[i]} ${addr ? addr[1] : ""}`;
}

/** @returns {Map<string, LockItems>} */
function locksOf(model) {
  const locks = new Map();
  for (const batch of model.batches()) {
    const keys = new Map(); // of name and arguments, which repeat
    for (let i = 0; i < batch.n; i++) {
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
    lock.waits.sort(byEnd);
    lock.holds.sort(byEnd);
  }
  return locks;
}
