// The tracks: the goroutines on each of Go's processors and threads. Unmerged states contain
// them interval by interval; for merged states the Go side sends separate columns.

import { StateSet, trackNames } from "../data/states.js";
import { sortSteps } from "../data/slices.js";

/** The state of a track without a goroutine: the number after the last state. @param {StateSet} set */
function idleOf(set) { return set.names.length; }

/** Returns a track's key, as numbered by the Go side. @param {number} n @param {boolean} thread */
export function trackKey(n, thread) { return 2 * n + (thread ? 1 : 0); }

/**
 * Returns the tracks of some goroutines' states, by trackKey. by of an item is the goroutine. null: there are none.
 * @param {StateSet} set
 * @returns {Generator<void, StateSet|null>}
 */
export function* trackSteps(set) {
  const trackColumns = set.res > 0 ? set.trackColumns : yield* heldColumns(set);
  if (set.res > 0 && trackColumns.length < trackNames.length) return null;
  const [key, count, start, state, dur, by, many, top] = trackColumns;
  const none = new Uint8Array(state.length);
  const columns = new Map(/** @type {[string, any][]} */ ([
    ["stateGoid", key], ["stateCount", count], ["stateStart", start], ["stateFunc", new Uint8Array(key.length)], ["stateSystem", new Uint8Array(key.length)],
    ["state", state], ["stateDur", dur], ["stateReason", none], ["stateThread", none], ["stateStack", none], ["stateBy", by], ["stateByStack", none],
    ["stateMany", many], ["stateTop", top], ["stateLock", none],
  ]));
  const { from, to, res, names, switches } = set;
  return new StateSet({ from, to, res, names: [...names, "idle"], switches }, columns);
}

/**
 * Returns the columns of tracks from unmerged intervals. A system call may have lost its
 * processor before its end: it keeps it until another goroutine gets it.
 * @param {StateSet} set
 * @returns {Generator<void, any[]>}
 */
function* heldColumns(set) {
  const { thread, proc } = set;
  const here = (/** @type {number} */ i) => thread[i] > 0 || proc !== null && proc[i] > 0;
  let n = 0;
  for (let i = 0; i < set.state.length; i++) if (here(i)) n++;
  const held = { item: new Uint32Array(n), start: new Float64Array(n), goid: new Float64Array(n) };
  let at = 0;
  for (const lane of set.lanes.values()) {
    yield;
    for (let i = lane.from; i < lane.to; i++) {
      if (!here(i)) continue;
      held.item[at] = i;
      held.start[at] = set.start[i];
      held.goid[at++] = lane.key;
    }
  }
  /** Indexes into held, in order of time. @type {Map<number, number[]>} */
  const tracks = new Map();
  const put = (/** @type {number} */ key, /** @type {number} */ k) => {
    const list = tracks.get(key);
    if (list) list.push(k);
    else tracks.set(key, [k]);
  };
  const order = yield* sortSteps(Uint32Array.from(held.item.keys()), (a, b) => held.start[a] - held.start[b]);
  for (let j = 0; j < n; j++) {
    if ((j & 0x3fff) === 0) yield;
    const k = order[j];
    const i = held.item[k];
    if (proc !== null && proc[i] > 0) put(trackKey(proc[i] - 1, false), k);
    if (thread[i] > 0) put(trackKey(thread[i], true), k);
  }
  return yield* laidOnTracks(set, held, tracks);
}

/** @param {StateSet} set @param {{item: Uint32Array, start: Float64Array, goid: Float64Array}} held @param {Map<number, number[]>} tracks @returns {Generator<void, any[]>} */
function* laidOnTracks(set, held, tracks) {
  let most = 0; // with a gap before each
  for (const list of tracks.values()) most += 2 * list.length;
  const state = new Uint8Array(most);
  const dur = new Float64Array(most);
  const by = new Float64Array(most);
  const keys = [...tracks.keys()].sort((a, b) => a - b);
  const starts = [];
  const counts = [];
  let n = 0;
  for (const key of keys) {
    const list = /** @type {number[]} */ (tracks.get(key));
    const first = n;
    let end = held.start[list[0]];
    starts.push(end);
    for (let k = 0; k < list.length; k++) {
      if ((k & 0x3fff) === 0) yield;
      const i = held.item[list[k]];
      const t = held.start[list[k]];
      if (t > end) {
        state[n] = isComplete(set, end, t) ? idleOf(set) : 0;
        dur[n++] = t - end;
      }
      const stop = Math.min(t + set.dur[i], k + 1 < list.length ? held.start[list[k + 1]] : Infinity);
      end = Math.max(end, stop);
      if (stop === t) continue;
      state[n] = set.state[i];
      dur[n] = stop - t;
      by[n++] = held.goid[list[k]];
    }
    counts.push(n - first);
  }
  return [Float64Array.from(keys), Uint32Array.from(counts), Float64Array.from(starts), state.subarray(0, n), dur.subarray(0, n), by.subarray(0, n)];
}

/**
 * Reports whether all states in a range of time are known.
 * @param {StateSet} set @param {number} from @param {number} to
 */
function isComplete(set, from, to) { return set.complete.some(([a, b]) => a <= from && to <= b); }
