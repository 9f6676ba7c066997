// The Summary tab: scopes by name and locks with their waits, for the selected range or the whole trace.

import { createAnswer, rangeQuestion } from "./answer.js";
import { isShown, make, makeButton, nameText, pluralText, restLater } from "../view/make.js";
import { momentText } from "../view/ruler.js";
import { areaText, goroutinesOfArea, rowsOfArea } from "../model/area.js";
import { createGoroutineTable, goroutineSteps } from "./goroutinetable.js";
import { createStateTable } from "./statedetails.js";
import { nameItems } from "./contextmenu.js";
import { createSortable, reportColumn } from "./sortable.js";
import { longest } from "../model/relate.js";
import { inSlices, oneAtATime } from "../data/slices.js";
import { rangeOfTrace, summarySteps } from "../model/stats.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** The rules of the table of scopes for a range, shown in its head. */
const summaryRules = {
  inside: "Scopes by name: total, self and CPU cover the range only, ≈ where a scope extends beyond it; mean to max cover whole scopes",
  whole: "Scopes by name: the whole duration of each scope that overlaps the range; only self covers the range alone",
};

/**
 * Returns the columns of the table of scopes.
 * @param {App} app
 * @param {{total:number, self:number}} most the largest values, for the bars
 */
function summaryScopeColumns(app, most) {
  const name = (r) => nameText(app.model.meta.names[r.name]);
  const known = (r, key) => (Number.isFinite(r[key]) && (r.count > 0 || key === "self" || key === "total") ? r[key] : null);
  const of = (head, rest) => reportColumn("scopes", head, { numeric: true, ...rest });
  const ns = (key, more) => of(key, { value: (r) => known(r, key), text: (r) => (known(r, key) === null ? "-" : app.span(r[key])), ...more });
  return [
    { key: "name", title: "name", pick: true, value: name, tone: (r) => (r.process ? "process" : "") },
    of("count", { press: (r) => app.showRuns(app.model.name(r.name)), value: (r) => r.count, text: (r) => thousands(r.count) }),
    ns("total", { share: (r) => r.total / most.total, bar: "total" }), ns("self", { share: (r) => r.self / most.self, bar: "self" }),
    ...["mean", "min", "p50", "p99"].map((head) => ns(head)), { ...ns("max"), key: "p999", title: "p99.9", hint: "999 of 1,000 were not longer", value: (r) => known(r, "p999"), text: (r) => (known(r, "p999") === null ? "-" : app.span(r.p999)) }, ns("max"),
    of("cpu", { value: (r) => (r.cpuWall > 0 ? r.cpu : null), text: (r) => (r.cpuWall > 0 ? (r.cut > 0 ? "≈ " : "") + app.span(r.cpu) : "-") }),
    of("known", { value: (r) => (r.total > 0 ? r.cpuWall / r.total : null), text: (r) => percentText(r.cpuWall / r.total) }),
    of("cpu/wall", { value: (r) => (r.cpuWall > 0 ? r.cpu / r.cpuWall : null), text: (r) => (r.cpuWall > 0 ? (r.cpu / r.cpuWall).toFixed(2) : "-") }),
    of("open", { value: (r) => r.open, text: (r) => (r.open > 0 ? thousands(r.open) : "") }),
  ];
}

/** Returns the columns of the table of locks. */
function summaryLockColumns(app, most) {
  const names = app.model.meta.names;
  const held = (r) => (r.heldBy || []).slice(0, 3).map(([id, share]) => `${id === null ? "(no scope)" : nameText(names[id])} ${percentText(share)}`).join(", ");
  const of = (head, rest) => reportColumn("locks", head, { numeric: true, ...rest });
  const count = (key) => of(key, { value: (r) => r[key], text: (r) => thousands(r[key]) });
  const ns = (head, key, count, more) => of(head, { value: (r) => r[key], text: (r) => (r[count] > 0 ? app.span(r[key]) : "-"), ...more });
  return [
    { key: "name", title: "lock", pick: true, value: (r) => nameText(names[r.name]) },
    count("waits"), ns("wait total", "wait", "waits", { share: (r) => r.wait / most.wait, bar: "wait" }), ns("wait max", "waitMax", "waits"),
    count("holds"), ns("hold total", "hold", "holds"), ns("hold max", "holdMax", "holds"),
    of("held by", { numeric: false, value: held }),
  ];
}

/** Returns the maximum, at least 1, so that it can be a divisor. */
function summaryMost(rows, key) {
  return rows.reduce((most, r) => Math.max(most, r[key] || 0), 1);
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createSummary(app) {
  const most = { total: 1, self: 1, wait: 1 };
  const find = (row) => {
    const name = app.model.meta.names[row.name];
    const ref = longest(app.model, row.name);
    app.searchBox.set(name);
    if (ref) app.select(ref, { reveal: true });
    app.announce(ref ? `The longest ${nameText(name)} is selected.` : `Searching for ${nameText(name)}.`);
  };
  const scopes = createSortable({
    caption: "Scopes by name", by: "total", id: (r) => `${r.name}-${r.process}`, pick: find, menu: (r, e) => app.menu.open(nameItems(app, app.model.name(r.name)), e.clientX, e.clientY), columns: summaryScopeColumns(app, most), empty: "No scopes here.",
  });
  const locks = createSortable({
    caption: "Locks", by: "wait total", id: (r) => r.name, pick: find, columns: summaryLockColumns(app, most),
  });
  const states = createStateTable(app, "States of the goroutines of these rows");
  const goroutines = createGoroutineTable(app);
  const head = make("h2");
  const zoom = makeButton("zoom to it", () => app.range && app.setView(app.range.from, app.range.to, { animate: true }));
  const all = makeButton("all rows", () => app.setRange(app.range), { title: "The same range on all rows" });
  const clear = makeButton("clear", () => app.setRange(null));
  const rule = make("span", { class: "group", role: "group", "aria-label": "Scopes that extend beyond the range" },
    makeButton("in the range", () => app.setWhole(false), { title: "Count only the part inside the range" }), makeButton("whole durations", () => app.setWhole(true), { title: "Count the whole duration of each scope that overlaps the range" }));
  const note = make("p", { class: "quiet" });
  const hint = make("span", { class: "quiet" });
  const tables = make("div", { class: "tables" }, scopes.element, locks.element, states.element, goroutines.element);
  const body = make("div", null, note, tables);
  const answer = createAnswer(body, "Counting…");
  const element = make("div", { class: "summary" },
    make("div", { class: "bar-of-tools" }, head, zoom, all, clear, rule, hint), body);
  let stamp = "";
  const question = () => rangeQuestion(app, app.whole);

  function show({ summary, text, whole, range, area, begun }) {
    note.textContent = text;
    note.hidden = text === "";
    hint.textContent = "";
    tables.hidden = summary === null;
    if (summary === null) return;
    const list = summary.scopes;
    most.total = summaryMost(list, "total");
    most.self = summaryMost(list, "self");
    most.wait = summaryMost(summary.locks, "wait");
    hint.textContent = list.length === 0 ? "" : `${pluralText(list.length, "name")}; click one to find its longest scope, its count to list all executions`;
    element.classList.toggle("ranged", range !== null);
    scopes.set(list, range ? summaryRules[whole ? "whole" : "inside"] : "Scopes by name");
    states.set(area && range ? goroutinesOfArea(area) : [], range?.from ?? 0, range?.to ?? 0);
    goroutines.set(begun);
    scopes.element.hidden = list.length === 0 && begun.length > 0;
    locks.element.hidden = summary.locks.length === 0;
    locks.set(summary.locks, range ? `Locks: ${whole ? "whole waits and holds" : "totals cover the range only"}` : "Locks");
  }

  function update() {
    const range = app.range;
    const shown = range ?? rangeOfTrace(app.model);
    const rangeTime = (ns) => momentText(app, ns, shown ? (shown.to - shown.from) / 1000 : 1);
    head.textContent = shown ? `${range ? "" : "Excerpt, "}${app.span(shown.to - shown.from)}${range ? ` selected${areaText(app.area)}` : ""}, ${rangeTime(shown.from)} – ${rangeTime(shown.to)}` : `Whole trace, ${app.span(app.model.end)}`;
    all.hidden = app.area === null;
    zoom.hidden = clear.hidden = rule.hidden = !range;
    rule.children[0].setAttribute("aria-pressed", String(!app.whole));
    rule.children[1].setAttribute("aria-pressed", String(app.whole));
    answer.asks(question());
    hint.hidden = body.dataset.pending !== undefined;
    if (!isShown(element)) return;
    if (stamp === "") fill();
    else later();
  }

  async function fill() {
    if (!isShown(element)) return;
    const { model, whole, area } = app;
    const range = app.range ?? rangeOfTrace(model);
    const { from, to } = range || { from: 0, to: model.end };
    const next = [model.version, from, to, app.wall, whole, ...area ?? []].join();
    if (next === stamp) return;
    const asked = question();
    const shown = await run(asked, async (stale) => {
      stamp = next;
      // Sums of the part read so far would be meaningless.
      if (model.reduced && model.meta.loading) return { summary: null, text: "The trace is still being read; the sums follow when it has been read.", range, whole, area, begun: [] };
      const exact = !model.reduced || area ? null : range ? await model.summary(from, to, whole).catch(() => null) : model.meta.summary ?? await model.summary(from, to, true).catch(() => null);
      const summary = exact ?? await inSlices(summarySteps(model, from, to, whole || !range, rowsOfArea(model, area)), stale);
      const text = exact || !model.reduced ? "" : "Only the scopes that this page stores individually; short ones are merged. scopeview top --from --to counts them all.";
      const { states: known } = model.waits;
      const begun = known && await inSlices(goroutineSteps(known, Math.max(from, known.from), Math.min(to, known.to), area && new Set(goroutinesOfArea(area))), stale);
      return summary && begun !== undefined ? { summary, text, range, whole, area, begun: begun ?? [] } : undefined;
    });
    if (!shown) return;
    show(shown);
    answer.answers(asked);
    hint.hidden = false;
  }

  const later = restLater(fill);
  const run = oneAtATime(later);
  return { element, update };
}
