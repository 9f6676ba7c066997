// What the address's fragment keeps: a link shows a colleague the same thing. v=from-to (ns), s=goroutine:depth:start,
// r=from-to, area=(row keys) that it is of, q=search m=marks, note=from-to:name of a mark that has one or is long
// rows=filter, by=thread, hidden=, pinned=, shut= (row keys) collapse=all (shut= are those that are not, then), opened= (groups), row= that is chosen,
// lines=one, sort=start|busy|wait|cpu states=thick|off, locks=off, procs=off, graphs=all|line, path=on clock=wall,
// sums=whole color=row|thread|argument KEY request=trace id, only=request: of its rows alone, flows=on: arrows of all
// requests in sight compared=name (of the Compare tab), shift= of the other trace (ns) tab=, finding=verdict:object (of
// the Doctor tab) fn=, metric=, in=, runs=slow|others|compare, of=shown|chosen|g17: a function, a metric, in executions
// of which scope, of which rows, or which row (of the tabs of functions), name=, long=from-to: of which name (of the
// Executions tab), how long (ns) those that are brushed.

import { rowOrders } from "./model/rows.js";

/** The maximum length of a mark's name and the maximum number of marks, which limit the length of a link. */
export const longestMarkName = 80;
export const mostMarks = 100;

/** The tabs below the timeline. */
export const tabs = /** @type {const} */ (["details", "summary", "query", "runs", "request", "flame", "functions", "callers", "source", "doctor", "advice", "compare", "about"]);

/**
 * @typedef {(typeof tabs)[number]} Tab
 *
 * A marked moment, or a stretch of time.
 * @typedef {{from: number, to: number, name: string}} Mark
 *
 * @typedef {Object} ViewState
 * @property {{from: number, to: number}=} view
 * @property {{from: number, to: number}=} range
 * @property {{key: number, depth: number, start: number}=} selection
 * @property {string=} search
 * @property {string=} rows filter of the rows
 * @property {import("./model/rows.js").RowOrder=} sort
 * @property {boolean=} oneLine
 * @property {boolean=} collapsed
 * @property {boolean=} threads
 * @property {boolean=} wall
 * @property {boolean=} whole
 * @property {string=} name
 * @property {{from: number, to: number}=} long
 * @property {Mark[]=} marks
 * @property {Tab=} tab
 * @property {string=} finding finding of the doctor: its verdict, a colon, its object
 * @property {boolean=} path draw the critical path
 * @property {string=} states thick or off
 * @property {boolean=} nolocks
 * @property {string=} color meaning of the colours, if not names
 * @property {boolean=} noprocs
 * @property {string=} graphs all or line
 * @property {string=} request
 * @property {boolean=} only
 * @property {boolean=} flows
 * @property {string=} compared the name selected in the Compare tab
 * @property {number=} shift time shift of the other trace
 * @property {string=} func
 * @property {string=} metric
 * @property {string=} scope
 * @property {string=} executions
 * @property {string=} of
 * @property {string[]=} area
 * @property {string[]=} hidden
 * @property {string[]=} pinned
 * @property {string[]=} shut
 * @property {string[]=} opened groups
 * @property {string=} row the row or group that the Selection tab is of
 */

/**
 * The encoding of a part of the view in the address. put is not called with undefined. take
 * returns undefined for unreadable text: a link may have been truncated on its way.
 * @typedef {{put(p: URLSearchParams, value: any): void, take(p: URLSearchParams): any}} Part
 */

/**
 * Returns a part with a parameter of its own.
 * @param {string} name
 * @param {(text: string) => any} read
 * @param {(value: any) => string} [write]
 * @returns {Part}
 */
function addressPart(name, read, write = String) {
  return { put: (p, value) => p.set(name, write(value)), take: (p) => read(p.get(name) ?? "") };
}

/** @param {string} name @param {RegExp} [allowed] */
const textPart = (name, allowed = /./s) => addressPart(name, (text) => (allowed.test(text) ? text : undefined));

/** Returns a part that is true or absent. @param {string} name @param {string} word that represents true */
const wordPart = (name, word) => addressPart(name, (text) => text === word || undefined, () => word);

/** @param {string} name @param {readonly string[]} list */
const choicePart = (name, list) => addressPart(name, (text) => (list.includes(text) ? text : undefined));

/** @param {string} name */
const twoPart = (name) => addressPart(name, readTwo, writeTwo);

/** @param {string} name @returns {Part} */
function listPart(name) {
  return {
    put(p, list) { if (list.length) p.set(name, list.map((k) => k.replace(/[% ]/g, encodeURIComponent)).join(" ")); },
    take(p) {
      const keys = (p.get(name) ?? "").split(" ").filter((k) => k !== "");
      return keys.length ? keys.map((k) => k.replace(/%2[05]/g, decodeURIComponent)) : undefined;
    },
  };
}

/** @param {{from: number, to: number}} r */
function writeTwo(r) { return `${Math.round(r.from)}-${Math.round(r.to)}`; }

/** @param {string} text */
function readTwo(text) {
  const m = /^(\d{1,16})-(\d{1,16})$/.exec(text);
  return m && Number(m[1]) <= Number(m[2]) ? { from: Number(m[1]), to: Number(m[2]) } : undefined;
}

/** @param {string} text */
function readSelection(text) {
  const m = /^(-?\d{1,16}):(-?\d{1,5}):(\d{1,16})$/.exec(text);
  return m ? { key: Number(m[1]), depth: Number(m[2]), start: Number(m[3]) } : undefined;
}

/** Marks without names are encoded in one parameter, the others each in a note. @type {Part} */
const marksPart = {
  put(p, /** @type {Mark[]} */ marks) {
    const plain = marks.filter((m) => m.from === m.to && m.name === "");
    if (plain.length) p.set("m", plain.map((m) => Math.round(m.from)).join("-"));
    for (const m of marks) if (!plain.includes(m)) p.append("note", `${writeTwo(m)}:${m.name}`);
  },
  take(p) {
    const marks = (p.get("m") ?? "").split("-").filter((m) => /^\d{1,16}$/.test(m)).map((m) => ({ from: Number(m), to: Number(m), name: "" }));
    for (const note of p.getAll("note")) {
      const at = note.indexOf(":");
      const when = readTwo(note.slice(0, Math.max(0, at)));
      if (when) marks.push({ ...when, name: note.slice(at + 1, at + 1 + longestMarkName) });
    }
    return marks.length ? marks.slice(0, mostMarks).sort((a, b) => a.from - b.from || a.to - b.to) : undefined;
  },
};

/** The parts in their order in the address. @type {[keyof ViewState, Part][]} */
const viewParts = [
  ["view", twoPart("v")],
  ["range", twoPart("r")],
  ["selection", addressPart("s", readSelection, (s) => `${s.key}:${s.depth}:${s.start}`)],
  ["search", textPart("q")],
  ["rows", textPart("rows")],
  ["sort", choicePart("sort", rowOrders)],
  ["oneLine", wordPart("lines", "one")],
  ["collapsed", wordPart("collapse", "all")],
  ["threads", wordPart("by", "thread")],
  ["wall", wordPart("clock", "wall")],
  ["whole", wordPart("sums", "whole")],
  ["name", textPart("name")],
  ["long", twoPart("long")],
  ["marks", marksPart],
  ["tab", choicePart("tab", tabs)],
  ["finding", textPart("finding")],
  ["path", wordPart("path", "on")],
  ["states", choicePart("states", ["thick", "off"])],
  ["nolocks", wordPart("locks", "off")],
  ["color", textPart("color")],
  ["noprocs", wordPart("procs", "off")],
  ["graphs", choicePart("graphs", ["all", "line"])],
  ["request", textPart("request", /^[0-9a-f]{32}$/)],
  ["only", wordPart("only", "request")],
  ["flows", wordPart("flows", "on")],
  ["compared", textPart("compared")],
  ["shift", addressPart("shift", (text) => (/^-?[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined), (ns) => String(Math.round(ns)))],
  ["func", textPart("fn")],
  ["metric", textPart("metric")],
  ["scope", textPart("in")],
  ["executions", choicePart("runs", ["slow", "others", "compare"])],
  ["of", textPart("of", /^(shown|chosen|g\d{1,16})$/)],
  ["area", listPart("area")],
  ["hidden", listPart("hidden")],
  ["pinned", listPart("pinned")],
  ["shut", listPart("shut")],
  ["opened", listPart("opened")],
  ["row", textPart("row")],
];

/** @param {ViewState} s @returns {string} the fragment, without the # */
export function encodeState(s) {
  const p = new URLSearchParams();
  for (const [key, part] of viewParts) if (s[key]) part.put(p, s[key]);
  return p.toString();
}

/** Decodes the result of encodeState. @param {string} fragment without the # @returns {ViewState} */
export function decodeState(fragment) {
  const p = new URLSearchParams(fragment);
  return Object.fromEntries(viewParts.map(([key, part]) => [key, part.take(p)]).filter(([, value]) => value !== undefined));
}
