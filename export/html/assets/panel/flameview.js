// The Flame tab: what ran inside what, by name, for the selected range or the
// whole trace, as boxes whose width is time.

import { colorOf } from "../view/color.js";
import { flame } from "../model/flame.js";
import { flameBoxes, flamePath } from "./flamelayout.js";
import { Kind } from "../data/kinds.js";
import { isShown, restLater, make, makeButton, nameText, percentText } from "../view/make.js";
import { thousands } from "../view/time.js";

/** @import { App } from "../app.js" */

/**
 * @param {App} app
 * @returns {{element: HTMLElement, update(): void}}
 */
export function createFlame(app) {
  /** @type {"wall"|"cpu"} */
  let metric = "wall";
  let tree = null;
  let path = []; // names from below the root to the node that fills the width
  let boxes = [];
  let focus = 0;
  let stamp = "";

  const wall = makeButton("wall", () => setMetric("wall"), { title: "By how long it took" });
  const cpu = makeButton("CPU", () => setMetric("cpu"), { title: "By the CPU time that is known" });
  const of = make("span", { class: "quiet" });
  const crumbs = make("nav", { class: "crumbs", "aria-label": "Path to what fills the width" });
  const hover = make("p", { class: "hover quiet" });
  const stage = make("div", { class: "icicle", role: "tree", tabindex: "0", "aria-label": "Time by name", onkeydown: press });
  stage.tabIndex = 0;
  const none = make("p", { class: "quiet" });
  const element = make("div", { class: "flame" },
    make("div", { class: "bar-of-tools" }, make("span", { class: "group", role: "group", "aria-label": "Width" }, wall, cpu), of, crumbs), stage, none, hover);

  function setMetric(next) {
    metric = next;
    update();
    fill();
  }

  function nodes() {
    return tree ? flamePath(tree, path) : [];
  }

  function nameOf(node) {
    if (node === tree) return "all rows";
    return (node.kind === Kind.wait ? "wait for " : "") + nameText(app.model.meta.names[node.nameId]);
  }

  function describe(box) {
    if (!box.node) return `${thousands(box.cut)} more, too narrow to be drawn: ${app.span(box.value)}`;
    const { node } = box;
    return [`${nameOf(node)}: ${app.span(node.value)}, ${percentText(node.value / (tree.value || 1))} of all`, ...more(box)].join(" · ");
  }

  /** What the box has no room for. */
  function more({ node, parent: at }) {
    if (!node || node === tree) return [];
    const around = at >= 0 ? boxes[at].node : tree;
    const share = around !== tree ? [`${percentText(node.value / around.value)} of ${nameOf(around)}`] : [];
    return [...share, `self ${app.span(node.self)}`, `${thousands(node.count)}×`];
  }

  function zoom(node) {
    if (!node) return;
    const at = boxes.findIndex((b) => b.node === node);
    const down = [];
    for (let b = boxes[at]; b && b.parent >= 0; b = boxes[b.parent]) down.unshift(b.node.nameId);
    path = [...path.slice(0, nodes().length - 1), ...down];
    focus = 0;
    draw();
  }

  function zoomTo(depth) {
    const was = path[depth];
    path = path.slice(0, depth);
    draw();
    setFocus(Math.max(0, boxes.findIndex((b) => b.parent === 0 && b.node && b.node.nameId === was)));
  }

  function setFocus(at) {
    focus = at;
    markFocus();
    stage.children[at]?.scrollIntoView({ block: "nearest" });
  }

  function markFocus() {
    stage.querySelector(".focus")?.classList.remove("focus");
    const box = stage.children[focus];
    if (!box) return stage.removeAttribute("aria-activedescendant");
    box.classList.add("focus");
    stage.setAttribute("aria-activedescendant", box.id);
    hover.textContent = describe(boxes[focus]);
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !boxes.length) return;
    const box = boxes[focus];
    const to = { ArrowUp: box.parent, ArrowDown: box.first, ArrowLeft: box.before, ArrowRight: box.after, Home: 0 }[event.code];
    if (to !== undefined) {
      if (to >= 0) setFocus(to);
    } else if (event.code === "Enter" || event.code === "Space") {
      if (focus > 0) zoom(box.node);
      else if (path.length) zoomTo(nodes().length - 2);
    } else if ((event.code === "Escape" || event.code === "Backspace") && path.length) {
      zoomTo(nodes().length - 2);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function boxElement(box, at) {
    const text = box.node ? nameOf(box.node) : "…";
    const value = box.node ? `${app.span(box.value)} ${percentText(box.value / tree.value)}` : "";
    const rest = box.node ? more(box).join(", ") : describe(box);
    const item = make("div", {
      class: "box" + (box.node ? box.node.kind === Kind.wait ? " wait" : box.node === tree ? " root" : "" : " cut"),
      role: "treeitem", id: `flame-${at}`, "aria-level": box.depth + 1, "aria-selected": "false",
    }, make("span", { class: "name", text }), " ", make("span", { class: "value", text: value }), make("span", { class: "unseen", text: " " + rest }));
    item.style.left = `${(box.x * 100).toFixed(4)}%`;
    item.style.width = `${(box.w * 100).toFixed(4)}%`;
    item.style.top = `calc(${box.depth} * var(--row-h))`;
    if (box.node && box.node !== tree && box.node.kind !== Kind.wait) item.style.backgroundColor = colorOf(app.model.meta.names[box.node.nameId] || "");
    item.addEventListener("pointerenter", () => (hover.textContent = describe(box)));
    item.addEventListener("click", () => {
      if (at === 0 && path.length) zoomTo(nodes().length - 2);
      else if (at > 0 && box.node) zoom(box.node);
      else setFocus(at);
    });
    return item;
  }

  function drawCrumbs(line) {
    crumbs.replaceChildren(...line.flatMap((node, depth) => {
      const last = depth === line.length - 1;
      const piece = last ? make("span", { text: nameOf(node), "aria-current": "true" }) : makeButton(nameOf(node), () => zoomTo(depth), { class: "link" });
      return depth ? [make("span", { class: "quiet", text: " › " }), piece] : [piece];
    }));
  }

  function draw() {
    const line = nodes();
    boxes = line.length ? flameBoxes(line[line.length - 1], stage.clientWidth || 800) : [];
    stage.replaceChildren(...boxes.map(boxElement));
    const depth = boxes.reduce((most, b) => Math.max(most, b.depth), 0);
    stage.style.height = boxes.length ? `calc(${depth + 1} * var(--row-h))` : "0";
    stage.hidden = boxes.length === 0;
    none.hidden = boxes.length > 0;
    none.textContent = metric === "cpu" ? "No CPU time is known here." : "No scope ended here.";
    drawCrumbs(line);
    if (focus >= boxes.length) focus = 0;
    hover.textContent = "";
    markFocus();
  }

  function update() {
    wall.setAttribute("aria-pressed", String(metric === "wall"));
    cpu.setAttribute("aria-pressed", String(metric === "cpu"));
    of.textContent = app.range ? `in the selected ${app.span(app.range.to - app.range.from)}` : "in the whole trace";
    if (app.model.reduced) of.textContent += "; short scopes that are merged count as the longest of them";
    if (tree) later();
    else fill();
  }

  function fill() {
    if (!isShown(element)) return;
    const { from, to } = app.range || { from: 0, to: app.model.end };
    const next = [metric, from, to, app.model.version, stage.clientWidth].join();
    if (next === stamp) return;
    stamp = next;
    tree = flame(app.model, from, to, metric);
    draw();
  }

  const later = restLater(fill);
  new ResizeObserver(later).observe(stage);
  return { element, update };
}
