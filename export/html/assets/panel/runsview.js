// The Executions tab: the executions of one name as a table and as a histogram, their
// groups, and the differences of the slowest ones.

import { createAnswer, setPending } from "./answer.js";
import { areaText, rowsOfArea } from "../model/area.js";
import { createBrushView } from "./brushview.js";
import { colorOf } from "../view/color.js";
import { isScope } from "../data/kinds.js";
import { facetSteps, groupSteps } from "../model/facets.js";
import { offerFile } from "./exports.js";
import { runSteps, runsBetween } from "../model/runs.js";
import { createRunsTable } from "./runstable.js";
import { breathe, inSlices, oneAtATime } from "../data/slices.js";
import { rootWords } from "../model/roots.js";
import { slowSteps, slowText } from "../model/slow.js";
import { createSlowView } from "./slowview.js";
import { createSortable } from "./sortable.js";
import { isShown, make, makeButton, nameText, pluralText, restLater } from "../view/make.js";
import { percentText, thousands } from "../view/numbers.js";
import { goroutineTitle } from "../model/titles.js";

/** @import { App } from "../app.js" */
/** @import { Facet } from "../model/facets.js" */

/** The number of groups in the table at first. */
const groupsShown = 6;

/** Returns the names of scopes. @param {App} app @returns {string[]} */
function scopeNames({ model }) {
  return model.cached("scope names", () => {
    const seen = new Uint8Array(65536);
    for (const { n, name, kind } of model.batches()) for (let i = 0; i < n; i++) if (isScope(kind[i])) seen[name[i]] = 1;
    return model.names.filter((_, id) => seen[id] === 1).sort();
  });
}

/** Returns the title of a facet. @param {Facet} f */
function facetText({ kind, key }) { return kind === "argument" ? (/^\d+$/.test(key) ? `argument ${key}` : key) : kind === "parent" ? "scope around" : "row"; }

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createRuns(app) {
  const { model } = app;
  /** @type {import("../model/runs.js").Runs|null} */ let runs = null;
  /** @type {Facet[]} */ let facets = [];
  /** The group shown in the table. @type {{facet: string, value: string}|null} */ let picked = null;
  /** @type {App["brush"]} */ let lit = null;
  let stamp = "";
  let of = "";
  let answered = ""; // question of the comparison that is shown
  let asked = 0; // number of times that groups were asked for

  const choice = make("select", { "aria-label": "Executions of", onchange: () => app.showRuns(choice.value) });
  const count = make("span", { class: "quiet", role: "status" });
  const unbrush = makeButton("", () => app.brushRuns(null), { title: "Show all durations (Esc)" });
  const unpick = makeButton("", () => pick(null), { title: "Show all groups" });
  const csv = makeButton("CSV", () => offerFile(new Blob([...table.csv()], { type: "text/csv" }), `${app.runsOf} executions`, "csv"), { title: "Save all pages of the table as CSV" });
  const sentence = make("p", { class: "said" });
  const none = make("p", { class: "quiet" });
  const histogram = createBrushView(app);
  const grouping = make("select", { "aria-label": "Group by", onchange: () => fillGroups() });
  const groups = createSortable({
    caption: "", by: "total", limit: groupsShown, id: (r) => r.label, pick: (r) => pick(picked?.value === r.label && picked?.facet === grouping.value ? null : { facet: grouping.value, value: r.label }),
    columns: [
      { key: "label", title: "group", pick: true, value: (r) => r.label, text: (r) => nameText(r.label) },
      { key: "count", title: "count", numeric: true, value: (r) => r.count, text: (r) => thousands(r.count) },
      { key: "total", title: "total", numeric: true, value: (r) => r.total, text: (r) => app.span(r.total) },
      { key: "share", title: "share", hint: "Share of the total time", numeric: true, value: (r) => r.share, text: (r) => percentText(r.share), share: (r) => r.share, bar: "total" },
      ...["p50", "p99", "max"].map((key) => ({ key, title: key, numeric: true, value: (r) => r[key], text: (r) => app.span(r[key]) })),
    ],
  });
  const table = createRunsTable(app);
  const slow = createSlowView(app);
  table.element.className = "column paged";
  const grouped = make("div", null, make("div", { class: "bar-of-tools" }, make("span", { class: "quiet", text: "group by" }), grouping), groups.element);
  const groupsAnswer = createAnswer(grouped, "Grouping…");
  const columns = make("div", { class: "columns" },
    make("div", { class: "column" }, histogram.element, grouped, slow.element), table.element);
  const element = make("div", { class: "runs" }, make("div", { class: "bar-of-tools" }, choice, count, unbrush, unpick, csv), sentence, none, columns);

  /** @param {{facet: string, value: string}|null} group */
  function pick(group) {
    picked = group;
    fillTable();
  }

  /** Returns the chosen facet. */
  function facet() { return facets.find((f) => facetText(f) === grouping.value); }

  /** Fills the table with the brushed executions of the chosen group. */
  function fillTable() {
    if (!runs) return;
    const { dur } = runs;
    const { brush } = app;
    const group = picked && facets.find((f) => facetText(f) === /** @type {any} */ (picked).facet);
    const id = group && picked ? group.values.indexOf(picked.value) : -1;
    table.set(runs, (k) => (!brush || dur[k] >= brush.lo && dur[k] < brush.hi) && (!group || group.ids[k] === id));
    unbrush.hidden = !brush;
    unbrush.textContent = !brush ? "" : brush.hi < Number.MAX_SAFE_INTEGER ? `${app.span(brush.lo)} – ${app.span(brush.hi - 1)} ×` : `≥ ${app.span(brush.lo)} ×`;
    unpick.hidden = !picked;
    unpick.textContent = picked ? `${picked.facet}: ${nameText(picked.value)} ×` : "";
  }

  async function fillGroups() {
    const by = facet();
    const found = runs;
    const { brush } = app;
    if (!found || !by) return;
    const question = JSON.stringify([of, brush?.lo, brush?.hi, grouping.value]);
    groupsAnswer.asks(question);
    const mine = ++asked;
    const made = await inSlices(groupSteps(found, by, runsBetween(found, brush)), () => mine !== asked);
    if (!made || mine !== asked || found !== runs) return;
    groupsAnswer.answers(question);
    const { groups: list, all } = made;
    groups.set(list, (brush ? "Brushed executions" : "All executions") + (all > list.length ? `: the ${thousands(list.length)} groups with the most time, of ${thousands(all)}` : ""));
  }

  /** The brush changes with every move of the pointer; recounting a million executions each time is too slow. */
  const fillBrushed = restLater(async () => {
    fillTable();
    await breathe();
    await fillGroups();
  });

  function drawBrush() {
    lit = app.brush;
    histogram.update();
    fillBrushed();
  }

  /** Compares the brushed executions with the others, or the slowest with the middle half. */
  async function compareSides() {
    const found = runs;
    const { brush } = app;
    if (!found) return;
    const question = JSON.stringify([of, brush?.lo, brush?.hi]);
    if (question !== answered) {
      sentence.textContent = "";
      setPending(slow.element, `Comparing ${brush ? "the brushed executions" : "the slowest 1%"} with the others…`);
    }
    const differ = await compare(question, (stale) => inSlices(slowSteps(model, found, facets, brush), () => stale() || runs !== found));
    if (differ === undefined) return;
    answered = question;
    const had = sentence.textContent;
    sentence.textContent = differ ? slowText(nameText(app.runsOf), differ, { span: app.span, percent: percentText, count: thousands, root: (r) => rootWords(r, (key) => goroutineTitle(model, key)) }) : found.n > 1 ? "No execution takes longer than the others." : "";
    slow.set(differ);
    setPending(slow.element, "");
    if (had !== sentence.textContent) app.announce(sentence.textContent);
  }

  /** @param {string} problem error of loading those of the server; "": none */
  function showRuns(problem) {
    if (!runs) return;
    const left = [runs.open > 0 ? `${thousands(runs.open)} more have not ended` : "", runs.across > 0 ? `the clock stepped during ${thousands(runs.across)} more` : "", problem];
    count.textContent = [`${pluralText(runs.n, "execution")} ${app.range ? `touch the selected ${app.span(app.range.to - app.range.from)}${areaText(app.area)}` : "in the whole trace"}`, ...left].filter((text) => text !== "").join("; ");
    none.textContent = runs.n === 0 ? "No execution ended here." : "";
    columns.hidden = runs.n === 0;
    const { dur, order } = runs;
    const sorted = new Float64Array(order.length);
    for (let j = 0; j < order.length; j++) sorted[j] = dur[order[j]];
    histogram.set(sorted, colorOf(app.runsOf));
  }

  /** @param {number} name @param {number} from @param {number} to @returns {Promise<{rows: import("../model/rowset.js").Row[], alone: boolean, problem: string}>} */
  async function rowsWith(name, from, to) {
    const own = { rows: model.rows("goroutine"), alone: false, problem: "" };
    if (!model.reduced) return own;
    const exact = await model.runs(name, from, to).catch(() => null);
    if (!exact) return { ...own, problem: "only those that this page stores individually; short ones are merged" };
    return { ...exact, problem: exact.left > 0 ? `${thousands(exact.left)} more are left out` : exact.alone ? "too many to examine what is inside them: select a range" : "" };
  }

  /** Returns what the table and the graphs are asked for. */
  function questionNow() { return JSON.stringify([app.runsOf, app.range, ...app.area ?? []]); }

  async function fill() {
    if (!isShown(element)) return;
    const names = scopeNames(app);
    if (choice.childElementCount !== names.length + 1) choice.replaceChildren(make("option", { value: "", text: "choose a name" }), ...names.map((text) => make("option", { value: text, text: nameText(text) })));
    choice.value = app.runsOf;
    const { range, area, runsOf: name } = app;
    const { from, to } = range ?? { from: 0, to: model.end };
    const next = [model.version, name, from, to, app.time(0), ...area ?? []].join();
    if (next === stamp) {
      if (lit === app.brush) return;
      drawBrush();
      compareLater();
      return;
    }
    const question = questionNow();
    if (name === "" || question !== of) {
      picked = null;
      runs = null;
      sentence.textContent = count.textContent = "";
      columns.hidden = true;
      none.textContent = name === "" ? "Select a scope or choose a name, to list all of its executions and what the slowest have in common." : "Counting…";
      unbrush.hidden = unpick.hidden = true;
    }
    csv.disabled = name === "";
    of = question;
    if (name === "") return void (stamp = next);
    await run(question, async (stale) => {
      stamp = next;
      const nameId = model.names.indexOf(name);
      const { rows, alone, problem } = await rowsWith(nameId, from, to);
      const found = await inSlices(runSteps(rowsOfArea(model, area, rows), nameId, from, to, alone), stale);
      if (!found) return;
      const show = async () => {
        runs = found;
        showRuns(problem);
        await breathe();
        if (!stale()) drawBrush();
      };
      if (runs === null) { // the groups take longer
        groupsAnswer.forget();
        groupsAnswer.asks(question);
        facets = [];
        await show();
      }
      const by = await inSlices(facetSteps(found, (id) => model.name(id)), stale);
      if (!by || stale()) return;
      facets = by;
      if (runs !== found) await show();
      const before = grouping.value;
      grouping.replaceChildren(...facets.map((f) => make("option", { text: facetText(f) })));
      if (facets.some((f) => facetText(f) === before)) grouping.value = before;
      await breathe();
      if (stale()) return;
      await fillGroups();
      await breathe();
      if (!stale()) await compareSides();
    });
  }

  const later = restLater(fill);
  const run = oneAtATime(later);
  const compareLater = restLater(compareSides);
  const compare = oneAtATime(compareLater);
  return { element, update: () => { if (runs === null || lit !== app.brush || questionNow() !== of) fill(); else later(); } };
}
