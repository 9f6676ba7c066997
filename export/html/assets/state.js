// What the address's fragment keeps: a link shows a colleague the same thing.
// v=from-to (ns), s=goroutine:depth:start, r=from-to, area=(row keys) that it is of, q=search
// m=marks, note=from-to:name of a mark that has one or is long
// rows=filter, by=thread, hidden=, pinned=, shut= (row keys)
// collapse=all (shut= are those that are not, then), lines=one, sort=start|busy|wait|cpu
// states=thick|off, locks=off, procs=off, graphs=all|line, path=on
// clock=wall, sums=whole
// color=row|thread|argument KEY
// request=trace id, only=request: of its rows alone, flows=on: arrows of all requests in sight
// compared=name (of the Compare tab), shift= of the other trace (ns)
// tab=, finding=verdict:object (of the Doctor tab)
// fn=, metric=, in=, runs=slow|others|compare, of=shown|chosen|g17: a function, a metric, in
// executions of which scope, of which rows, or which row (of the tabs of functions),
// name=, long=from-to: of which name (of the Executions tab), how long (ns) those that are brushed.

import { rowOrders } from "./model/rows.js";

/** How long the name of a mark may be, and how many marks there may be: a link is no book. */
export const longestMarkName = 80;
export const mostMarks = 100;

/** The tabs below the timeline. */
export const tabs = /** @type {const} */ (["details", "summary", "runs", "request", "flame", "functions", "callers", "source", "doctor", "advice", "compare", "about"]);

/**
 * @typedef {(typeof tabs)[number]} Tab
 *
 * A moment that is marked, or a stretch of time.
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
 * @property {string=} finding of the doctor: its verdict, a colon, its object
 * @property {boolean=} path the critical path is drawn
 * @property {string=} states thick or off
 * @property {boolean=} nolocks
 * @property {string=} color what colours tell, if not names
 * @property {boolean=} noprocs
 * @property {string=} graphs all or line
 * @property {string=} request
 * @property {boolean=} only
 * @property {boolean=} flows
 * @property {string=} compared the name that is looked at in the tab Compare
 * @property {number=} shift of the trace that is compared with
 * @property {string=} func
 * @property {string=} metric
 * @property {string=} scope
 * @property {string=} executions
 * @property {string=} of
 * @property {string[]=} area
 * @property {string[]=} hidden
 * @property {string[]=} pinned
 * @property {string[]=} shut
 */

/**
 * @param {ViewState} s
 * @returns {string} without the #
 */
export function encodeState(s) {
  const p = new URLSearchParams();
  const two = (/** @type {{from: number, to: number}} */ r) => `${Math.round(r.from)}-${Math.round(r.to)}`;
  if (s.view) p.set("v", two(s.view));
  if (s.range) p.set("r", two(s.range));
  if (s.selection) p.set("s", `${s.selection.key}:${s.selection.depth}:${s.selection.start}`);
  if (s.search) p.set("q", s.search);
  if (s.rows) p.set("rows", s.rows);
  if (s.sort) p.set("sort", s.sort);
  if (s.oneLine) p.set("lines", "one");
  if (s.collapsed) p.set("collapse", "all");
  if (s.threads) p.set("by", "thread");
  if (s.wall) p.set("clock", "wall");
  if (s.whole) p.set("sums", "whole");
  if (s.name) p.set("name", s.name);
  if (s.long) p.set("long", two(s.long));
  const plain = (/** @type {Mark} */ m) => m.from === m.to && m.name === "";
  if (s.marks?.some(plain)) p.set("m", s.marks.filter(plain).map((m) => Math.round(m.from)).join("-"));
  for (const m of s.marks ?? []) if (!plain(m)) p.append("note", `${two(m)}:${m.name}`);
  if (s.tab) p.set("tab", s.tab);
  if (s.finding) p.set("finding", s.finding);
  if (s.path) p.set("path", "on");
  if (s.states) p.set("states", s.states);
  if (s.nolocks) p.set("locks", "off");
  if (s.color) p.set("color", s.color);
  if (s.noprocs) p.set("procs", "off");
  if (s.graphs) p.set("graphs", s.graphs);
  if (s.request) p.set("request", s.request);
  if (s.only) p.set("only", "request");
  if (s.flows) p.set("flows", "on");
  if (s.compared) p.set("compared", s.compared);
  if (s.shift) p.set("shift", String(Math.round(s.shift)));
  for (const [key, value] of /** @type {[string, string|undefined][]} */ ([["fn", s.func], ["metric", s.metric], ["in", s.scope], ["runs", s.executions], ["of", s.of]])) {
    if (value) p.set(key, value);
  }
  for (const list of /** @type {("area"|"hidden"|"pinned"|"shut")[]} */ (["area", "hidden", "pinned", "shut"])) {
    if (s[list]?.length) p.set(list, s[list].join(" "));
  }
  return p.toString();
}

/**
 * The inverse of encodeState. What can't be read is left out: a link may have
 * been cut by whatever carried it.
 * @param {string} fragment without the #
 * @returns {ViewState}
 */
export function decodeState(fragment) {
  const p = new URLSearchParams(fragment);
  /** @type {ViewState} */
  const s = {};
  const two = (/** @type {string|null} */ text) => {
    const m = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");
    return m && Number(m[1]) <= Number(m[2]) ? { from: Number(m[1]), to: Number(m[2]) } : undefined;
  };
  s.view = two(p.get("v"));
  s.range = two(p.get("r"));
  const sel = /^(-?\d{1,16}):(-?\d{1,5}):(\d{1,16})$/.exec(p.get("s") ?? "");
  if (sel) s.selection = { key: Number(sel[1]), depth: Number(sel[2]), start: Number(sel[3]) };
  s.search = p.get("q") || undefined;
  s.rows = p.get("rows") || undefined;
  const sort = /** @type {import("./model/rows.js").RowOrder} */ (p.get("sort"));
  s.sort = rowOrders.includes(sort) ? sort : undefined;
  s.oneLine = p.get("lines") === "one" || undefined;
  s.collapsed = p.get("collapse") === "all" || undefined;
  s.threads = p.get("by") === "thread" || undefined;
  s.wall = p.get("clock") === "wall" || undefined;
  s.whole = p.get("sums") === "whole" || undefined;
  s.name = p.get("name") || undefined;
  s.long = two(p.get("long"));
  const tab = /** @type {Tab} */ (p.get("tab"));
  s.tab = tabs.includes(tab) ? tab : undefined;
  s.finding = p.get("finding") || undefined;
  s.path = p.get("path") === "on" || undefined;
  if (/^(thick|off)$/.test(p.get("states") ?? "")) s.states = p.get("states") ?? undefined;
  s.nolocks = p.get("locks") === "off" || undefined;
  s.color = p.get("color") || undefined;
  s.noprocs = p.get("procs") === "off" || undefined;
  if (/^(all|line)$/.test(p.get("graphs") ?? "")) s.graphs = p.get("graphs") ?? undefined;
  if (/^[0-9a-f]{32}$/.test(p.get("request") ?? "")) s.request = p.get("request") ?? undefined;
  s.only = p.get("only") === "request" || undefined;
  s.flows = p.get("flows") === "on" || undefined;
  s.compared = p.get("compared") || undefined;
  if (/^-?[1-9]\d{0,15}$/.test(p.get("shift") ?? "")) s.shift = Number(p.get("shift"));
  s.func = p.get("fn") || undefined;
  s.metric = p.get("metric") || undefined;
  s.scope = p.get("in") || undefined;
  if (/^(slow|others|compare)$/.test(p.get("runs") ?? "")) s.executions = p.get("runs") ?? undefined;
  if (/^(shown|chosen|g\d{1,16})$/.test(p.get("of") ?? "")) s.of = p.get("of") ?? undefined;
  const marks = (p.get("m") ?? "").split("-").filter((m) => /^\d{1,16}$/.test(m)).map((m) => ({ from: Number(m), to: Number(m), name: "" }));
  for (const note of p.getAll("note")) {
    const at = note.indexOf(":");
    const when = two(note.slice(0, Math.max(0, at)));
    if (when) marks.push({ ...when, name: note.slice(at + 1, at + 1 + longestMarkName) });
  }
  if (marks.length) s.marks = marks.slice(0, mostMarks).sort((a, b) => a.from - b.from || a.to - b.to);
  for (const list of /** @type {("area"|"hidden"|"pinned"|"shut")[]} */ (["area", "hidden", "pinned", "shut"])) {
    const keys = (p.get(list) ?? "").split(" ").filter((k) => k !== "");
    if (keys.length) s[list] = keys;
  }
  for (const k of Object.keys(s)) {
    if (s[/** @type {keyof ViewState} */ (k)] === undefined) delete s[/** @type {keyof ViewState} */ (k)];
  }
  return s;
}
