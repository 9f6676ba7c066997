// The metadata of a trace.

import { addPlaces } from "./places.js";

/**
 * The metadata of a whole trace.
 * @typedef {Object} Meta
 * @property {string[]} names by id
 * @property {number=} namesFrom id of the first name of an update
 * @property {Map<number, import("./places.js").Place>} places by name id, where known
 * @property {{level: string, text: string}[]} banner
 * @property {[string, string][]} info
 * @property {Beats} beats
 * @property {[from: number, to: number, lost: number, reason: string][]} gaps
 * @property {[from: number, to: number][]} breaks steps of the clock
 * @property {[time: number, text: string][]} notes
 * @property {"closed"|"running"|"gone"|"unknown"} writer
 * @property {import("../model/stats.js").Summary|null} summary of the whole trace, if it is reduced
 * @property {{cursor: string}=} live position from which a page requests updates
 * @property {{share: number, left: number}=} loading progress while the server reads the trace: the share read, and the estimated remaining ns
 * @property {boolean=} reload the page must load the whole trace again
 * @property {number=} end time of the newest record
 * @property {number=} whole in a ring: time from which on all scopes are complete
 * @property {[from: number, to: number]=} excerpt of an excerpt of a recording: the range that the trace has
 * @property {string=} start
 * @property {string=} title
 * @property {string=} path
 * @property {string=} id of the recording, from a server
 * @property {number=} size
 * @property {string=} tool
 * @property {number=} scopes
 * @property {number=} linked number of items that are part of a request
 * @property {Process[]=} processes of a merged trace, a parent before its children
 * @property {number=} shift in a merged trace: number of bits below the process number in a goroutine's id
 * @property {number=} cpus number of CPUs that the program may use; 0: unknown
 *
 * A process of a merged trace; error: the possible error of its times, ns, -1: unknown.
 * @typedef {{number: number, parent?: number, label: string, pid: number, host?: string, path?: string, from: number, to: number,
 *   offset?: number, error: number, violated?: boolean, lost?: number, lacks?: string}} Process
 *
 * The outcome.
 * @typedef {Partial<Omit<Meta, "places"> & {places: import("./places.js").Placed}>} MetaNews
 *
 * The heartbeats, a list per quantity; null: unknown.
 * @typedef {{time: number[]} & Partial<Record<BeatField, (number|null)[]>>} Beats
 * @typedef {"user"|"sys"|"rss"|"heap"|"goroutines"|"gc"} BeatField
 *
 * The doctor's report; see internal/doctor of the Go side.
 * @typedef {Partial<{findings: Finding[], from_ns: number, to_ns: number, cores: {count: number}, end: {text: string}|null, starved: {text: string}|null, error: string,
 *   speedup: {name: string, cores: number}[], parallelism: number[], critical_path: CriticalPath[],
 *   unexamined: {verdicts?: string[], why?: string, how?: string}[], notes: string[],
 *   slow: {of: string, limit_ns: number, roots: {text: string, ns: number, share: number}[]}[]}>} DoctorReport
 * @typedef {{verdict: string, object?: string, text?: string, scopes?: string[], share: number, gain?: number|null, confidence: number,
 *   from_ns: number, to_ns: number, evidence?: string[], goids?: number[], worst?: {goid: number, from_ns: number, to_ns: number}|null}} Finding
 * @typedef {{of: string, count: number, ns: number, parts?: {name: string, state: string, ns: number, share: number}[],
 *   what_if?: {name: string, gain: number, partly?: number[]}[], steps?: [goid: number, from: number, to: number][], all_steps?: number}} CriticalPath
 *
 * The advice from the raw file beside a trace, about the whole run; see internal/advice of
 * the Go side.
 * @typedef {Partial<{raw: string, error: string, program: string, go: string, runs: number, seconds: number, looked: number,
 *   findings: Advised[], more: number, worst: Costly[], lost: string[], notes: string[]}>} Advice
 * @typedef {{id: string, original?: string, group?: string, improvement: number, ns: number, share: number, bytes: number, site: string,
 *   stack?: string[], stacks?: number, type?: string, advice: string, evidence?: string[], stoppers?: string[], runs?: number}} Advised
 * @typedef {{kind: string, type?: string, ns: number, site: string, stack?: string[], text: string}} Costly a cost without a remedy
 */

/** Returns empty metadata. @returns {Meta} */
export function blankMeta() { return { names: [""], places: new Map(), banner: [], info: [], beats: { time: [] }, gaps: [], breaks: [], notes: [], writer: "unknown", summary: null }; }

/**
 * Returns the metadata with an update applied: names, places and heartbeats are added, the rest is replaced.
 * @param {Meta} old
 * @param {MetaNews} news
 * @returns {Meta}
 */
export function mergeMeta(old, news) {
  const meta = { ...old, ...news, places: addPlaces(old.places, news.places) };
  meta.names = mergeNames(old.names ?? [""], news);
  meta.beats = mergeBeats(old.beats ?? { time: [] }, news.beats);
  for (const list of ["banner", "info", "gaps", "breaks", "notes"]) meta[list] ??= [];
  return meta;
}

/** @param {string[]} old @param {MetaNews} news */
function mergeNames(old, { names, namesFrom }) {
  if (!names) return old;
  return namesFrom ? [...old.slice(0, namesFrom), ...names] : names;
}

/** Returns the heartbeats with an update, which contains all of them or those since the last one. */
function mergeBeats(old, news) {
  if (!news?.time) return old;
  let keep = 0;
  while (keep < old.time.length && old.time[keep] < (news.time[0] ?? Infinity)) keep++;
  const beats = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(news)])) {
    const before = Array.isArray(old[field]) ? old[field].slice(0, keep) : [];
    while (before.length < keep) before.push(null);
    beats[field] = [...before, ...news[field] ?? []];
  }
  return beats;
}
