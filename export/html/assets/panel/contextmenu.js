// The context menu of bars, rows and names: what the keys do, with their keys.

import { make, nameText } from "../view/make.js";
import { isScope } from "../data/kinds.js";
import { extentOf } from "../model/refs.js";
import { longest } from "../model/relate.js";
import { copyText } from "./copy.js";
import { KEYS } from "./help.js";
import { chooseAt } from "../view/choose.js";

/** @import { App } from "../app.js" */

/** @typedef {{text: string, keys?: string, run: () => void}} MenuItem */

/** The actions for a bar, for a strip of states, and for a row. */
const barActions = ["fit", "range-of-selection", "runs", "longest-same", "prev-same", "next-same", "parent", "child", "blocker", "root", "mark", "note"];
const stateActions = ["blocker", "root"];
const rowActions = ["pin", "collapse", "hide"];

/** Returns the items of some actions, with the texts and keys of the help. @param {App} app @param {string[]} names @returns {MenuItem[]} */
function itemsOf(app, names) {
  return names.flatMap((name) => {
    const keys = KEYS.filter((k) => k.action === name && !k.fast);
    return keys.length === 0 ? [] : [{ text: keys[0].text, keys: keys.map((k) => k.label).join(" "), run: () => void app.act(name, false) }];
  });
}

/** Returns what can be done with a name of scopes. @param {App} app @param {string} name @returns {MenuItem[]} */
export function nameItems(app, name) {
  const ref = longest(app.model, app.model.names.indexOf(name));
  return [
    ...ref ? [{ text: `select the longest ${nameText(name)}`, run: () => app.select(ref, { reveal: true }) }] : [],
    { text: "all of its executions", run: () => app.showRuns(name) }, { text: "search for it", run: () => app.searchBox.set(name) },
    { text: "copy its name", run: () => void copyText(app, name, "the name") },
  ];
}

/** @param {App} app @returns {{element: HTMLElement, open(items: MenuItem[], x: number, y: number): void}} */
export function createContextMenu(app) {
  const element = make("div", { class: "context-menu", role: "menu", hidden: true });
  /** @type {HTMLElement|null} */ let before = null;

  function close() {
    if (element.hidden) return;
    element.hidden = true;
    before?.focus({ preventScroll: true });
  }

  /** @param {MenuItem[]} items @param {number} x @param {number} y */
  function open(items, x, y) {
    if (items.length === 0) return;
    before = /** @type {HTMLElement} */ (document.activeElement);
    const at = before.getBoundingClientRect();
    const [left, top] = x === 0 && y === 0 ? [at.left, at.bottom] : [x, y]; // a key has no place of its own in some browsers
    element.replaceChildren(...items.map(({ text, keys, run }) => make("button", { type: "button", role: "menuitem", tabIndex: -1, onclick: () => { close(); run(); } }, make("span", { text }), keys ? make("kbd", { text: keys }) : null)));
    element.hidden = false;
    const box = element.getBoundingClientRect();
    element.style.left = `${Math.max(2, Math.min(left, innerWidth - box.width - 4))}px`;
    element.style.top = `${Math.max(2, Math.min(top, innerHeight - box.height - 4))}px`;
    /** @type {HTMLElement} */ (element.firstElementChild).focus();
  }

  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    e.stopPropagation(); // keeps the key from the timeline
    const list = /** @type {HTMLElement[]} */ ([...element.children]);
    const at = list.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[e.code];
    if (to !== undefined) list[(to + list.length) % list.length].focus();
    else if (e.code === "Escape" || e.code === "Tab") close();
    else return;
    e.preventDefault();
  });
  document.addEventListener("pointerdown", (e) => { if (!element.contains(/** @type {Node} */ (e.target))) close(); }, true);
  addEventListener("blur", close);

  const { canvas, element: rows } = app.rows;
  canvas.addEventListener("contextmenu", (/** @type {MouseEvent} */ e) => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    chooseAt(app, app.rows, e.clientX - box.left, e.clientY - box.top);
    openFor(e.clientX, e.clientY);
  });

  /** Opens the menu of what is selected. @param {number} x @param {number} y */
  function openFor(x, y) {
    const ref = app.selection;
    const name = ref && ref.j === undefined && isScope(ref.batch.kind[ref.i]) ? app.model.name(ref.batch.name[ref.i]) : "";
    const row = app.chosenRow ? itemsOf(app, rowActions) : [];
    if (ref) open([...itemsOf(app, barActions), ...name ? nameItems(app, name).slice(-2) : [], ...row], x, y);
    else open([...app.stateSelection ? itemsOf(app, stateActions) : [], ...row, ...itemsOf(app, ["whole", "mark"])], x, y);
  }
  rows.addEventListener("contextmenu", (/** @type {MouseEvent} */ e) => {
    const label = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (e.target).closest(".label"));
    const id = label?.dataset.id;
    if (!id && e.target !== rows) return;
    e.preventDefault();
    if (!id) { // by its key
      const box = canvas.getBoundingClientRect();
      const { from, to } = app.view;
      const begin = app.selection ? extentOf(app.selection).start : (from + to) / 2;
      return openFor(box.left + Math.max(0, Math.min(1, (begin - from) / (to - from))) * box.width, box.top + box.height / 2);
    }
    app.chooseRow(id);
    open([{ text: "what it did", run: () => app.showRow(id) }, ...itemsOf(app, rowActions), ...itemsOf(app, ["collapse-all", "one-line", "threads"])], e.clientX, e.clientY);
  });
  return { element, open };
}
