// The Flame tab: for the selected range or the whole trace, boxes of scopes by name and
// nesting, with widths proportional to time; or of calls on and off CPUs.

import { shortFunc } from "../data/names.js";
import { createAnswer, rangeQuestion } from "./answer.js";
import { colorOf } from "../view/color.js";
import { areaText, rowsOfArea } from "../model/area.js";
import { callTree } from "../model/callgraph.js";
import { callData, callsQuestion, chosenMetric, weightsOf } from "../model/calls.js";
import { callWords, createCallsBar } from "./callsbar.js";
import { createIcicle } from "./icicle.js";
import { namesIn, sandwich, turnedOver } from "../model/sandwich.js";
import { flameSteps } from "../model/flame.js";
import { inSlices, oneAtATime } from "../data/slices.js";
import { Kind } from "../data/kinds.js";
import { isShown, restLater, make, makeButton, nameText } from "../view/make.js";
import { thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createFlame(app) {
  /** @type {"wall"|"cpu"|"calls"} */
  let kind = "wall";
  /** @type {"down"|"up"|"sandwich"} */
  let form = "down";
  /** The tree of scopes. @type {import("../model/flame.js").FlameNode|null} */
  let scopeTree = null;
  let data = null;
  let drawn = []; // the inputs of the picture
  const wall = makeButton("wall", () => setKind("wall"), { title: "Scopes by duration" });
  const cpu = makeButton("CPU", () => setKind("cpu"), { title: "Scopes by known CPU time" });
  const calls = makeButton("functions", () => setKind("calls"), { title: "Call stacks of samples and waits" });
  const of = make("span", { class: "quiet" });
  const none = make("p", { class: "quiet" });
  const bar = createCallsBar(app);
  const nameOf = (node) => (node.kind === Kind.wait ? "wait for " : "") + nameText(app.model.meta.names[node.nameId]);
  const scopeWords = () => ({
    key: nameOf, name: (node, root) => (root && node.nameId < 0 ? app.area ? areaText(app.area).slice(4) : "all rows" : nameOf(node)), value: (v) => app.span(v), more: (node) => [`${thousands(node.count)}×`],
    background: (node) => (node.kind === Kind.wait ? "" : colorOf(app.model.meta.names[node.nameId] || "")), class: (node) => (node.kind === Kind.wait ? " wait" : ""),
  });
  const scopes = createIcicle({ ...scopeWords(), id: "flame", label: "Time by name" });
  const above = createIcicle({ ...scopeWords(), id: "flame-above", label: "What the name is in", up: true });
  const forms = /** @type {const} */ ([["down", "top down", "What is in what"], ["up", "bottom up", "The names by their own time, in each what they are in"], ["sandwich", "around a name", "What a name is in above it, what is in it below"]])
    .map(([name, text, title]) => makeButton(text, () => setForm(name), { title, "data-form": name }));
  const formed = make("span", { class: "group", role: "group", "aria-label": "Form of the graph" }, ...forms);
  const middle = make("select", { "aria-label": "The name in the middle", onchange: () => draw() });
  const zoomed = makeButton("", () => app.showFunc(zoomed.dataset.func ?? "", "callers"), { class: "link", hidden: true });
  const words = callWords(app, () => data);
  const stacks = createIcicle({
    ...words, id: "stacks", label: "Call stacks",
    onzoom(node) {
      zoomed.hidden = node === null;
      zoomed.dataset.func = node ? words.key(node) : "";
      zoomed.textContent = `callers of ${shortFunc(zoomed.dataset.func)}`;
    },
  });
  const body = make("div", null, above.element, scopes.element, stacks.element, none);
  const answer = createAnswer(body, "Counting…");
  const question = () => rangeQuestion(app, kind, kind === "calls" && callsQuestion(app));
  const element = make("div", { class: "flames" },
    make("div", { class: "bar-of-tools" }, make("span", { class: "group", role: "group", "aria-label": "Kind of graph" }, wall, cpu, calls), formed, middle, of, bar.element, zoomed, scopes.crumbs, stacks.crumbs),
    body);

  function setKind(next) {
    kind = next;
    update();
    fill();
  }

  /** @param {"down"|"up"|"sandwich"} next */
  function setForm(next) {
    form = next;
    update();
    draw();
  }

  /** Draws the tree of scopes in its form. */
  function draw() {
    if (!scopeTree) return;
    above.element.hidden = middle.hidden = form !== "sandwich" || kind === "calls";
    if (form !== "sandwich") return scopes.set(form === "up" ? turnedOver(scopeTree) : scopeTree);
    const names = namesIn(scopeTree);
    const id = (/** @type {{nameId: number, kind: number}} */ n) => `${n.kind} ${n.nameId}`;
    const before = middle.value;
    middle.replaceChildren(...names.map((n) => make("option", { value: id(n), text: nameOf(n) })));
    const s = app.selection;
    const chosen = names.find((n) => id(n) === before) ?? names.find((n) => s && n.nameId === s.batch.name[s.i]) ?? names[0];
    if (!chosen) return scopes.set(scopeTree);
    middle.value = id(chosen);
    const both = sandwich(scopeTree, chosen.nameId, chosen.kind);
    above.set(both.above);
    scopes.set(both.below);
  }

  function update() {
    for (const b of forms) b.setAttribute("aria-pressed", String(b.dataset.form === form));
    formed.hidden = kind === "calls";
    above.element.hidden = middle.hidden = form !== "sandwich" || kind === "calls";
    for (const [button, name] of /** @type {[HTMLElement, string][]} */ ([[wall, "wall"], [cpu, "cpu"], [calls, "calls"]])) button.setAttribute("aria-pressed", String(kind === name));
    calls.hidden = !app.model.mayHaveSamples;
    if (kind === "calls" && isShown(element)) app.model.wantSamples();
    bar.update();
    bar.element.hidden = stacks.element.hidden = stacks.crumbs.hidden = kind !== "calls";
    scopes.element.hidden = scopes.crumbs.hidden = kind === "calls";
    if (kind !== "calls") zoomed.hidden = true;
    of.textContent = app.range ? `in the selected ${app.span(app.range.to - app.range.from)}${areaText(app.area)}` : "in the whole trace";
    if (app.model.reduced && kind !== "calls") of.textContent += "; short scopes that are merged count as the longest of them";
    answer.asks(question());
    if (drawn.length > 0) later();
    else fill();
  }

  async function fill() {
    if (!isShown(element)) return;
    const { from, to } = app.range || { from: 0, to: app.model.end };
    const sums = kind === "calls" ? callData(app) : null;
    const next = sums ? [sums, stacks.width()] : [kind, from, to, app.area, app.model.version, scopes.width()];
    if (next.length === drawn.length && next.every((v, k) => v === drawn[k])) return;
    const asked = question();
    const shown = await run(asked, async (stale) => {
      drawn = next;
      if (kind === "calls") return { tree: sums && callTree(sums.samples, weightsOf(sums, chosenMetric(app))) };
      const tree = await inSlices(flameSteps(app.model, from, to, kind, rowsOfArea(app.model, app.area)), stale);
      return tree && { tree };
    });
    if (!shown) return;
    answer.answers(asked);
    const { tree } = shown;
    if (kind === "calls") {
      data = sums;
      stacks.set(tree);
    } else {
      scopeTree = tree ?? null;
      draw();
    }
    none.hidden = Boolean(tree && tree.value > 0);
    none.textContent = kind === "calls" ? bar.nothing() : kind === "cpu" ? "No CPU time is known here." : "No scope ended here.";
  }

  const later = restLater(fill);
  const run = oneAtATime(later);
  new ResizeObserver(later).observe(scopes.stage);
  new ResizeObserver(later).observe(stacks.stage);
  return { element, update };
}
