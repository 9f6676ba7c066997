// The Callers tab: a function between its callers and its callees, with the values of the
// calls between them, as tables and as one picture.

import { longestName, shortFunc, shortText } from "../data/names.js";
import { createAnswer } from "./answer.js";
import { callData, callsQuestion, chosenMetric, leastMark, shownMetrics, valueOf, valueText, weightsOf } from "../model/calls.js";
import { callTree, callerTree, callersOf, totalFunc } from "../model/callgraph.js";
import { callWords, createCallsBar } from "./callsbar.js";
import { createIcicle } from "./icicle.js";
import { createSortable } from "./sortable.js";
import { isShown, make, makeButton, restLater } from "../view/make.js";
import { percentText } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** Creates a field that selects a function from a list. @param {App} app @param {import("../state.js").Tab} tab */
export function createFunctionField(app, tab) {
  const list = make("datalist", { id: `functions-of-${tab}` });
  const input = make("input", { type: "search", placeholder: "Function", "aria-label": "Function", autocomplete: "off", spellcheck: false });
  input.setAttribute("list", list.id);
  let filled = null;
  let shown = ""; // text being typed is not replaced
  input.addEventListener("change", () => {
    shown = input.value;
    const name = findFunc(app.model.samples, input.value);
    if (name) app.showFunc(name, tab);
    else app.announce(`no function is named ${shortText(input.value)}`);
  });
  return {
    element: make("span", null, input, list),
    update() {
      const s = app.model.samples;
      if (shown !== app.calls.func) input.value = shown = app.calls.func;
      if (!s || filled === s) return;
      filled = s;
      list.replaceChildren(...s.funcs.slice(1, 5000).filter((f) => f.length <= longestName).map((f) => make("option", { value: f })));
    },
  };
}

/** Returns the function that a text denotes: its name, the end of its name, or a part of it; null: none. */
function findFunc(s, text) {
  if (!s || text === "") return null;
  return s.funcs.find((f) => f === text) ?? s.funcs.find((f) => shortFunc(f) === text) ?? s.funcs.find((f) => f.endsWith(`.${text}`)) ?? s.funcs.find((f) => f.includes(text)) ?? null;
}

/**
 * Returns the number of the selected function: the chosen one, else the one with the largest exclusive value; -1: none.
 * @param {App} app @param {import("../model/calls.js").CallData} data
 */
export function lookedAt(app, data) {
  const chosen = app.calls.func === "" ? -1 : data.samples.funcs.indexOf(app.calls.func);
  if (chosen > 0 || app.calls.func !== "") return chosen;
  const m = chosenMetric(app);
  let best = -1;
  let most = 0;
  for (const c of data.costs.values()) {
    const v = valueOf(data, c.excl, m);
    if (v > most) [best, most] = [c.func, v];
  }
  return best;
}

/**
 * Returns the compiler's treatment of the calls between two functions; "": unknown.
 * @param {import("../data/samples.js").Samples} s @param {number} from @param {number} to
 */
export function callRemark(s, from, to) {
  const list = s.calls.filter((c) => c.from === s.funcs[from] && c.to === s.funcs[to]);
  return list.map((c) => (c.line ? `line ${c.line}, ${c.text}` : c.text)).join("; ");
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createCallers(app) {
  const bar = createCallsBar(app);
  const field = createFunctionField(app, "callers");
  const source = makeButton("source", () => app.showFunc(title.title, "source"), { class: "link" });
  const title = make("h2");
  const none = make("p", { class: "quiet" });
  const tables = make("div", { class: "tables" });
  let data = null;
  let looked = -1; // number of the selected function
  let kind = "";
  let callers = null;
  let callees = null;
  const words = { ...callWords(app, () => data), all: "the function's" };
  const above = createIcicle({ ...words, id: "callers", label: "Callers of the function", up: true });
  const below = createIcicle({ ...words, id: "callees", label: "Callees of the function" });
  const picture = make("div", { class: "sandwich" }, above.element, below.element);
  const body = make("div", null, make("div", { class: "bar-of-tools" }, title, source), none, tables, picture);
  const answer = createAnswer(body, "Summing up…");
  const question = () => callsQuestion(app) + app.calls.func;
  const element = make("div", { class: "callers" }, make("div", { class: "bar-of-tools" }, field.element, bar.element), body);

  function edgeTable(caption, empty, remark) {
    const columns = [{ key: "name", title: "function", pick: true, value: (e) => (e.func === totalFunc ? "<Total>" : shortFunc(data.samples.funcs[e.func])) }];
    for (const m of shownMetrics(app)) {
      const { name } = data.samples.metrics[m];
      const column = (/** @type {string} */ of, /** @type {string} */ hint, /** @type {(e: any) => number[]} */ values, /** @type {(e: any) => any} */ least = () => ({})) => {
        const value = (e) => valueOf(data, values(e), m);
        columns.push(/** @type {any} */ ({ key: `${of}.${name}`, title: `${of}.${name}`, hint, numeric: true, value, text: (e) => leastMark(data, least(e), m) + valueText(app, m, value(e)) }));
      };
      column("a", "Attributed to the calls between the two functions", (e) => e.attr, () => data.costs.get(looked) ?? {});
      column("e", "In the function itself", (e) => e.cost.excl);
      column("i", "In the function and its callees", (e) => e.cost.incl, (e) => e.cost);
    }
    if (data.samples.calls.length > 0) columns.push(/** @type {any} */ ({ key: "compiler", title: "compiler", hint: "What the compiler did with the calls between the two functions", value: (e) => remark(e.func) || null, text: (e) => remark(e.func) }));
    return createSortable({ caption, columns, by: columns[1].key, id: (e) => e.func, pick: (e) => e.func !== totalFunc && app.showFunc(data.samples.funcs[e.func], "callers"), empty });
  }

  function update() {
    if (!isShown(element)) return;
    app.model.wantSamples();
    answer.asks(question());
    bar.update();
    field.update();
    later();
  }

  function fill() {
    if (!isShown(element)) return;
    answer.answers(question());
    data = callData(app);
    const func = data ? lookedAt(app, data) : -1;
    const cost = data?.costs.get(func);
    none.hidden = cost !== undefined;
    picture.hidden = tables.hidden = source.hidden = !cost;
    none.textContent = data && app.calls.func ? `${shortFunc(app.calls.func)} has no values here.` : bar.nothing();
    title.textContent = "";
    if (!data || !cost) return;
    const { samples: s } = data;
    const m = chosenMetric(app);
    looked = func;
    title.title = s.funcs[func];
    const total = valueOf(data, data.total.incl, m) || 1;
    title.textContent = `${shortFunc(s.funcs[func])}: ${["excl", "incl"].map((side) => `${side[0]}.${s.metrics[m].name} ${side === "incl" ? leastMark(data, cost, m) : ""}${valueText(app, m, valueOf(data, cost[side], m))}, ${percentText(valueOf(data, cost[side], m) / total)}`).join("; ")}`;
    const weights = weightsOf(data, m);
    above.set(callerTree(s, weights, func));
    below.set(callTree(s, weights, func));
    const next = `${shownMetrics(app).join()} ${s.calls.length > 0}`;
    if (kind !== next) {
      kind = next;
      callers = edgeTable("Callers", "No known callers.", (f) => callRemark(data.samples, f, looked));
      callees = edgeTable("Callees", "No callees.", (f) => callRemark(data.samples, looked, f));
      tables.replaceChildren(callers.element, callees.element);
    }
    const edges = callersOf(s, data.weights, func, data.costs);
    callers.set(edges.callers);
    callees.set(edges.callees);
  }

  const later = restLater(fill);
  return { element, update };
}
