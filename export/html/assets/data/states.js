// The states of goroutines: intervals without gaps, and their merged levels at a resolution. A merged run, by the rule
// of docs/merging.md, shows the state that took most of its time, and its waits for locks beside it.

import { columnFinder } from "./columns.js";
import { bisect } from "./bisect.js";
import { countRuns, evenRes, runEnd, stretchOf } from "./merge.js";

/** The displayed names of states. */
export const stateWords = Object.freeze({
  unknown: "unknown", cpu: "on a CPU", running: "running", preempted: "preempted by the system", textfault: "waiting for a page of instructions",
  datafault: "waiting for a page of memory", stalled: "stalled in the kernel", runnable: "waiting for a processor", syscall: "in a system call", blocked: "blocked in a system call", lock: "waiting for a lock",
  join: "waiting in a WaitGroup", cond: "waiting for a condition", channel: "waiting for a channel", select: "waiting in select",
  network: "waiting for the network", sleep: "sleeping", gc: "blocked by the garbage collector", other: "waiting for something else",
});

/** @param {string} name of a state */
export function stateText(name) { return stateWords[name] ?? name; }

/** Columns of the tracks of processors and threads, with the names of the Go side. */
export const trackNames = ["trackKey", "trackCount", "trackStart", "track", "trackDur", "trackBy", "trackMany", "trackTop"];

/** The maximum share of the items that a level may have to be kept. */
const stateKeep = 1 / 3;

/**
 * Intervals that are drawn as one.
 * @typedef {Object} StateRun
 * @property {number} i first item
 * @property {number} j index after the last item
 * @property {number} t0
 * @property {number} t1
 * @property {number} n minimum number of intervals in it; 1 only if it is exactly one
 * @property {number} top state with the most time
 * @property {number} time of that state
 * @property {number} lock time spent waiting for locks
 */

/** The states of some goroutines in a range of time. */
export class StateSet {
  /** @param {import("./columns.js").StatesHeader} header @param {Map<string, import("./columns.js").Column>} columns */
  constructor(header, columns) {
    const column = columnFinder(columns);
    this.from = header.from;
    this.to = header.to;
    this.res = header.res;
    /** @type {string[]} */ this.names = header.names ?? [];
    /** @type {string[]} */ this.frames = header.frames ?? [""];
    /** @type {number[][]} */ this.stacks = header.stacks ?? [[]];
    /** @type {string[]} */ this.reasons = header.reasons ?? [""];
    this.switches = header.switches === true;
    /** @type {[string, string][]} facts about all of them */ this.facts = header.facts ?? [];
    this.procs = header.procs ?? 0; // number of Go's processors that ran a goroutine
    /** @type {[number, number][]} ranges with complete states */ this.complete = header.known ?? [];
    this.lockState = this.names.indexOf("lock");
    this.state = column("state");
    const dur = column("stateDur");
    const n = this.state.length;
    this.reason = column("stateReason");
    this.thread = column("stateThread");
    this.stack = column("stateStack");
    this.by = column("stateBy");
    this.byStack = column("stateByStack");
    this.count = header.res > 0 ? column("stateMany") : null;
    this.time = header.res > 0 ? column("stateTop") : dur;
    this.locked = header.res > 0 ? column("stateLock") : null;
    /** Processors, from 1 on; 0: none or unknown. Null if there are tracks instead. */
    this.proc = header.res > 0 ? null : columns.get("stateProc") ?? null;
    const more = (/** @type {string[]} */ names) => (header.res > 0 ? names.flatMap((name) => columns.get(name) ?? []) : []);
    /** Columns of merged states, in the order of trackNames. */ this.trackColumns = more(trackNames);
    /**
     * For merged states: the time of running, runnable and blocked goroutines in each
     * stretch.
     */ this.bins = { from: header.countFrom ?? 0, width: header.bin ?? 0, sums: more(["countRunning", "countReady", "countBlocked"]) };
    if (new Set(this.trackColumns.slice(3).map((c) => c.length)).size > 1 || new Set(this.bins.sums.map((c) => c.length)).size > 1) throw new Error("The timeline's columns of processors, or of counts, differ in length.");
    for (const c of [dur, this.reason, this.thread, this.stack, this.by, this.byStack, this.count, this.time, this.locked, this.proc]) {
      if (c && c.length !== n) throw new Error(`The timeline's data have ${n} states, but a column of ${c.length}.`);
    }
    this.start = new Float64Array(n);
    this.flags = null; // no open items
    this.dur = dur;
    /** @type {Map<number, StateLane>} by goroutine */
    this.lanes = new Map();
    const [goid, count, start, fn, system] = ["stateGoid", "stateCount", "stateStart", "stateFunc", "stateSystem"].map(column);
    let at = 0;
    for (let k = 0; k < goid.length; k++) {
      const from = at;
      let t = start[k];
      const end = Math.min(n, at + count[k]);
      for (; at < end; at++) {
        this.start[at] = t;
        t += dur[at];
      }
      if (at > from) this.lanes.set(goid[k], new StateLane(this, goid[k], from, at, this.frames[fn[k]] ?? "", system[k] === 1));
    }
  }

  /** Returns the name of a state. @param {number} state */
  nameOf(state) { return this.names[state] ?? "unknown"; }

  /** Returns the functions of a stack, the innermost first. @param {number} stack @returns {string[]} */
  stackOf(stack) { return (this.stacks[stack] ?? []).map((f) => this.frames[f] ?? ""); }

  /** Returns the number of intervals that a run represents. @param {StateRun} run */
  intervalCount(run) {
    if (this.count === null) return run.j - run.i;
    let n = 0;
    for (let i = run.i; i < run.j; i++) n += this.count[i];
    return n;
  }
}

/** The states of one goroutine. */
export class StateLane {
  /**
   * Creates the lane.
   * @param {StateSet} set
   * @param {number} key
   * @param {number} from
   * @param {number} to
   * @param {string} func the goroutine's first function
   * @param {boolean} system a goroutine of the runtime
   */
  constructor(set, key, from, to, func, system) {
    this.set = set;
    this.key = key;
    this.from = from;
    this.to = to;
    this.func = func;
    this.system = system;
    this.first = set.start[from];
    this.last = set.start[to - 1] + set.dur[to - 1];
    /** @type {{res: number, level: StateLevel}[]} the finest first */
    this.levels = [];
    this.coarsestTried = 1; // the coarsest resolution tried, whether its level was kept or not
  }

  /**
   * Returns the coarsest level that is no coarser than res; null: the items themselves.
   * @param {number} res
   * @returns {StateLevel|null}
   */
  levelFor(res) {
    while (this.coarsestTried * 4 <= res) {
      this.coarsestTried *= 4;
      const level = mergeStates(this, this.levels.at(-1)?.level ?? null, this.coarsestTried);
      if (level) this.levels.push({ res: this.coarsestTried, level });
    }
    for (let k = this.levels.length - 1; k >= 0; k--) if (this.levels[k].res <= res) return this.levels[k].level;
    return null;
  }

  /**
   * Calls visit with the intervals of [from, to], in order of time. Intervals of at least res come alone, shorter ones
   * in runs; below 1 ns each comes alone. visit may use the run only until the next call.
   * @param {number} from @param {number} to @param {number} res
   * @param {(run: StateRun) => void} visit
   */
  each(from, to, res, visit) {
    const r = res >= 1 ? evenRes(res) : 0;
    eachState(this, this.levelFor(r), from, to, r, visit);
  }
}

/**
 * The merged runs of a lane: run c is the items first[c] up to first[c+1].
 * @typedef {Object} StateLevel
 * @property {number} n
 * @property {Uint32Array} first
 * @property {Uint8Array} top
 * @property {Float64Array} time
 * @property {Float64Array} lock
 */

/**
 * The time of each state in the run being merged; the last element counts time whose state is unknown after merging.
 */
const stateTimes = new Float64Array(257);

/** Adds items [i, j) unmerged. @param {StateSet} set @param {number} i @param {number} j */
function addStates(set, i, j) {
  const { state, dur, time, locked, lockState } = set;
  for (; i < j; i++) {
    const top = state[i];
    stateTimes[top] += time[i];
    if (locked === null) continue;
    const lock = top === lockState ? 0 : locked[i];
    if (lockState >= 0) stateTimes[lockState] += lock;
    stateTimes[256] += dur[i] - time[i] - lock;
  }
}

/** Adds a run of a level. @param {StateSet} set @param {StateLevel} level @param {number} c @param {number} dur */
function addRun(set, level, c, dur) {
  const top = level.top[c];
  const lock = top === set.lockState ? 0 : level.lock[c];
  stateTimes[top] += level.time[c];
  if (set.lockState >= 0) stateTimes[set.lockState] += lock;
  stateTimes[256] += dur - level.time[c] - lock;
}

/** Returns the state with the most added time. @param {StateSet} set */
function topState(set) {
  let top = 0;
  for (let k = 1; k < set.names.length; k++) if (stateTimes[k] > stateTimes[top]) top = k;
  return top;
}

/** @param {StateLane} lane @param {StateLevel|null} level @param {number} from @param {number} to @param {number} res @param {(run: StateRun) => void} visit */
function eachState(lane, level, from, to, res, visit) {
  const { set } = lane;
  const { start, dur } = set;
  const first = level === null ? null : level.first;
  const base = level === null ? lane.from : 0;
  const end = level === null ? lane.to : level.n;
  const startOf = (/** @type {number} */ c) => (c >= end ? lane.last : first === null ? start[c] : start[first[c]]);
  const run = { i: 0, j: 0, t0: 0, t1: 0, n: 0, top: 0, time: 0, lock: 0 };
  let c = bisect(base, end, (k) => startOf(k + 1) <= from);
  // A run that extends into the view began in this stretch, possibly before the view.
  if (c < end && res > 0) c = bisect(base, c, (k) => startOf(k) < stretchOf(startOf(c), res));
  while (c < end) {
    const c0 = c;
    run.t0 = startOf(c);
    if (run.t0 > to) return;
    c = res > 0 ? runEnd(set, first, c, end, res) : c + 1;
    run.i = first === null ? c0 : first[c0];
    run.j = first === null ? c : first[c];
    run.t1 = start[run.j - 1] + dur[run.j - 1];
    if (run.t1 <= from) continue;
    stateTimes.fill(0);
    if (level === null) addStates(set, c0, c);
    else for (let k = c0; k < c; k++) addRun(set, level, k, startOf(k + 1) - startOf(k));
    run.top = topState(set);
    run.time = stateTimes[run.top];
    run.lock = set.lockState < 0 ? 0 : stateTimes[set.lockState];
    run.n = run.j - run.i;
    if (set.count !== null && run.n === 1) run.n = set.count[run.i];
    visit(run);
  }
}

/**
 * Creates a level from a finer one, or from the items; null if it would not save enough.
 * @param {StateLane} lane @param {StateLevel|null} below @param {number} res
 * @returns {StateLevel|null}
 */
function mergeStates(lane, below, res) {
  const cells = below === null ? lane.to - lane.from : below.n;
  const from = below === null ? lane.from : 0;
  const most = Math.floor(cells * stateKeep);
  if (most < 8) return null;
  const n = countRuns(lane.set, below && below.first, from, from + cells, res, most);
  if (n > most) return null;
  const level = { n, first: new Uint32Array(n + 1), top: new Uint8Array(n), time: new Float64Array(n), lock: new Float64Array(n) };
  let k = 0;
  eachState(lane, below, -Infinity, Infinity, res, (run) => {
    level.first[k] = run.i;
    level.top[k] = run.top;
    level.time[k] = run.time;
    level.lock[k] = run.lock;
    level.first[++k] = run.j;
  });
  return level;
}
