// The view as text: the contents of the canvas as tables, also for screen readers. It
// replaces the canvas while it is open.

import { argsList } from "../data/args.js";
import { Flag, Kind, isScope } from "../data/kinds.js";
import { isShown, make, makeButton, nameText, pluralText, restLater } from "../view/make.js";
import { momentText } from "../view/ruler.js";
import { createSortable } from "./sortable.js";
import { stateSums } from "./statedetails.js";
import { stateText } from "../data/states.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** The number of longest scopes listed. */
const textLongest = 500;

/**
 * @typedef {import("../model/rowset.js").Row} Row
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {{row: Row, scopes: number, busy: number, waits: number, waited: number, state?: string}} TextLine
 * @typedef {{batch: Batch, i: number, dur: number, row: Row}} TextItem
 */

/**
 * Returns the sums by row in a range of time, and its longest scopes, waits and holds, the longest first.
 * @param {import("../model/model.js").Model} model
 * @param {import("../app.js").By} by
 * @param {number} from ns
 * @param {number} to ns
 * @param {number} [limit]
 * @returns {{rows: TextLine[], longest: TextItem[]}}
 */
export function textOf(model, by, from, to, limit = textLongest) {
  const rows = [];
  const longest = new TextLongest(limit);
  /**
   * Adds one item to its row's sums.
   * @param {TextLine} line @param {Batch} batch @param {number} i @param {number} depth
   */
  const add = (line, batch, i, depth) => {
    const start = batch.start[i];
    const end = batch.flags[i] & Flag.open ? Math.max(model.end, start) : start + batch.dur[i];
    if (end < from || start > to) return;
    const seen = Math.max(0, Math.min(end, to) - Math.max(start, from));
    const many = batch.many(i);
    const wait = batch.kind[i] === Kind.wait;
    if (wait) {
      line.waits += many;
      line.waited += seen;
    } else if (isScope(batch.kind[i])) {
      line.scopes += many;
    }
    if (depth === 0 && !wait) line.busy += batch.busy && many > 1 ? Math.min(seen, batch.busy[i]) : seen;
    if (many === 1 && !(batch.flags[i] & Flag.across)) longest.offer(batch, i, end - start, line.row);
  };
  for (const row of model.rows(by)) {
    const line = { row, scopes: 0, busy: 0, waits: 0, waited: 0 };
    for (const lane of row.lanes) {
      model.eachBar(lane, from, to, 0, ({ batch, i, j }) => {
        for (; i < j; i++) add(line, batch, i, lane.depth);
      });
    }
    if (line.scopes + line.waits > 0) rows.push(line);
  }
  return { rows, longest: longest.sorted() };
}

/** A list of the longest items, which it truncates from time to time. */
class TextLongest {
  /** @param {number} limit */
  constructor(limit) {
    this.limit = limit;
    this.least = -1;
    this.list = [];
  }

  offer(batch, i, dur, row) {
    if (dur <= this.least) return;
    this.list.push({ batch, i, dur, row });
    if (this.list.length < 4 * this.limit) return;
    this.list = this.sorted();
    this.least = this.list[this.list.length - 1].dur;
  }

  sorted() {
    return this.list.sort((a, b) => b.dur - a.dur || a.batch.start[a.i] - b.batch.start[b.i]).slice(0, this.limit);
  }
}

/**
 * Returns a goroutine's most frequent state.
 * @param {import("../data/states.js").StateLane|null} lane @param {number} from @param {number} to
 */
function mostly(lane, from, to) {
  if (!lane) return "";
  const [most] = stateSums(lane, from, to);
  return most && most.state >= 0 ? `${stateText(lane.set.nameOf(most.state))}, ${percentText(most.ns / (Math.min(to, lane.last) - Math.max(from, lane.first)))}` : "";
}

/** Returns the CPU time of a cell. */
function textCpu(app, batch, i) {
  const quality = batch.flags[i] & Flag.quality;
  if (!quality || batch.flags[i] & Flag.unended) return "unknown";
  return (quality === 3 ? "≤ " : "") + app.span(batch.cpu[i]);
}

/** @param {App} app @returns {{element: HTMLElement, update(): void, toggle(): void}} */
export function createTextView(app) {
  const name = (r) => nameText(app.model.meta.names[r.batch.name[r.i]]);
  const words = (r) => ({ [Kind.wait]: "wait for ", [Kind.hold]: "hold of " }[r.batch.kind[r.i]] || "") + name(r);
  const rows = createSortable({
    caption: "Rows in view", by: "busy", id: (r) => r.row.key, empty: "Nothing ran in this range of time.",
    columns: [
      { key: "row", title: "row", pick: true, value: (r) => r.row.title },
      { key: "scopes", title: "scopes", numeric: true, value: (r) => r.scopes, text: (r) => thousands(r.scopes) },
      { key: "busy", title: "busy", hint: "Time inside scopes", numeric: true, value: (r) => r.busy, text: (r) => app.span(r.busy) },
      { key: "share", title: "of the view", numeric: true, value: (r) => r.busy, text: (r) => percentText(r.busy / (app.view.to - app.view.from)), share: (r) => r.busy / (app.view.to - app.view.from), bar: "total" },
      { key: "state", title: "mostly", hint: "The state in which its goroutine spent most of the time in view", value: (r) => r.state ?? "" },
      { key: "waits", title: "waits", numeric: true, value: (r) => r.waits, text: (r) => (r.waits ? thousands(r.waits) : "") },
      { key: "waited", title: "waited", numeric: true, value: (r) => r.waited, text: (r) => (r.waits ? app.span(r.waited) : ""), share: (r) => r.waited / (app.view.to - app.view.from), bar: "wait" },
    ],
  });
  const longest = createSortable({
    caption: "Longest in view", by: "dur", id: (r) => `${r.row.key}-${r.batch.start[r.i]}-${r.batch.name[r.i]}`,
    pick: (r) => app.select({ batch: r.batch, i: r.i }, { reveal: false }),
    columns: [
      { key: "name", title: "name", pick: true, value: words },
      { key: "start", title: "start", numeric: true, value: (r) => r.batch.start[r.i], text: (r) => momentText(app, r.batch.start[r.i], 1e3) },
      { key: "dur", title: "duration", numeric: true, value: (r) => r.dur, text: (r) => app.span(r.dur) + (r.batch.flags[r.i] & Flag.unended ? ", not ended" : "") },
      { key: "cpu", title: "CPU", numeric: true, value: (r) => (r.batch.flags[r.i] & Flag.quality ? r.batch.cpu[r.i] : null), text: (r) => textCpu(app, r.batch, r.i) },
      { key: "row", title: "row", value: (r) => r.row.title },
      { key: "args", title: "arguments", value: (r) => argsList(r.batch.strings[r.batch.args[r.i]] || "").map(([k, v]) => `${k}=${v}`).join(", ").slice(0, 200) },
    ],
  });
  const head = make("h2", { tabIndex: -1 });
  const list = make("details", { ontoggle: () => fill() }, make("summary", { text: "The longest scopes, waits and holds in view" }), longest.element);
  list.open = true;
  const element = make("section", { class: "textview", "aria-label": "The view as text", hidden: true },
    make("div", { class: "bar-of-tools" }, head, makeButton("back to the timeline", () => toggle(), { title: "Shift+T" })), rows.element, list);
  let stamp = "";

  function fill() {
    if (!isShown(element)) return;
    const { from, to } = app.view;
    const next = [app.model.version, from, to, app.by, app.wall, list.open].join();
    if (next === stamp) return;
    stamp = next;
    const text = textOf(app.model, app.by || "goroutine", from, to);
    head.textContent = `In view: ${app.span(to - from)} from ${momentText(app, Math.max(0, from), (to - from) / 1000)}`;
    if (app.by === "goroutine") for (const r of text.rows) r.state = mostly(app.model.waits.lane(r.row.key), from, to);
    rows.set(text.rows, pluralText(text.rows.length, "row") + " in view");
    longest.set(list.open ? text.longest : [], text.longest.length < textLongest ? pluralText(text.longest.length, "scope, wait or hold", "scopes, waits and holds") : `The ${textLongest} longest`);
  }

  function toggle() {
    element.hidden = !element.hidden;
    const canvas = document.getElementById("rows");
    if (canvas) canvas.hidden = !element.hidden;
    if (element.hidden) {
      if (canvas) canvas.focus();
      return;
    }
    fill();
    head.focus();
  }

  const later = restLater(fill);
  for (const event of /** @type {const} */ (["view", "model", "by", "clock"])) app.on(event, later);
  return { element, update: fill, toggle };
}
