// The table of scopes by name and of locks in a range of time, by the rules of the Go side's
// internal/analysis. Whole durations are those of `scopeview top`.

import { Flag, Kind, Quality, isScope } from "../data/kinds.js";
import { quantileOf } from "./histogram.js";
import { Replay, RowItems, hasMoments, itemsAtOnce } from "./replay.js";
import { atOnce, byNumber, sortSteps } from "../data/slices.js";

/**
 * Times are in ns and cover ended scopes. total and the CPU times count the parts inside the range, or whole scopes, as
 * requested. mean to max are always those of whole scopes: cut at the range's ends they would describe the range. self
 * counts the parts inside the range, and is null where a scope's goroutine is unknown. Scopes across a clock step count
 * in across only.
 * @typedef {Object} ScopeStats
 * @property {number} name
 * @property {boolean} process CPU time is that of the whole process
 * @property {number} count
 * @property {number} total
 * @property {number|null} self
 * @property {number} mean
 * @property {number} min
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 * @property {number} p999
 * @property {number} max
 * @property {number} cut number of scopes partly outside of the range, if only their parts inside count; their CPU time is scaled
 * @property {number} cpu known CPU time, of scopes of cpuWall ns in total
 * @property {number} cpuWall
 * @property {number} cpuMax upper bounds of other scopes, of cpuMaxWall ns in total
 * @property {number} cpuMaxWall
 * @property {number} open
 * @property {number} openTime
 * @property {number} across
 *
 * @typedef {Object} LockStats
 * @property {number} name
 * @property {number} waits
 * @property {number} wait
 * @property {number} waitMax
 * @property {number} holds
 * @property {number} hold
 * @property {number} holdMax
 * @property {[number|null, number][]} heldBy name id and share, the longest first; null: in no scope
 *
 * @typedef {{scopes: ScopeStats[], locks: LockStats[]}} Summary
 */

/**
 * Sums up the items that touch [from, to].
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {boolean} whole scopes count whole, otherwise only their parts inside
 * @param {import("./rowset.js").Row[]} rows by goroutine
 * @returns {Generator<void, Summary>}
 */
export function* summarySteps(model, from, to, whole, rows = model.rows("goroutine")) {
  const sum = new Sum(from, to, whole);
  for (const row of rows) if (row.first <= to && row.last >= from) yield* sum.addRow(row);
  return { scopes: yield* sum.scopes(), locks: sum.locksList() };
}

/** Returns the range that counts if none is selected: that of an excerpt; null: all. @param {import("./model.js").Model} model */
export function rangeOfTrace({ meta }) { return meta.excerpt ? { from: meta.excerpt[0], to: meta.excerpt[1] } : null; }

/**
 * As summarySteps, all at once.
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {boolean} whole
 */
export function summarize(model, from, to, whole) { return atOnce(summarySteps(model, from, to, whole)); }

/**
 * The number of pairs of a name and a kind (scope or wait); the replay gets ids made of a
 * group, which may be none, and such a pair.
 */
const namesOfTop = 2 * 65536;

/** A sum under construction. Groups and locks are numbered in the order of their first item. */
class Sum {
  constructor(from, to, whole) {
    this.from = from;
    this.to = to;
    this.whole = whole;
    /** @type {any[]} */
    this.groups = [];
    /** By 2 × name, + 1 for process scopes. @type {Map<number, number>} */
    this.groupOf = new Map();
    /** @type {any[]} */
    this.locks = [];
    /** @type {Map<number, number>} */
    this.lockOf = new Map();
    this.seen = 0;
    this.replay = new Replay((id, a, b) => {
      const group = Math.floor(id / namesOfTop) - 1;
      if (group >= 0) this.groups[group].self += this.within(a, b);
    }, (lock, id, a, b) => this.held(lock, id, this.within(a, b)));
  }

  within(a, b) { return Math.max(Math.min(b, this.to) - Math.max(a, this.from), 0); }

  /** Returns the time of an item that counts. */
  counted(batch, i) { return this.whole ? batch.dur[i] : this.within(batch.start[i], batch.start[i] + batch.dur[i]); }

  /** @param {import("./rowset.js").Row} row @returns {Generator<void, void>} */
  *addRow(row) {
    this.replay.start(-Infinity);
    const known = row.key !== 0; // otherwise the row contains several goroutines
    for (const items = new RowItems(row, this.from, this.to); items.next();) {
      if (++this.seen % itemsAtOnce === 0) yield;
      const { batch, i } = items;
      const kind = batch.kind[i];
      const end = batch.start[i] + batch.dur[i];
      const across = (batch.flags[i] & Flag.across) !== 0;
      if (known) this.replay.advanceToItem(batch.start[i]);
      let group = -1;
      if (batch.flags[i] & Flag.calledOff) continue;
      if (kind === Kind.wait) {
        addPeriod(this.lock(batch.name[i]).waits, batch, i, across, this.counted(batch, i));
      } else if (kind === Kind.hold) {
        addPeriod(this.lock(batch.name[i]).holds, batch, i, across, this.counted(batch, i));
        if (known && !across) this.replay.hold(end, this.lockOf.get(batch.name[i]) ?? 0);
      } else if (isScope(kind)) {
        const at = this.group(batch.name[i], kind === Kind.process);
        addScope(this.groups[at], batch, i, across, known, this.counted(batch, i));
        if (!across && !(batch.flags[i] & Flag.unended)) group = at;
      }
      if (known && hasMoments(kind)) this.replay.begin(end, (group + 1) * namesOfTop + 2 * batch.name[i] + (kind === Kind.wait ? 1 : 0));
    }
    if (known) this.replay.finish();
  }

  group(name, process) {
    const key = 2 * name + (process ? 1 : 0);
    let at = this.groupOf.get(key);
    if (at === undefined) {
      at = this.groups.push({
        name, process, total: 0, whole: 0, cut: 0, self: 0, noSelf: 0, durations: [], cpu: 0, cpuWall: 0, cpuMax: 0, cpuMaxWall: 0, open: 0, openTime: 0, across: 0,
      }) - 1;
      this.groupOf.set(key, at);
    }
    return at;
  }

  lock(name) {
    let at = this.lockOf.get(name);
    if (at === undefined) {
      const none = () => ({ count: 0, total: 0, max: 0, openTime: 0 });
      at = this.locks.push({ name, waits: none(), holds: none(), heldBy: new Map() }) - 1;
      this.lockOf.set(name, at);
    }
    return this.locks[at];
  }

  /** Adds d during which a lock was held while the item of id had the time. */
  held(lock, id, d) {
    if (d <= 0) return;
    const key = id < 0 ? -1 : id % namesOfTop; // -1: no scope; else 2 × name, + 1 for waits
    const { heldBy } = this.locks[lock];
    heldBy.set(key, (heldBy.get(key) ?? 0) + d);
  }

  /** @returns {Generator<void, ScopeStats[]>} by name id */
  *scopes() {
    const list = [];
    for (const { durations, noSelf, whole, ...g } of this.groups.sort((a, b) => a.name - b.name || Number(a.process) - Number(b.process))) {
      const sorted = yield* sortSteps(new Float64Array(durations), byNumber);
      const count = sorted.length;
      list.push({
        ...g, count, self: noSelf === 0 ? g.self : null, mean: count === 0 ? 0 : Math.trunc(whole / count),
        min: count === 0 ? 0 : sorted[0], max: count === 0 ? 0 : sorted[count - 1],
        p50: quantileOf(sorted, 0.5), p90: quantileOf(sorted, 0.9), p99: quantileOf(sorted, 0.99), p999: quantileOf(sorted, 0.999),
      });
    }
    return list;
  }

  /** @returns {LockStats[]} the one that was waited for longest first */
  locksList() {
    const all = (p) => p.total + p.openTime;
    return this.locks.sort((a, b) => all(b.waits) - all(a.waits) || all(b.holds) - all(a.holds) || a.name - b.name).map(({ name, waits, holds, heldBy }) => {
      let sum = 0;
      for (const d of heldBy.values()) sum += d;
      const holders = [...heldBy].sort((a, b) => b[1] - a[1] || (a[0] & 1) - (b[0] & 1) || a[0] - b[0]);
      return {
        name, waits: waits.count, wait: waits.total, waitMax: waits.max, holds: holds.count, hold: holds.total, holdMax: holds.max,
        heldBy: holders.map(([key, d]) => [key < 0 || key & 1 ? null : key / 2, d / sum]),
      };
    });
  }
}

function addPeriod(p, batch, i, across, counted) {
  if (across) return;
  const dur = batch.dur[i];
  if (batch.flags[i] & Flag.unended) {
    p.openTime += dur;
    return;
  }
  // Of merged items the number and the sum are known.
  p.count += batch.many(i);
  p.total += batch.busy === null ? counted : countedOf(batch.busy[i], counted, dur);
  p.max = Math.max(p.max, dur);
}

/** Scales v to the counted part of a duration, in whole ns. */
function countedOf(v, counted, dur) { return counted < dur ? Math.trunc(v * counted / dur) : v; }

function addScope(g, batch, i, across, known, counted) {
  if (across) {
    g.across++;
    return;
  }
  if (!known) g.noSelf++;
  const dur = batch.dur[i];
  if (batch.flags[i] & Flag.unended) {
    g.open++;
    g.openTime += dur;
    return;
  }
  if (batch.many(i) > 1) return; // of several names
  g.total += counted;
  g.whole += dur;
  if (counted < dur) g.cut++;
  g.durations.push(dur);
  switch (batch.quality[i]) {
    case Quality.exact:
    case Quality.likely:
      g.cpu += countedOf(batch.cpu[i], counted, dur);
      g.cpuWall += counted;
      break;
    case Quality.atMost:
      g.cpuMax += countedOf(batch.cpu[i], counted, dur);
      g.cpuMaxWall += counted;
  }
}
