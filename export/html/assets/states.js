// What goroutines did at every moment: intervals that follow each other without
// gaps, and what of them is to be seen at a resolution. Of what is narrower than a
// pixel the state that took most of the time is shown, and waits for locks beside
// it.

import { bisect } from "./bisect.js";

/** What the states are called for people. */
export const stateWords = Object.freeze({
  unknown: "unknown", cpu: "on a CPU", running: "running", preempted: "put off the CPU by the system", stalled: "stalled in the kernel",
  runnable: "waiting for a processor", syscall: "in a system call", blocked: "blocked in a system call", lock: "waiting for a lock",
  join: "waiting in a WaitGroup", cond: "waiting for a condition", channel: "waiting for a channel", select: "waiting in select",
  network: "waiting for the network", sleep: "sleeping", gc: "held up by the garbage collector", other: "waiting for something else",
});

/** @param {string} name of a state */
export function stateText(name) { return stateWords[name] ?? name; }

/** A level is kept if it has at most this part of the items. */
const stateKeep = 1 / 3;

/**
 * What is drawn as one.
 * @typedef {Object} StateRun
 * @property {number} i the first item
 * @property {number} j the one behind the last
 * @property {number} t0
 * @property {number} t1
 * @property {number} n intervals in it
 * @property {number} top the state that took the most of it
 * @property {number} time how long
 * @property {number} lock how long of it was waiting for locks
 */

/** The states of some goroutines in a stretch of time. */
export class StateSet {
  /**
   * @param {Object} header
   * @param {Map<string, import("./columns.js").Column>} columns
   */
  constructor(header, columns) {
    const column = (/** @type {string} */ name) => {
      const c = columns.get(name);
      if (c === undefined) throw new Error(`The timeline's data lack the column ${name}.`);
      return c;
    };
    this.from = header.from;
    this.to = header.to;
    this.res = header.res;
    /** @type {string[]} */ this.names = header.names ?? [];
    /** @type {string[]} */ this.frames = header.frames ?? [""];
    /** @type {number[][]} */ this.stacks = header.stacks ?? [[]];
    /** @type {string[]} */ this.reasons = header.reasons ?? [""];
    this.switches = header.switches === true;
    /** @type {[string, string][]} what is to be said of them as a whole */ this.facts = header.facts ?? [];
    this.lockState = this.names.indexOf("lock");
    this.state = column("state");
    const dur = column("stateDur");
    const n = this.state.length;
    this.reason = column("stateReason");
    this.thread = column("stateThread");
    this.stack = column("stateStack");
    this.by = column("stateBy");
    this.byStack = column("stateByStack");
    this.many = header.res > 0 ? column("stateMany") : null;
    this.time = header.res > 0 ? column("stateTop") : dur;
    this.locked = header.res > 0 ? column("stateLock") : null;
    for (const c of [dur, this.reason, this.thread, this.stack, this.by, this.byStack, this.many, this.time, this.locked]) {
      if (c && c.length !== n) throw new Error(`The timeline's data have ${n} states, but a column of ${c.length}.`);
    }
    this.start = new Float64Array(n);
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

  /** A state's name. @param {number} state */
  nameOf(state) { return this.names[state] ?? "unknown"; }

  /** A stack's functions, the innermost first. @param {number} stack @returns {string[]} */
  stackOf(stack) { return (this.stacks[stack] ?? []).map((f) => this.frames[f] ?? ""); }

  /** How long of an item was waiting for locks. @param {number} i */
  lockOf(i) { return this.locked ? this.locked[i] : this.state[i] === this.lockState ? this.dur[i] : 0; }
}

/** The states of one goroutine. */
export class StateLane {
  /** @param {StateSet} set @param {number} key @param {number} from @param {number} to @param {string} func that it began with @param {boolean} system it is the runtime's own */
  constructor(set, key, from, to, func, system) {
    this.set = set;
    this.key = key;
    this.from = from;
    this.to = to;
    this.func = func;
    this.system = system;
    this.first = set.start[from];
    this.last = set.start[to - 1] + set.dur[to - 1];
    /** @type {Map<number, Object|null>} by resolution */
    this.levels = new Map();
  }

  /**
   * The items merged by a resolution; null: that would not save enough.
   * @param {number} res a power of 4
   */
  level(res) {
    let level = this.levels.get(res);
    if (level === undefined) this.levels.set(res, level = res > 1 ? mergeStates(this, res) : null);
    return level;
  }

  /**
   * Calls visit with what is to be seen in [from, to], by time: with each interval
   * that is not narrower than res alone, with the others in runs. The run is good
   * until the next call.
   * @param {number} from @param {number} to @param {number} res
   * @param {(run: StateRun) => void} visit
   */
  each(from, to, res, visit) {
    const r = res > 1 ? 4 ** Math.floor(Math.log(res) / Math.log(4)) : 0;
    eachState(this, r > 1 ? this.level(r) : null, from, to, res, visit);
  }
}

/** The states' times in what is being merged; the last is what cannot be told apart any more. */
const stateTimes = new Float64Array(257);

/** @param {StateLane} lane @param {any} level @param {number} from @param {number} to @param {number} res @param {(run: StateRun) => void} visit */
function eachState(lane, level, from, to, res, visit) {
  const { set } = lane;
  const first = level ? level.first : null;
  const cells = level ? level.n : lane.to - lane.from;
  const at = (/** @type {number} */ c) => (first ? first[c] : lane.from + c);
  const startOf = (/** @type {number} */ c) => (c < cells ? set.start[at(c)] : lane.last);
  const add = (/** @type {number} */ c) => {
    const i = at(c);
    const d = startOf(c + 1) - set.start[i];
    const top = level ? level.top[c] : set.state[i];
    const time = level ? level.time[c] : set.time[i];
    const lock = level ? level.lock[c] : set.lockOf(i);
    stateTimes[top] += time;
    if (top !== set.lockState && set.lockState >= 0) stateTimes[set.lockState] += lock;
    stateTimes[256] += Math.max(0, d - time - (top === set.lockState ? 0 : lock));
  };
  const run = { i: 0, j: 0, t0: 0, t1: 0, n: 0, top: 0, time: 0, lock: 0 };
  let c = Math.max(0, bisect(0, cells, (k) => startOf(k + 1) <= from));
  for (; c < cells && startOf(c) <= to;) {
    run.t0 = startOf(c);
    run.i = at(c);
    stateTimes.fill(0);
    add(c++);
    while (c < cells && startOf(c + 1) - run.t0 < res) add(c++);
    run.t1 = startOf(c);
    run.j = c < cells ? at(c) : lane.to;
    let top = 0;
    for (let k = 0; k < 256 && k < set.names.length; k++) if (stateTimes[k] > stateTimes[top]) top = k;
    run.top = top;
    run.time = stateTimes[top];
    run.lock = set.lockState < 0 ? 0 : stateTimes[set.lockState];
    run.n = run.j - run.i;
    if (set.many) {
      run.n = 0;
      for (let i = run.i; i < run.j && i < run.i + 1000; i++) run.n += set.many[i];
    }
    visit(run);
  }
}

/** Makes a level; null if it would not save enough. @param {StateLane} lane @param {number} res */
function mergeStates(lane, res) {
  const most = Math.floor((lane.to - lane.from) * stateKeep);
  if (most < 8) return null;
  let n = 0;
  const count = { start: lane.set.start, end: -Infinity };
  for (let i = lane.from; i < lane.to && n <= most;) {
    const t = count.start[i++];
    while (i < lane.to && (i + 1 < lane.to ? count.start[i + 1] : lane.last) - t < res) i++;
    n++;
  }
  if (n > most) return null;
  const level = { n, first: new Uint32Array(n), top: new Uint8Array(n), time: new Float64Array(n), lock: new Float64Array(n) };
  let k = 0;
  eachState(lane, null, -Infinity, Infinity, res, (run) => {
    level.first[k] = run.i;
    level.top[k] = run.top;
    level.time[k] = run.time;
    level.lock[k++] = run.lock;
  });
  level.n = k;
  return level;
}
