// What ran in a stretch of time, by name, and who waited for which lock. The numbers
// are those of `scopeview top`, by the rules of the Go side's internal/analysis.

import { Flag, Kind, Quality, isScope } from "../data/kinds.js";
import { quantileOf } from "./histogram.js";
import { Replay, hasMoments, itemsOfRow } from "./replay.js";

/**
 * Times are in ns and of the scopes that ended; self is what lies in the range,
 * and null where a scope's goroutine is unknown. What
 * lies across a clock step is in across only.
 * @typedef {Object} ScopeStats
 * @property {number} name
 * @property {boolean} process CPU is the whole process's
 * @property {number} count
 * @property {number} total
 * @property {number|null} self
 * @property {number} mean
 * @property {number} min
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 * @property {number} max
 * @property {number} cpu what is known, of scopes of cpuWall ns together
 * @property {number} cpuWall
 * @property {number} cpuMax upper bounds of others, of cpuMaxWall ns
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
 * Sums up what touches [from, to]. Scopes count whole; self and heldBy are what
 * lies inside.
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {import("./rowset.js").Row[]|null} rows null: all
 * @returns {Summary}
 */
export function summarize(model, from, to, rows = null) {
  const sum = new Sum(from, to);
  const byThread = rows !== null && rows[0]?.by === "thread";
  const threads = byThread ? new Set(rows.map((r) => r.key)) : null;
  const keep = threads ? (batch, i) => threads.has(batch.thread[i]) : () => true;
  for (const row of rows === null || byThread ? model.rows("goroutine") : rows) {
    if (row.first <= to && row.last >= from) sum.addRow(row, keep);
  }
  return { scopes: sum.scopes(), locks: sum.locksList() };
}

/** A sum under way. Groups and locks have numbers, in the order of their coming. */
class Sum {
  constructor(from, to) {
    this.from = from;
    this.to = to;
    /** @type {any[]} */
    this.groups = [];
    /** By 2 × name, + 1 for process scopes. @type {Map<number, number>} */
    this.groupOf = new Map();
    /** @type {any[]} */
    this.locks = [];
    /** @type {Map<number, number>} */
    this.lockOf = new Map();
    // What runs is told as an item's number in the row, to know names of holders.
    this.groupOfItem = new Int32Array(0);
    /** @type {import("./replay.js").RowItems|null} */
    this.items = null;
    this.replay = new Replay((id, a, b) => {
      const group = this.groupOfItem[id];
      if (group >= 0) this.groups[group].self += this.within(a, b);
    }, (lock, id, a, b) => this.held(lock, id, this.within(a, b)));
  }

  within(a, b) { return Math.max(Math.min(b, this.to) - Math.max(a, this.from), 0); }

  /** @param {import("./rowset.js").Row} row */
  addRow(row, keep) {
    const items = itemsOfRow(row, this.from, this.to);
    const { batches, which, index, order } = items;
    this.items = items;
    if (this.groupOfItem.length < order.length) this.groupOfItem = new Int32Array(order.length);
    this.replay.start(-Infinity);
    const known = row.key !== 0; // else the goroutines are many
    for (let k = 0; k < order.length; k++) {
      const at = order[k];
      const batch = batches[which[at]];
      const i = index[at];
      const kind = batch.kind[i];
      const end = batch.start[i] + batch.dur[i];
      const across = (batch.flags[i] & Flag.across) !== 0;
      const kept = keep(batch, i);
      if (known) this.comeTo(batch.start[i]);
      this.groupOfItem[at] = -1;
      if (kind === Kind.wait) {
        if (kept) addPeriod(this.lock(batch.name[i]).waits, batch, i, across);
      } else if (kind === Kind.hold) {
        if (kept) {
          addPeriod(this.lock(batch.name[i]).holds, batch, i, across);
          if (known && !across) this.replay.hold(end, this.lockOf.get(batch.name[i]) ?? 0);
        }
      } else if (isScope(kind) && kept) {
        const group = this.group(batch.name[i], kind === Kind.process);
        addScope(this.groups[group], batch, i, across, known);
        if (!across && !(batch.flags[i] & Flag.open)) this.groupOfItem[at] = group;
      }
      if (known && hasMoments(kind)) this.replay.begin(end, at);
    }
    if (known) this.replay.finish();
  }

  comeTo(t) {
    if (this.replay.cursor === -Infinity) this.replay.cursor = t;
    else this.replay.advance(t);
  }

  group(name, process) {
    const key = 2 * name + (process ? 1 : 0);
    let at = this.groupOf.get(key);
    if (at === undefined) {
      at = this.groups.push({
        name, process, total: 0, self: 0, noSelf: 0, durations: [], cpu: 0, cpuWall: 0, cpuMax: 0, cpuMaxWall: 0, open: 0, openTime: 0, across: 0,
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

  /** A lock was held for d while item id of the row had the time. */
  held(lock, id, d) {
    if (d <= 0) return;
    let key = -1; // no scope; else 2 × name, + 1 for waits
    if (id >= 0 && this.items) {
      const batch = this.items.batches[this.items.which[id]];
      const i = this.items.index[id];
      key = 2 * batch.name[i] + (batch.kind[i] === Kind.wait ? 1 : 0);
    }
    const { heldBy } = this.locks[lock];
    heldBy.set(key, (heldBy.get(key) ?? 0) + d);
  }

  /** @returns {ScopeStats[]} by name id */
  scopes() {
    return this.groups.sort((a, b) => a.name - b.name || Number(a.process) - Number(b.process)).map(({ durations, noSelf, ...g }) => {
      const sorted = new Float64Array(durations).sort();
      const count = sorted.length;
      return {
        ...g, count, self: noSelf === 0 ? g.self : null, mean: count === 0 ? 0 : Math.trunc(g.total / count),
        min: count === 0 ? 0 : sorted[0], max: count === 0 ? 0 : sorted[count - 1],
        p50: quantileOf(sorted, 0.5), p90: quantileOf(sorted, 0.9), p99: quantileOf(sorted, 0.99),
      };
    });
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

function addPeriod(p, batch, i, across) {
  if (across) return;
  if (batch.flags[i] & Flag.open) {
    p.openTime += batch.dur[i];
    return;
  }
  // Of merged items it is known how many there are, and what they add up to.
  p.count += batch.many(i);
  p.total += batch.busy === null ? batch.dur[i] : batch.busy[i];
  p.max = Math.max(p.max, batch.dur[i]);
}

function addScope(g, batch, i, across, known) {
  if (across) {
    g.across++;
    return;
  }
  if (!known) g.noSelf++;
  const dur = batch.dur[i];
  if (batch.flags[i] & Flag.open) {
    g.open++;
    g.openTime += dur;
    return;
  }
  if (batch.many(i) > 1) return; // of several names
  g.total += dur;
  g.durations.push(dur);
  switch (batch.quality[i]) {
    case Quality.exact:
    case Quality.likely:
      g.cpu += batch.cpu[i];
      g.cpuWall += dur;
      break;
    case Quality.atMost:
      g.cpuMax += batch.cpu[i];
      g.cpuMaxWall += dur;
  }
}
