// A row in the Selection tab, or a folded group of rows: what its goroutines did, their creators, their longest waits and
// their busiest scopes.

import { stateText } from "../data/states.js";
import { inSlices, oneAtATime } from "../data/slices.js";
import { waitOfState, waitsIn } from "../model/explain.js";
import { creatorOf } from "../model/links.js";
import { longest } from "../model/relate.js";
import { sumSteps } from "../model/rowsums.js";
import { summarySteps } from "../model/stats.js";
import { goroutineTitle, startFunc } from "../model/titles.js";
import { make, makeButton, nameText, pluralText } from "../view/make.js";
import { momentText } from "../view/ruler.js";
import { percentText, thousands } from "../view/numbers.js";
import { createAnswer } from "./answer.js";
import { createSortable, reportColumn } from "./sortable.js";
import { createStateTable } from "./statedetails.js";

/** @import { App } from "../app.js" */
/** @import { Row } from "../model/rowset.js" */
/** @import { Wait } from "../model/explain.js" */

/** The number of waits and of scopes in the tables at first. */
const shownAtFirst = 8;
/** The number of longest waits that are kept. */
const mostWaits = 200;

/**
 * The sums of some rows.
 * @typedef {{busy: number, wait: number, cpu: number, lived: number, waits: Wait[], scopes: import("../model/stats.js").ScopeStats[]}} RowFacts
 */

/**
 * Sums up what the goroutines of some rows did.
 * @param {import("../model/model.js").Model} model @param {Row[]} rows
 * @returns {Generator<void, RowFacts>}
 */
function* rowFacts(model, rows) {
  const sum = { busy: 0, wait: 0, cpu: NaN, lived: 0 };
  /** @type {Wait[]} */
  let waits = [];
  const longestFirst = () => waits.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, mostWaits);
  for (const row of rows) {
    yield;
    const { busy, wait, cpu } = yield* sumSteps(model, row);
    sum.busy += busy;
    sum.wait += wait;
    if (!Number.isNaN(cpu)) sum.cpu = (Number.isNaN(sum.cpu) ? 0 : sum.cpu) + cpu;
    const lane = row.by === "goroutine" ? model.waits.lane(row.key) : null;
    sum.lived += Math.max(row.last, lane?.last ?? 0) - Math.min(row.first, lane?.first ?? Infinity);
    if (row.by !== "goroutine") continue;
    waits.push(...waitsIn(model, row.key, -Infinity, Infinity));
    lane?.each(-Infinity, Infinity, 0, (run) => {
      const wait = run.n === 1 && run.top === lane.set.lockState ? waitOfState(model, row.key, lane.set, run.i) : null;
      if (wait && !wait.ref) waits.push(wait); // those without a record, of locks that are not named
    });
    if (waits.length > 4 * mostWaits) waits = longestFirst();
  }
  const { scopes } = yield* summarySteps(model, 0, model.end, true, rows);
  return { ...sum, waits: longestFirst(), scopes };
}

/** @param {App} app @returns {{element: HTMLElement, set(id: string): boolean}} set returns whether there is such a row */
export function createRowView(app) {
  const { model } = app;
  const head = make("div", { class: "head" });
  const facts = make("dl", { class: "facts" });
  const states = createStateTable(app, "States");
  const waits = createSortable({
    caption: "Longest waits", by: "dur", limit: shownAtFirst, id: (w) => `${w.key} ${w.from}`, empty: "No wait for a lock was recorded.",
    pick: (w) => (w.ref ? app.select(w.ref, { reveal: true }) : w.interval && app.goToInterval(w.key, w.interval)),
    columns: [
      { key: "name", title: "for", pick: true, value: (w) => w.name || stateText(w.state), tone: () => "wait" },
      { key: "dur", title: "duration", numeric: true, value: (w) => w.to - w.from, text: (w) => app.span(w.to - w.from) },
      { key: "start", title: "start", numeric: true, value: (w) => w.from, text: (w) => momentText(app, w.from, 1e3) },
      { key: "row", title: "row", value: (w) => goroutineTitle(model, w.key) },
    ],
  });
  const of = (head, rest) => reportColumn("scopes", head, { numeric: true, ...rest });
  const scopes = createSortable({
    caption: "Busiest scopes", by: "self", limit: shownAtFirst, id: (s) => s.name, empty: "No scope here.",
    pick: (s) => { const ref = longest(model, s.name); if (ref) app.select(ref, { reveal: true }); },
    columns: [
      { key: "name", title: "name", pick: true, value: (s) => nameText(model.name(s.name)) }, of("count", { value: (s) => s.count, text: (s) => thousands(s.count) }),
      of("self", { value: (s) => s.self, text: (s) => (s.self === null ? "-" : app.span(s.self)) }), of("total", { value: (s) => s.total, text: (s) => app.span(s.total) }), of("max", { value: (s) => s.max, text: (s) => app.span(s.max) }),
    ],
  });
  for (const table of [waits, scopes]) table.element.classList.add("column");
  const columns = make("div", { class: "columns" }, make("div", { class: "column" }, facts), states.element, waits.element, scopes.element);
  const answer = createAnswer(columns, "Summing up…");
  const element = make("div", { class: "row-view", hidden: true }, head, columns);
  let id = "";
  let version = -1;

  /** Adds a fact. @param {string} name @param {string|HTMLElement} value */
  function add(name, value) { facts.append(make("dt", { text: name }), make("dd", null, value)); }

  /** @param {Row[]} rows @param {RowFacts} sums */
  function show(rows, sums) {
    const [row] = rows;
    facts.replaceChildren();
    const func = row.by === "goroutine" ? startFunc(model, row.key) : "";
    if (rows.length === 1 && func) add("began in", func);
    const creator = rows.length === 1 && row.by === "goroutine" ? creatorOf(model, row.key) : null;
    if (creator) add("made by", makeButton(goroutineTitle(model, creator.creator), () => app.showRow(`g${creator.creator}`), { class: "link", "data-keep": "creator", title: `at ${app.time(creator.created)}` }));
    const [first, last] = [Math.min(...rows.map((r) => r.first)), Math.max(...rows.map((r) => r.last))];
    if (first <= last) add("active", `${app.time(first)} – ${app.time(last)}`);
    add("in scopes", `${app.span(sums.busy)}, ${percentText(sums.busy / Math.max(1, sums.lived))} of ${rows.length > 1 ? "their" : "its"} life`);
    add("CPU", Number.isNaN(sums.cpu) ? "unknown" : `${app.span(sums.cpu)}, as far as it is known`);
    add("recorded waits", app.span(sums.wait));
    const keys = row.by === "goroutine" ? rows.map((r) => r.key) : [];
    states.set(keys, 0, model.end);
    waits.element.hidden = row.by !== "goroutine";
    waits.set(sums.waits);
    scopes.set(sums.scopes);
  }

  /** @param {Row[]} rows */
  async function fill(rows) {
    const asked = id;
    const sums = await run(asked, (stale) => {
      version = model.version;
      return inSlices(rowFacts(model, rows), stale);
    });
    if (!sums) return;
    show(rows, sums);
    answer.answers(asked);
  }
  const run = oneAtATime(() => set(id));

  /** @param {string} next id of a row or a group; "": none */
  function set(next) {
    const strip = next === "" ? null : app.rows?.stripOf(next);
    const rows = strip?.kind === "row" ? [strip.row] : strip?.kind === "group" ? strip.rows ?? [] : [];
    element.hidden = rows.length === 0;
    if (!strip || rows.length === 0 || next === id && version === model.version) return rows.length > 0;
    id = next;
    const [row] = rows;
    head.replaceChildren(make("h2", { text: strip.title }), make("span", { class: "quiet", text: rows.length > 1 ? pluralText(rows.length, "row") : row.named && row.by === "goroutine" ? `goroutine ${row.key}` : "" }),
      make("span", { class: "buttons" }, makeButton("zoom to it", () => app.fit(Math.min(...rows.map((r) => r.first)), Math.max(...rows.map((r) => r.last))), { "data-keep": "zoom" }),
        makeButton("its functions", () => { app.chooseCalls({ rows: "chosen" }); app.showTab("functions"); }, { "data-keep": "functions", hidden: rows.length > 1 || !model.mayHaveSamples })));
    answer.asks(id);
    void fill(rows);
    return true;
  }

  return { element, set };
}
