// The layout of the timeline: rows and groups become strips with a position and a height.
// Pure: the same input gives the same strips.

import { bisect } from "../data/bisect.js";
import { lockTitle } from "../data/lockset.js";
import { shortText } from "../data/names.js";
import { trackKey } from "../model/tracks.js";
import { processDepth, processOf, shownProcesses } from "../model/processes.js";
import { rowFilter } from "../model/rowexpr.js";
import { thousands } from "./numbers.js";

/** Minimum height of one line of bars, in px; more where all rows fit, see fitLines. */
export const leastLine = 16;
export const sizes = { line: leastLine };
const lineSteps = [26, 22, 18, leastLine];
/** Height of the band of flags above the bars. */
export const flagHeight = 11;
/** Maximum number of lines of a row before it is expanded. */
export const usualLines = 12;
/** Number of rows that a group shows at once. */
const groupStep = 20;
/** The reason why a pinned row may scroll away. */
export const pinLimit = "pinned rows take at most half the height";
const seriesHeight = 30;
/** Space of a strip besides its lines: a rule above, and padding. */
const rowPadding = 1;
/** Heights of a strip of states by size, and of one without bars above. */
const stateHeights = /** @type {Record<string, number>} */ ({ thin: 5, thick: 14, off: 0 });
const aloneHeight = 12;
/** Height of a group's states below its counts. */
const groupStates = 10;
/** Height of the band of samples. */
export const tickHeight = 4;
/** Height of the line of a lock's waiting goroutines, below the line of its holders. */
export const waitLine = 16;
/** Number of locks shown at once. */
const lockStep = 3;
/** Number of processors shown at once. */
const procStep = 8;

/**
 * @typedef {Object} Strip
 * @property {"row"|"group"|"more"|"series"|"hidden"|"locks"|"lock"|"procs"|"proc"|"process"|"note"|"answer"} kind
 * @property {string} id key in pinned, hidden and shut
 * @property {string} title
 * @property {number} y
 * @property {number} h
 * @property {boolean} inner in a group
 * @property {boolean} shut
 * @property {boolean} pinned
 * @property {any=} row
 * @property {any[]=} rows of a group, or of a folded process
 * @property {boolean=} bare no row of the group has scopes
 * @property {any=} process
 * @property {number=} depth number of ancestor processes
 * @property {any=} lanes by depth: the visible ones
 * @property {number=} left number of hidden lanes
 * @property {boolean=} flags there is a band of instants
 * @property {any=} states the row's states
 * @property {number=} statesAt position of their strip in the row or group, px
 * @property {number=} statesHigh
 * @property {number[]=} ticks the row's samples, in order of time
 * @property {any=} lock
 * @property {number=} track trackKey of the track that the row shows
 * @property {any=} series
 * @property {import("../model/answertrack.js").AnswerTrack=} answer the track that it shows
 */

/**
 * The user's choices for the rows.
 * @typedef {Object} RowChoices
 * @property {Set<string>} hidden
 * @property {Set<string>} pinned
 * @property {boolean} collapsed rows show their outermost scopes only
 * @property {Set<string>} shut rows with the opposite of collapsed
 * @property {boolean} oneLine rows show one line, without strips
 * @property {import("../model/rows.js").RowOrder} sort
 * @property {Set<string>} opened groups that show their rows
 * @property {Set<string>} full rows that show all their lines
 * @property {Map<string, number>} shown number of visible rows by group
 * @property {string} filter
 * @property {Set<string>|null} only the rows of a request; null: all
 * @property {string} states size of the strips of states: thin, thick or off
 * @property {boolean} locks rows of locks are shown
 * @property {string} colorBy meaning of the colours of scopes; see colorChoices
 * @property {boolean} procs rows of Go's processors are shown
 */

/** @returns {RowChoices} */
export function newChoices() {
  return {
    hidden: new Set(), pinned: new Set(), collapsed: false, shut: new Set(), oneLine: false, sort: "name", opened: new Set(), full: new Set(), shown: new Map(), filter: "", only: null, states: "thin", locks: true, procs: true, colorBy: "name",
  };
}

/** @param {any} row */
export function rowId(row) { return `${row.by === "thread" ? "t" : "g"}${row.key}`; }

/** Returns the id of a process's heading. @param {import("../data/meta.js").Process|null} process */
export function processId(process) { return process ? `P${process.number}` : ""; }

/** @param {import("../model/rows.js").Arranged} a */
function rowsOf(a) { return a.kind === "group" ? a.rows : [a.row]; }

/**
 * Reports whether a row shows its outermost scopes only, or the group of locks none.
 * @param {import("../app.js").Fast<RowChoices>} choices @param {string} id
 */
export function isShut(choices, id) { return choices.shut.has(id) !== choices.collapsed; }

/**
 * @param {import("../model/model.js").Model} model
 * @param {readonly import("../model/rows.js").Arranged[]} arranged result of arrange()
 * @param {import("../app.js").Fast<RowChoices>} choices
 * @returns {{strips: Strip[], height: number, pins: number}} pins: number of pinned strips at the top
 */
export function layoutRows(model, arranged, choices) {
  /** @type {Strip[]} */
  const strips = [];
  let y = 0;
  let hidden = 0;
  const filtered = rowFilter(model, choices.filter);
  const kept = { other: filtered.other, row: (/** @type {any} */ row) => (choices.only === null || choices.only.has(rowId(row))) && filtered.row(row) };
  const plain = choices.only === null && choices.pinned.size === 0 && choices.filter.trim() === "";
  /** @param {Omit<Strip, "y">} s */
  const put = (s) => {
    strips.push({ ...s, y });
    y += s.h;
  };
  /** @param {any} row @param {boolean} inner */
  const putRow = (row, inner) => {
    const id = rowId(row);
    if (!kept.row(row)) return;
    if (choices.hidden.has(id)) {
      hidden++;
      return;
    }
    const { oneLine } = choices;
    // The track of a thread is shown if it is known, else the scopes that began on it.
    const key = trackKey(row.key, true);
    const track = row.by === "thread" && model.waits?.tracks?.lanes.has(key) ? key : undefined;
    const all = track === undefined ? row.lanes : [];
    const flags = !oneLine && (row.flags.parts.length > 0 || row.flags.open !== null);
    const shut = isShut(choices, id);
    const most = oneLine || shut ? 1 : choices.full.has(id) ? all.length : usualLines;
    const lanes = all.slice(0, most);
    const left = oneLine || shut ? 0 : all.length - lanes.length;
    const strip = choices.states !== "off" && row.by !== "thread" && (!oneLine || all.length === 0);
    const states = strip ? model.waits?.lane(row.key) ?? null : null;
    const lines = Math.max(states ? 0 : 1, lanes.length) + (left > 0 ? 1 : 0);
    const above = lines * sizes.line + (flags ? flagHeight : 0);
    const high = states === null ? 0 : lines === 0 ? aloneHeight : stateHeights[choices.states];
    const ticks = strip && !oneLine ? model.samples?.ticks(row.key) ?? [] : [];
    put({
      kind: "row", id, title: row.title, row, lanes, left, flags, inner, shut, pinned: choices.pinned.has(id), ticks,
      track, states, statesAt: above + 1, statesHigh: high, h: Math.max(sizes.line, above + (high > 0 ? high + 1 : 0) + (ticks.length > 0 ? tickHeight : 0)) + rowPadding,
    });
  };
  /** @param {any} lock @param {boolean} inner */
  const putLock = (lock, inner) => {
    if (choices.hidden.has(lock.id)) {
      hidden++;
      return;
    }
    put({ kind: "lock", id: lock.id, title: titleOf(lock), lock, inner, shut: false, pinned: choices.pinned.has(lock.id), h: sizes.line + waitLine + rowPadding });
  };
  /** Adds a line that offers the remaining rows. @param {string} id of the group @param {number} left */
  const putMore = (id, left) => {
    put({ kind: "more", id, title: `${Math.min(groupStep, left)} more of ${thousands(left)}`, inner: true, shut: false, pinned: false, h: sizes.line + rowPadding });
  };
  const titleOf = (/** @type {any} */ lock) => lockTitle((/** @type {number} */ id) => model.name(id), lock);
  const allLocks = choices.locks ? model.waits?.locks ?? [] : [];
  const locks = allLocks.filter((/** @type {any} */ l) => kept.other({ title: titleOf(l), wait: l.wait }));
  for (const lock of locks) if (choices.pinned.has(lock.id)) putLock(lock, false);
  if (choices.pinned.size > 0) {
    for (const row of arranged.flatMap(rowsOf)) if (choices.pinned.has(rowId(row))) putRow(row, false);
  }
  const pins = strips.length;
  for (const track of model.answers ?? []) {
    const shown = { id: track.id, title: track.title, answer: track, inner: false, shut: false, pinned: false };
    if (track.series) put({ kind: "series", series: track.series, h: seriesHeight, ...shown });
    else put({ kind: "answer", h: track.lines.length * sizes.line + rowPadding, ...shown });
  }
  const procs = choices.procs ? model.waits?.states?.procs ?? 0 : 0;
  const titles = Array.from({ length: procs }, (_, n) => `CPU ${n}`).filter((title) => kept.other({ title }));
  if (titles.length > 0) {
    const shut = isShut(choices, "procs");
    const most = Math.min(titles.length, choices.shown.get("procs") ?? procStep);
    put({ kind: "procs", id: "procs", title: `Processors (${procs})`, inner: false, shut, pinned: false, h: sizes.line + rowPadding });
    if (!shut) for (const title of titles.slice(0, most)) put({ kind: "proc", id: `p${title.slice(4)}`, title, track: trackKey(Number(title.slice(4)), false), inner: true, shut: false, pinned: false, h: sizes.line });
    if (!shut && most < titles.length) putMore("procs", titles.length - most);
  }
  if (arranged.some((a) => a.kind === "row" && a.row.by === "thread") && !model.waits?.tracks) {
    put({ kind: "note", id: "", title: model.waits?.deriving ? "Where each goroutine ran is being computed" : "Each scope is on the thread on which it began", inner: false, shut: false, pinned: false, h: sizes.line + rowPadding });
  }
  const putLocks = () => {
    const rest = locks.filter((/** @type {any} */ l) => !choices.pinned.has(l.id));
    if (rest.length > 0) {
      const shut = isShut(choices, "locks");
      const most = Math.min(rest.length, choices.shown.get("locks") ?? lockStep);
      put({ kind: "locks", id: "locks", title: `Locks (${thousands(allLocks.length + model.waits.more)})`, inner: false, shut, pinned: false, h: sizes.line + rowPadding });
      if (!shut) for (const lock of rest.slice(0, most)) putLock(lock, true);
      if (!shut && most < rest.length) putMore("locks", rest.length - most);
    }
  };
  putLocks(); // above the rows that wait for them
  /** @param {import("../model/rows.js").Arranged} a */
  const putArranged = (a) => {
    if (a.kind === "row") {
      if (!choices.pinned.has(rowId(a.row))) putRow(a.row, false);
      return;
    }
    const { id } = a;
    if (choices.hidden.has(id)) {
      hidden++;
      return;
    }
    // The same list stays the same: what is counted of it is found by that.
    const rows = plain ? a.rows : a.rows.filter((/** @type {any} */ r) => (choices.pinned.size === 0 || !choices.pinned.has(rowId(r))) && kept.row(r));
    if (rows.length === 0) return;
    const open = choices.opened.has(id);
    const bare = rows.every((r) => r.lanes.length === 0);
    const lines = choices.oneLine || bare ? 1 : 2;
    const states = choices.states !== "off" && (!choices.oneLine || bare) && rows.some((r) => r.by !== "thread" && model.waits?.lane(r.key));
    const high = !states ? 0 : bare ? sizes.line - 2 : groupStates;
    const scopes = bare ? 0 : lines * sizes.line;
    const title = rows.length === a.rows.length ? a.title : `${thousands(rows.length)} of ${a.title}`;
    put({ kind: "group", id, title, rows, bare, inner: false, shut: !open, pinned: false, statesAt: scopes + 1, statesHigh: high, h: Math.max(lines * sizes.line, scopes + (high > 0 ? high + 1 : 0)) + rowPadding });
    if (!open) return;
    const shown = Math.min(rows.length, choices.shown.get(id) ?? groupStep);
    for (const row of rows.slice(0, shown)) putRow(row, true);
    if (shown < rows.length) putMore(id, rows.length - shown);
  };
  /** @param {any} s */
  const putSeries = (s) => {
    if (choices.only) return; // they belong to no row
    const id = `c${s.nameId}`;
    if (!kept.other({ title: model.name(s.nameId) })) return;
    if (choices.hidden.has(id)) {
      hidden++;
      return;
    }
    put({ kind: "series", id, title: shortText(model.name(s.nameId)), series: s, inner: false, shut: false, pinned: false, h: seriesHeight });
  };
  let rest = [...arranged];
  let series = model.series();
  const byGoroutine = arranged.every((a) => rowsOf(a)[0].by === "goroutine");
  for (const process of byGoroutine ? shownProcesses(model.meta ?? {}) : []) {
    const id = processId(process);
    const isOwn = (/** @type {import("../model/rows.js").Arranged} */ a) => processOf(model.meta, rowsOf(a)[0].key) === process;
    const own = rest.filter(isOwn);
    const counted = series.filter((s) => model.name(s.nameId).startsWith(`${process.label} `));
    rest = rest.filter((a) => !isOwn(a));
    series = series.filter((s) => !counted.includes(s));
    const rows = own.flatMap(rowsOf).filter((r) => kept.row(r));
    if (choices.hidden.has(id)) hidden++;
    if (choices.hidden.has(id) || rows.length === 0 && (own.length > 0 || choices.only)) continue;
    const shut = isShut(choices, id);
    put({ kind: "process", id, title: process.label, process, depth: processDepth(model.meta, process), rows: shut ? rows : undefined, inner: false, shut, pinned: false, h: sizes.line + rowPadding });
    if (shut) continue;
    own.forEach(putArranged);
    counted.forEach(putSeries);
  }
  rest.forEach(putArranged);
  series.forEach(putSeries);
  if (hidden > 0) {
    put({ kind: "hidden", id: "", title: `${hidden} hidden: show`, inner: false, shut: false, pinned: false, h: sizes.line + rowPadding });
  }
  return { strips, height: y, pins };
}

/**
 * Chooses the maximum height of lines at which all rows fit into room px, or else the minimum readable one.
 * @param {import("../model/model.js").Model} model
 * @param {readonly import("../model/rows.js").Arranged[]} arranged
 * @param {import("../app.js").Fast<RowChoices>} choices
 * @param {number} room
 */
export function fitLines(model, arranged, choices, room) {
  for (const line of lineSteps) {
    sizes.line = line;
    if (layoutRows(model, arranged, choices).height <= room) return;
  }
}

/**
 * Moves rows at the live end. Rows without activity in the later half of the view go below
 * the others; those that ended before it go into one group at the bottom. Otherwise a
 * program that starts a goroutine per job would show those of its first jobs for ever.
 * @param {any[]} arranged
 * @param {number} from the view's begin, ns
 * @param {number} middle its middle, ns
 * @returns {any[]}
 */
export function foldEnded(arranged, from, middle) {
  const gone = (/** @type {any} */ row) => row.last < from;
  const quiet = (/** @type {any} */ a) => a.kind === "row" && a.row.last < middle;
  let stay = [];
  const ended = [];
  for (const a of arranged) {
    if (a.kind === "row") {
      if (gone(a.row)) ended.push(a.row);
      else stay.push(a);
      continue;
    }
    const rows = a.rows.filter((/** @type {any} */ r) => !gone(r));
    ended.push(...a.rows.filter(gone));
    if (rows.length > 0) stay.push(rows.length === a.rows.length ? a : { ...a, rows, title: `${thousands(rows.length)} of ${a.title}` });
  }
  stay = [...stay.filter((a) => !quiet(a)), ...stay.filter(quiet)];
  if (ended.length > 0) {
    stay.push({ kind: "group", title: `${ended.length} ${ended.length === 1 ? "row" : "rows"} that ended before`, id: "n-1", rows: ended });
  }
  return stay;
}

/**
 * Returns the strips that touch [top, bottom).
 * @param {Strip[]} strips
 * @param {number} top
 * @param {number} bottom
 * @returns {Strip[]}
 */
export function stripsBetween(strips, top, bottom) {
  const first = bisect(0, strips.length, (k) => strips[k].y + strips[k].h <= top);
  let end = first;
  while (end < strips.length && strips[end].y < bottom) end++;
  return strips.slice(first, end);
}

/**
 * Shows one more step of a group's rows; with a place, as many as are needed to include it.
 * @param {RowChoices} choices
 * @param {string} id of the group
 * @param {number} place
 */
export function showMore(choices, id, place = -1) {
  let shown = choices.shown.get(id) ?? ({ locks: lockStep, procs: procStep }[id] ?? groupStep);
  if (place < 0) shown += groupStep;
  while (shown <= place) shown += groupStep;
  choices.shown.set(id, shown);
}
