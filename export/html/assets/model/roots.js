// The roots of executions' time: each moment counts for the activity on which the execution depended. While its
// goroutine waits, that is the activity of the goroutine that holds what it waits for, or that ends the wait; if that one
// waits, too, the next one's, and so on. So the roots of an execution add up to its duration.

import { shortText } from "../data/names.js";
import { stateText } from "../data/states.js";
import { cutWait, explain, isAwaited, waitOfState, waitsIn } from "./explain.js";
import { scopesDuring } from "./procs.js";

/**
 * A root: what a goroutine did while executions depended on it. Times are ns for an execution.
 *   own: the executions' own goroutine; held: it held object; woke: it ended a wait for object
 * @typedef {Object} Root
 * @property {"own"|"held"|"woke"|"unknown"} kind
 * @property {string} object "": none, or without a name
 * @property {string} state of the goroutine; "": unknown
 * @property {string} name of its innermost scope; "": none
 * @property {number} slow
 * @property {number} usual
 * @property {Map<number, number>} keys ns of the slow executions by goroutine
 * @property {{key: number, from: number, to: number}} longest piece
 *
 * How a goroutine is reached: over which object, and how. null: it is the execution's own.
 * @typedef {{kind: "held"|"woke", object: string}|null} Way
 */

/** The maximum number of executions on each side that are followed; of more, some that are evenly distributed. */
const mostFollowed = 100;
/** The maximum number of goroutines in a chain, and of pieces of an execution: the rest is unknown. */
const mostDeep = 16;
const mostPieces = 5000;
/** The number of scopes into which a piece is divided; shorter ones are merged. */
const scopesOfPiece = 50;

/**
 * Returns the roots of slow and usual executions, the largest difference first.
 * @param {import("./model.js").Model} model
 * @param {import("./runs.js").Runs} runs
 * @param {Uint8Array} side by execution: 1 slow, 2 usual
 * @returns {Generator<void, {roots: Root[], followed: [number, number]}>}
 */
export function* rootSteps(model, runs, side) {
  // Without all items and states of the time it would be taken for the executions' own.
  if (model.reduced) return { roots: [], followed: [0, 0] };
  /** @type {Map<string, Root>} */
  const roots = new Map();
  const chosen = [1, 2].map((s) => someOf(Array.from({ length: runs.n }, (_, k) => k).filter((k) => side[k] === s)));
  for (const [s, list] of chosen.entries()) {
    for (const k of list) {
      yield;
      const { key } = runs.rows[runs.row[k]];
      const { start: { [k]: from }, dur: { [k]: dur } } = runs;
      new Walk(model, (kind, way, at, state, name) => addRoot(roots, s === 0, list.length, { kind, object: way?.object ?? "", state, name }, at)).follow(key, from, from + dur, null, []);
    }
  }
  const list = [...roots.values()].sort((a, b) => b.slow - b.usual - (a.slow - a.usual));
  return { roots: list, followed: [chosen[0].length, chosen[1].length] };
}

/** Returns at most mostFollowed elements of a list, evenly distributed. @param {number[]} list */
function someOf(list) {
  const n = Math.min(list.length, mostFollowed);
  return Array.from({ length: n }, (_, k) => list[Math.floor((k * list.length) / n)]);
}

/**
 * @param {Map<string, Root>} roots @param {boolean} slow @param {number} count of executions on that side
 * @param {Pick<Root, "kind"|"object"|"state"|"name">} what @param {{key: number, from: number, to: number}} at
 */
function addRoot(roots, slow, count, what, at) {
  const id = JSON.stringify(what);
  let root = roots.get(id);
  if (!root) roots.set(id, root = { ...what, slow: 0, usual: 0, keys: new Map(), longest: at });
  const ns = (at.to - at.from) / count;
  root[slow ? "slow" : "usual"] += ns;
  if (slow) root.keys.set(at.key, (root.keys.get(at.key) ?? 0) + ns);
  if (slow && at.to - at.from > root.longest.to - root.longest.from) root.longest = at;
}

/** Follows one execution. */
class Walk {
  /**
   * @param {import("./model.js").Model} model
   * @param {(kind: Root["kind"], way: Way, at: {key: number, from: number, to: number}, state: string, name: string) => void} add
   */
  constructor(model, add) {
    this.model = model;
    this.add = add;
    this.left = mostPieces;
  }

  /**
   * Attributes a range of time of a goroutine.
   * @param {number} key @param {number} from @param {number} to @param {Way} way @param {number[]} above the goroutines that depend on it
   */
  follow(key, from, to, way, above) {
    if (to <= from) return;
    if (--this.left < 0 || above.length >= mostDeep || above.includes(key)) return this.add("unknown", way, { key, from, to }, "", "");
    const next = [...above, key];
    let at = from;
    for (const wait of waitsIn(this.model, key, from, to)) {
      this.awake(key, at, wait.from, way, next);
      if (wait.to > at) this.wait(cutWait(wait, Math.max(at, wait.from), wait.to), way, next);
      at = Math.max(at, wait.to);
    }
    this.awake(key, at, to, way, next);
  }

  /** Attributes time without a recorded wait. @param {number} key @param {number} from @param {number} to @param {Way} way @param {number[]} above */
  awake(key, from, to, way, above) {
    let at = from;
    const lane = this.model.waits.lane(key);
    lane?.each(from, to, 0, (run) => {
      const [a, b] = [Math.max(run.t0, at), Math.min(run.t1, to)];
      if (b <= a) return;
      this.own(key, at, a, way, "");
      at = b;
      const wait = run.n === 1 ? waitOfState(this.model, key, lane.set, run.i) : null;
      if (wait && isAwaited(wait)) this.wait(cutWait(wait, a, b), way, above);
      else this.own(key, a, b, way, lane.set.nameOf(run.top));
    });
    this.own(key, at, to, way, "");
  }

  /** Attributes time to a goroutine's own activity, by scope. @param {number} key @param {number} from @param {number} to @param {Way} way @param {string} state */
  own(key, from, to, way, state) {
    if (to <= from) return;
    for (const { t0, t1, ref } of scopesDuring(this.model, key, from, to, (to - from) / scopesOfPiece)) {
      this.add(way?.kind ?? "own", way, { key, from: t0, to: t1 }, state, ref ? this.model.name(ref.batch.name[ref.i]) : "");
    }
  }

  /** Attributes a wait. @param {import("./explain.js").Wait} wait @param {Way} way @param {number[]} above */
  wait(wait, way, above) {
    for (const { kind, key, state, pieces } of explain(this.model, wait, false).parts) {
      for (const { from, to } of pieces) {
        if (kind === "own") this.own(key, from, to, way, state);
        else if (kind === "unknown" || kind === "merged") this.add("unknown", { kind: "held", object: wait.name }, { key: wait.key, from, to }, wait.state, "");
        else this.follow(key, from, to, { kind: kind === "waker" ? "woke" : "held", object: wait.name }, above);
      }
    }
  }
}

/** The share of a root's time from which on one goroutine is named for it. */
const mostOfRoot = 0.8;

/**
 * Describes a root.
 * @param {Root} root @param {(key: number) => string} title of a goroutine
 */
export function rootWords({ kind, object, state, name, keys, slow }, title) {
  const does = [state === "" ? "activity unknown" : stateText(state), name ? `in ${shortText(name)}` : "in no scope"].join(", ");
  if (kind === "own") return `itself ${does}`;
  if (kind === "unknown") return `${object ? `waiting for ${shortText(object)}` : stateText(state)}: for whom is unknown`;
  const [[first = 0, ns = 0] = []] = [...keys].sort((a, b) => b[1] - a[1]);
  const who = ns >= mostOfRoot * slow ? title(first) : `${keys.size} goroutines`;
  if (state === "" && name === "") return `waiting for ${shortText(object) || "a lock"}, ${kind === "held" ? "held" : "until woken"} by ${who}`;
  return kind === "held" ? `${who} ${keys.size > 1 && ns < mostOfRoot * slow ? "hold" : "holds"} ${shortText(object) || "the lock"}, ${does}` : `${object ? `waiting for ${shortText(object)}` : "waiting"} until woken by ${who}, ${does}`;
}
