// An icicle: a tree as boxes with widths proportional to the values of its nodes, for mouse
// and keys. The flame views use it.

import { flameBoxes, flamePath } from "./flamelayout.js";
import { make, makeButton } from "../view/make.js";
import { percentText, thousands } from "../view/numbers.js";

/**
 * The texts of a view for its nodes. A node has nameId, kind, value, self and children; see flameBoxes.
 * @typedef {Object} IcicleWords
 * @property {string} id unique in the page
 * @property {string} label description for screen readers
 * @property {(node: any) => string} key identifies a node among its siblings, in the next tree, too
 * @property {(node: any, root: boolean) => string} name
 * @property {(value: number) => string} value
 * @property {(node: any) => string[]} more facts that do not fit into a box
 * @property {(node: any) => string} background a CSS background; "": none
 * @property {string=} all description of the whole, for shares
 * @property {(node: any) => string=} class
 * @property {boolean=} up draw the root at the bottom
 * @property {(node: any|null) => void=} onzoom called with the node that fills the width; null: the root
 */

/**
 * @param {IcicleWords} words
 * @returns {{element: HTMLElement, stage: HTMLElement, crumbs: HTMLElement, hover: HTMLElement, set(tree: any): void, width(): number}}
 */
export function createIcicle(words) {
  let tree = null;
  let path = []; // keys from below the root to the node that fills the width
  let rootKey = "";
  let boxes = [];
  let focus = 0;
  const crumbs = make("nav", { class: "crumbs", "aria-label": "Path to the node that fills the width" });
  const hover = make("p", { class: "hover quiet" });
  const stage = make("div", { class: "icicle", role: "tree", tabindex: "0", "aria-label": words.label, onkeydown: press });
  stage.tabIndex = 0;

  function nodes() { return tree ? flamePath(tree, path, words.key) : []; }

  function nameOf(node) { return words.name(node, node === tree); }

  function describe(box) {
    if (!box.node) return `${thousands(box.cut)} more, too narrow to draw: ${words.value(box.value)}`;
    const { node } = box;
    return [`${nameOf(node)}: ${words.value(node.value)}, ${percentText(node.value / (tree.value || 1))} of ${words.all ?? "all"}`, ...more(box)].join(" · ");
  }

  /** Returns the facts that do not fit into the box. */
  function more({ node, parent: at }) {
    if (!node || node === tree) return [];
    const around = at >= 0 ? boxes[at].node : tree;
    const share = around !== tree ? [`${percentText(node.value / around.value)} of ${nameOf(around)}`] : [];
    return [...share, `self ${words.value(node.self)}`, ...words.more(node)];
  }

  function zoom(node) {
    if (!node) return;
    const at = boxes.findIndex((b) => b.node === node);
    const down = [];
    for (let b = boxes[at]; b && b.parent >= 0; b = boxes[b.parent]) down.unshift(words.key(b.node));
    path = [...path.slice(0, nodes().length - 1), ...down];
    focus = 0;
    draw();
  }

  function zoomTo(depth) {
    const was = path[depth];
    path = path.slice(0, depth);
    draw();
    setFocus(Math.max(0, boxes.findIndex((b) => b.parent === 0 && b.node && words.key(b.node) === was)));
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
    const [out, into] = words.up ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
    const to = { [out]: box.parent, [into]: box.first, ArrowLeft: box.before, ArrowRight: box.after, Home: 0 }[event.code];
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

  function boxElement(box, at, deepest) {
    const text = box.node ? nameOf(box.node) : "…";
    const value = box.node ? `${words.value(box.value)} ${percentText(box.value / tree.value)}` : "";
    const rest = box.node ? more(box).join(", ") : describe(box);
    const kind = !box.node ? " cut" : box.node === tree ? " root" : words.class?.(box.node) ?? "";
    const item = make("div", {
      class: "box" + kind, role: "treeitem", id: `${words.id}-${at}`, "aria-level": box.depth + 1, "aria-selected": "false",
    }, make("span", { class: "name", text }), " ", make("span", { class: "value", text: value }), make("span", { class: "unseen", text: " " + rest }));
    item.style.left = `${(box.x * 100).toFixed(4)}%`;
    item.style.width = `${(box.w * 100).toFixed(4)}%`;
    item.style.top = `calc(${words.up ? deepest - box.depth : box.depth} * var(--row-h))`;
    if (box.node && box.node !== tree) item.style.background = words.background(box.node);
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
    boxes = line.length ? flameBoxes(line[line.length - 1], width()) : [];
    const depth = boxes.reduce((most, b) => Math.max(most, b.depth), 0);
    stage.replaceChildren(...boxes.map((box, at) => boxElement(box, at, depth)));
    stage.style.height = boxes.length ? `calc(${depth + 1} * var(--row-h))` : "0";
    stage.hidden = boxes.length === 0;
    drawCrumbs(line);
    if (focus >= boxes.length) focus = 0;
    hover.textContent = "";
    markFocus();
    words.onzoom?.(line.length > 1 ? line[line.length - 1] : null);
  }

  function width() { return stage.clientWidth || 800; }

  return {
    element: make("div", { class: "flame" }, stage, hover), stage, crumbs, hover, width,
    /** Shows a tree; with the same root it keeps the zoom, as far as its nodes exist. */
    set(next) {
      if (next && rootKey !== words.key(next)) {
        rootKey = words.key(next);
        path = [];
      }
      tree = next;
      draw();
    },
  };
}
