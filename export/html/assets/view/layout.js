// Where each row of the timeline lies: rows and groups become strips with a
// place and a height. Pure: the same input gives the same strips.

import { bisect } from "../data/bisect.js";
import { lockTitle } from "../data/lockset.js";
import { trackKey } from "../data/tracks.js";

/** Height of one line of bars, and of the band of flags above them, in px. */
export const lineHeight = 18;
export const flagHeight = 11;
/** Lines that a row shows before it is asked for all. */
export const usualLines = 12;
/** Rows that a group shows at once. */
const groupStep = 20;
const seriesHeight = 30;
/** Height of a strip of states, by how it was chosen, and of one without bars above. */
const stateHeights = /** @type {Record<string, number>} */ ({ thin: 6, thick: 14, off: 0 });
const aloneHeight = 12;
/** Height of the band of samples below it. */
export const tickHeight = 5;
/** Height of the line of how many wait for a lock; the line above tells who holds it. */
export const waitLine = 16;
/** A wait that is narrower is not looked at by itself, px. */
export const wideWait = 5;
/** Locks that are shown at once. */
const lockStep = 10;
/** The same of processors. */
const procStep = 8;

/**
 * @typedef {Object} Strip
 * @property {"row"|"group"|"more"|"series"|"hidden"|"locks"|"lock"|"procs"|"proc"|"note"} kind
 * @property {string} id what pinned, hidden and shut remember
 * @property {string} title
 * @property {number} y
 * @property {number} h
 * @property {boolean} inner in a group
 * @property {boolean} shut
 * @property {boolean} pinned
 * @property {any=} row
 * @property {any[]=} rows of a group
 * @property {any=} lanes by depth: those that are shown
 * @property {number=} left lanes that are not shown
 * @property {boolean=} flags there is a band of instants
 * @property {any=} states the row's states
 * @property {number=} statesAt where their strip is in the row, px
 * @property {number=} statesHigh
 * @property {number[]=} ticks the row's samples, by time
 * @property {any=} lock
 * @property {number=} track the trackKey of what the row shows
 * @property {any=} series
 */

/**
 * What the user did to the rows.
 * @typedef {Object} RowChoices
 * @property {Set<string>} hidden
 * @property {Set<string>} pinned
 * @property {Set<string>} shut rows that show their outermost scopes only
 * @property {Set<string>} opened groups that show their rows
 * @property {Set<string>} full rows that show all their lines
 * @property {Map<string, number>} shown how many rows of a group are shown
 * @property {string} filter
 * @property {string} states how the strips of states are shown: thin, thick or off
 * @property {boolean} locks rows of locks are shown
 * @property {string} colorBy what the colours of scopes tell; see colorChoices
 * @property {boolean} procs rows of Go's processors are shown
 */

/** @returns {RowChoices} */
export function newChoices() {
  return {
    hidden: new Set(), pinned: new Set(), shut: new Set(), opened: new Set(), full: new Set(), shown: new Map(), filter: "", states: "thin", locks: true, procs: true, colorBy: "name",
  };
}

/** @param {any} row */
export function rowId(row) { return `${row.by === "thread" ? "t" : "g"}${row.key}`; }

/** @param {any} group */
function groupId(group) { return `n${group.nameId}`; }

/**
 * @param {import("../model/model.js").Model} model
 * @param {readonly import("../model/rows.js").Arranged[]} arranged what arrange() returned
 * @param {import("../app.js").Fast<RowChoices>} choices
 * @returns {{strips: Strip[], height: number}}
 */
export function layoutRows(model, arranged, choices) {
  /** @type {Strip[]} */
  const strips = [];
  let y = 0;
  let hidden = 0;
  const filter = choices.filter.toLowerCase();
  /** @param {Omit<Strip, "y">} s */
  const put = (s) => {
    strips.push({ ...s, y });
    y += s.h;
  };
  /** @param {any} row @param {boolean} inner */
  const putRow = (row, inner) => {
    const id = rowId(row);
    if (filter && !row.title.toLowerCase().includes(filter)) return;
    if (choices.hidden.has(id)) {
      hidden++;
      return;
    }
    // What ran on a thread is shown if it is known, else what began on it.
    const key = trackKey(row.key, true);
    const track = row.by === "thread" && model.waits?.tracks?.lanes.has(key) ? key : undefined;
    const all = track === undefined ? row.lanes : [];
    const flags = row.flags.parts.length > 0 || row.flags.open !== null;
    const shut = choices.shut.has(id);
    const most = shut ? 1 : choices.full.has(id) ? all.length : usualLines;
    const lanes = all.slice(0, most);
    const left = shut ? 0 : all.length - lanes.length;
    const states = row.by === "thread" || choices.states === "off" ? null : model.waits?.lane(row.key) ?? null;
    const lines = Math.max(states ? 0 : 1, lanes.length) + (left > 0 ? 1 : 0);
    const above = lines * lineHeight + (flags ? flagHeight : 0);
    const high = states === null ? 0 : lines === 0 ? aloneHeight : stateHeights[choices.states];
    const ticks = row.by === "thread" || choices.states === "off" ? [] : model.samples?.ticks(row.key) ?? [];
    put({
      kind: "row", id, title: row.title, row, lanes, left, flags, inner, shut, pinned: choices.pinned.has(id), ticks,
      track, states, statesAt: above + 1, statesHigh: high, h: Math.max(lineHeight, above + (high > 0 ? high + 1 : 0) + (ticks.length > 0 ? tickHeight : 0)) + 3,
    });
  };
  /** @param {any} lock @param {boolean} inner */
  const putLock = (lock, inner) => {
    const title = lockTitle((/** @type {number} */ id) => model.name(id), lock);
    if (filter && !title.toLowerCase().includes(filter)) return;
    if (choices.hidden.has(lock.id)) {
      hidden++;
      return;
    }
    put({ kind: "lock", id: lock.id, title, lock, inner, shut: false, pinned: choices.pinned.has(lock.id), h: lineHeight + waitLine + 3 });
  };
  const procs = choices.procs ? model.waits?.states?.procs ?? 0 : 0;
  if (procs > 0) {
    const shut = choices.shut.has("procs");
    const titles = Array.from({ length: procs }, (_, n) => `CPU ${n}`).filter((title) => !filter || title.toLowerCase().includes(filter));
    const most = Math.min(titles.length, choices.shown.get("procs") ?? procStep);
    put({ kind: "procs", id: "procs", title: `Processors (${procs})`, inner: false, shut, pinned: false, h: lineHeight + 3 });
    if (!shut) for (const title of titles.slice(0, most)) put({ kind: "proc", id: `p${title.slice(4)}`, title, track: trackKey(Number(title.slice(4)), false), inner: true, shut: false, pinned: false, h: lineHeight });
    if (!shut && most < titles.length) put({ kind: "more", id: "procs", title: `${Math.min(groupStep, titles.length - most)} more of ${titles.length - most}`, inner: true, shut: false, pinned: false, h: lineHeight + 3 });
  }
  if (arranged.some((a) => a.kind === "row" && a.row.by === "thread") && !model.waits?.tracks) {
    put({ kind: "note", id: "", title: "Scopes are on the thread on which they began", inner: false, shut: false, pinned: false, h: lineHeight + 3 });
  }
  const locks = choices.locks ? model.waits?.locks ?? [] : [];
  for (const lock of locks) if (choices.pinned.has(lock.id)) putLock(lock, false);
  const everyRow = arranged.flatMap((a) => (a.kind === "group" ? a.rows : [a.row]));
  if (choices.pinned.size > 0) {
    for (const row of everyRow) if (choices.pinned.has(rowId(row))) putRow(row, false);
  }
  for (const a of arranged) {
    if (a.kind === "row") {
      if (!choices.pinned.has(rowId(a.row))) putRow(a.row, false);
      continue;
    }
    const id = groupId(a);
    if (choices.hidden.has(id)) {
      hidden++;
      continue;
    }
    const rows = a.rows.filter((/** @type {any} */ r) => !choices.pinned.has(rowId(r)) && (!filter || r.title.toLowerCase().includes(filter)));
    if (rows.length === 0) continue;
    const open = choices.opened.has(id);
    put({ kind: "group", id, title: a.title, rows, inner: false, shut: !open, pinned: false, h: lineHeight + 3 });
    if (!open) continue;
    const shown = Math.min(rows.length, choices.shown.get(id) ?? groupStep);
    for (const row of rows.slice(0, shown)) putRow(row, true);
    if (shown < rows.length) {
      put({
        kind: "more", id, title: `${Math.min(groupStep, rows.length - shown)} more of ${rows.length - shown}`,
        inner: true, shut: false, pinned: false, h: lineHeight + 3,
      });
    }
  }
  const rest = locks.filter((/** @type {any} */ l) => !choices.pinned.has(l.id));
  if (rest.length > 0) {
    const shut = choices.shut.has("locks");
    const most = Math.min(rest.length, choices.shown.get("locks") ?? lockStep);
    put({ kind: "locks", id: "locks", title: `Locks (${(locks.length + model.waits.more).toLocaleString("en")})`, inner: false, shut, pinned: false, h: lineHeight + 3 });
    if (!shut) for (const lock of rest.slice(0, most)) putLock(lock, true);
    if (!shut && most < rest.length) {
      put({ kind: "more", id: "locks", title: `${Math.min(groupStep, rest.length - most)} more of ${rest.length - most}`, inner: true, shut: false, pinned: false, h: lineHeight + 3 });
    }
  }
  for (const s of model.series()) {
    const id = `c${s.nameId}`;
    if (filter && !model.name(s.nameId).toLowerCase().includes(filter)) continue;
    if (choices.hidden.has(id)) {
      hidden++;
      continue;
    }
    put({ kind: "series", id, title: model.name(s.nameId), series: s, inner: false, shut: false, pinned: false, h: seriesHeight });
  }
  if (hidden > 0) {
    put({ kind: "hidden", id: "", title: `${hidden} hidden: show`, inner: false, shut: false, pinned: false, h: lineHeight + 3 });
  }
  return { strips, height: y };
}

/**
 * Moves rows at the live end. Those that did nothing in the later half of the view go
 * below the others; those that had ended before it go into one group at the bottom. A
 * program that starts goroutines for each job would else show those of its first jobs
 * for ever.
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
    if (rows.length > 0) stay.push({ ...a, rows });
  }
  stay = [...stay.filter((a) => !quiet(a)), ...stay.filter(quiet)];
  if (ended.length > 0) {
    stay.push({ kind: "group", title: `${ended.length} ${ended.length === 1 ? "row" : "rows"} that ended before`, nameId: -1, rows: ended });
  }
  return stay;
}

/**
 * The strips that touch [top, bottom).
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
 * Shows one more step of a group's rows; with a place as many as it takes to have
 * that one among them.
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
