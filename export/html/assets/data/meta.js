// What is known of a trace beside its items.

import { addPlaces } from "./places.js";

/**
 * What is to be said of a trace as a whole.
 * @typedef {Object} Meta
 * @property {string[]} names by id
 * @property {number=} namesFrom the id of the first that came
 * @property {Map<number, import("./places.js").Place>} places by names' ids, as far as they are known
 * @property {{level: string, text: string}[]} banner
 * @property {[string, string][]} info
 * @property {Beats} beats
 * @property {[from: number, to: number, lost: number, reason: string][]} gaps
 * @property {[from: number, to: number][]} breaks of the clock
 * @property {[time: number, text: string][]} notes
 * @property {"closed"|"running"|"gone"|"unknown"} writer
 * @property {import("../model/stats.js").Summary|null} summary of the whole of a reduced trace
 * @property {{cursor: string}=} live where a page goes on asking
 * @property {{share: number, left: number}=} loading the server still reads the trace: how much of its time it has, and the ns that may be left
 * @property {boolean=} reload the whole is to be asked for again
 * @property {number=} end the last moment that is known
 * @property {number=} whole of a ring: what began after it is all there
 * @property {string=} start
 * @property {string=} title
 * @property {string=} path
 * @property {string=} id of the recording, from a server
 * @property {number=} size
 * @property {string=} tool
 * @property {number=} scopes
 * @property {number=} linked so many items are part of a request
 * @property {Process[]=} processes of a merged trace, a parent before its children
 * @property {number=} shift of one: behind so many bits a goroutine's id has the number of its process
 * @property {number=} cpus that it may use; 0: not known
 *
 * A process of a merged trace; error: by how much its times may be wrong, ns, -1: not known.
 * @typedef {{number: number, parent?: number, label: string, pid: number, host?: string, path?: string, from: number, to: number,
 *   offset?: number, error: number, violated?: boolean, lost?: number, lacks?: string}} Process
 *
 * What came of it.
 * @typedef {Partial<Omit<Meta, "places"> & {places: import("./places.js").Placed}>} MetaNews
 *
 * The heartbeats, number by number; null: not known.
 * @typedef {{time: number[]} & Partial<Record<BeatField, (number|null)[]>>} Beats
 * @typedef {"user"|"sys"|"rss"|"heap"|"goroutines"|"gc"} BeatField
 *
 * What the doctor says; see the Go side's internal/doctor.
 * @typedef {Partial<{findings: Finding[], from_ns: number, to_ns: number, cores: {count: number}, end: {text: string}|null, starved: {text: string}|null, error: string,
 *   speedup: {name: string, cores: number}[], parallelism: number[], critical_path: CriticalPath[],
 *   unexamined: {verdicts?: string[], why?: string, how?: string}[], notes: string[]}>} DoctorReport
 * @typedef {{verdict: string, object?: string, text?: string, scopes?: string[], share: number, gain?: number|null, confidence: number,
 *   from_ns: number, to_ns: number, evidence?: string[], goids?: number[], worst?: {goid: number, from_ns: number, to_ns: number}|null}} Finding
 * @typedef {{of: string, count: number, ns: number, parts?: {name: string, state: string, ns: number, share: number}[],
 *   what_if?: {name: string, gain: number, partly?: number[]}[], steps?: [goid: number, from: number, to: number][], all_steps?: number}} CriticalPath
 *
 * What the raw file beside a trace says of the whole run; see the Go side's internal/advice.
 * @typedef {Partial<{raw: string, error: string, program: string, go: string, runs: number, seconds: number, looked: number,
 *   findings: Advised[], more: number, worst: Costly[], lost: string[], notes: string[]}>} Advice
 * @typedef {{id: string, original?: string, group?: string, improvement: number, ns: number, share: number, bytes: number, site: string,
 *   stack?: string[], stacks?: number, type?: string, advice: string, evidence?: string[], stoppers?: string[], runs?: number}} Advised
 * @typedef {{kind: string, type?: string, ns: number, site: string, stack?: string[], text: string}} Costly what costs, without a remedy
 */

/** What is known of nothing. @returns {Meta} */
export function blankMeta() { return { names: [""], places: new Map(), banner: [], info: [], beats: { time: [] }, gaps: [], breaks: [], notes: [], writer: "unknown", summary: null }; }

/**
 * What is known after more came: names, places and heartbeats are added to, all else is
 * replaced.
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

/** Beats come all, or those since the last ones. */
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
