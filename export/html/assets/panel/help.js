// The keys of the page, and the overlay that shows them. The key handlers and the overlay
// use the same list KEYS, so they cannot differ.

import { stateWords } from "../data/states.js";
import { filterHelp } from "../model/rowexpr.js";
import { searchHelp } from "../model/search.js";
import { make, makeButton } from "../view/make.js";

/**
 * A key and its action. code is the physical key, so that W, A, S and D have the same positions on every keyboard. key,
 * instead, is the character, such as / and ?. shift and ctrl (or Cmd) must be pressed if true, and not otherwise. With
 * key, shift is ignored. fast: a larger step.
 * @typedef {{code?:string, key?:string, shift?:boolean, ctrl?:boolean, fast?:boolean,
 *   label:string, action:string, text:string, group:string}} Key
 */

/** @type {Key[]} */
export const KEYS = [
  { code: "KeyW", label: "W", action: "zoom-in", text: "zoom in", group: "Move" },
  { code: "KeyW", shift: true, fast: true, label: "Shift+W", action: "zoom-in", text: "zoom in", group: "Move" },
  { key: "+", label: "+", action: "zoom-in", text: "zoom in", group: "Move" },
  { code: "ArrowUp", shift: true, label: "Shift+↑", action: "zoom-in", text: "zoom in", group: "Move" },
  { code: "KeyS", label: "S", action: "zoom-out", text: "zoom out", group: "Move" },
  { code: "KeyS", shift: true, fast: true, label: "Shift+S", action: "zoom-out", text: "zoom out", group: "Move" },
  { key: "-", label: "−", action: "zoom-out", text: "zoom out", group: "Move" },
  { code: "ArrowDown", shift: true, label: "Shift+↓", action: "zoom-out", text: "zoom out", group: "Move" },
  { code: "KeyA", label: "A", action: "pan-left", text: "move earlier", group: "Move" },
  { code: "KeyA", shift: true, fast: true, label: "Shift+A", action: "pan-left", text: "move earlier", group: "Move" },
  { code: "ArrowLeft", shift: true, label: "Shift+←", action: "pan-left", text: "move earlier", group: "Move" },
  { code: "KeyD", label: "D", action: "pan-right", text: "move later", group: "Move" },
  { code: "KeyD", shift: true, fast: true, label: "Shift+D", action: "pan-right", text: "move later", group: "Move" },
  { code: "ArrowRight", shift: true, label: "Shift+→", action: "pan-right", text: "move later", group: "Move" },
  { code: "KeyF", label: "F", action: "fit", text: "zoom to the selection; again: the whole trace", group: "Move" },
  { code: "Digit0", label: "0", action: "whole", text: "the whole trace", group: "Move" },
  { code: "End", label: "End", action: "follow", text: "go to the end, and stay there while the trace grows", group: "Move" },
  { code: "KeyZ", label: "Z", action: "back", text: "undo: the previous view and choices", group: "Move" },
  { code: "KeyZ", ctrl: true, label: "Ctrl+Z", action: "back", text: "undo: the previous view and choices", group: "Move" },
  { code: "KeyZ", shift: true, label: "Shift+Z", action: "forward", text: "redo: the next view and choices", group: "Move" },
  { code: "KeyZ", shift: true, ctrl: true, label: "Ctrl+Shift+Z", action: "forward", text: "redo: the next view and choices", group: "Move" },

  { code: "ArrowRight", label: "→", action: "next-on-row", text: "next on the row", group: "Scopes" },
  { code: "Period", label: ".", action: "next-on-row", text: "next on the row", group: "Scopes" },
  { code: "ArrowLeft", label: "←", action: "prev-on-row", text: "previous on the row", group: "Scopes" },
  { code: "Comma", label: ",", action: "prev-on-row", text: "previous on the row", group: "Scopes" },
  { code: "ArrowUp", label: "↑", action: "parent", text: "the enclosing scope", group: "Scopes" },
  { code: "ArrowDown", label: "↓", action: "child", text: "the first scope inside it", group: "Scopes" },
  { code: "BracketRight", label: "]", action: "next-same", text: "next of the same name", group: "Scopes" },
  { code: "BracketLeft", label: "[", action: "prev-same", text: "previous of the same name", group: "Scopes" },
  { code: "KeyL", label: "L", action: "longest-same", text: "longest of the same name", group: "Scopes" },
  { code: "KeyB", label: "B", action: "blocker", text: "of a wait: what blocked the holder; of a scope: its longest wait", group: "Scopes" },
  { code: "KeyB", shift: true, label: "Shift+B", action: "root", text: "the root of its chain of waits", group: "Scopes" },
  { code: "KeyR", label: "R", action: "range-of-selection", text: "select its time as a range", group: "Scopes" },
  { code: "KeyM", label: "M", action: "mark", text: "mark it; again: remove the mark", group: "Scopes" },
  { code: "KeyM", shift: true, label: "Shift+M", action: "note", text: "mark the range or the scope, and name it", group: "Scopes" },
  { code: "ArrowRight", ctrl: true, label: "Ctrl+→", action: "next-mark", text: "next mark; About has the list", group: "Scopes" },
  { code: "ArrowLeft", ctrl: true, label: "Ctrl+←", action: "prev-mark", text: "previous mark", group: "Scopes" },
  { code: "KeyR", shift: true, label: "Shift+R", action: "request", text: "its request, across goroutines and processes", group: "Scopes" },
  { code: "KeyL", shift: true, label: "Shift+L", action: "flows", text: "arrows of all requests in view, or of one", group: "Scopes" },
  { code: "KeyO", shift: true, label: "Shift+O", action: "only-request", text: "only the rows of the request, or all rows", group: "Rows" },
  { code: "Escape", label: "Esc", action: "clear", text: "clear the selection, the range, the search", group: "Scopes" },

  { key: "/", label: "/", action: "search", text: "search names and arguments", group: "Search" },
  { key: ">", label: ">", action: "palette", text: "find commands, rows, locks and names by a few letters; also > in the search", group: "Search" },
  { code: "KeyP", ctrl: true, shift: true, label: "Ctrl+Shift+P", action: "palette", text: "find commands, rows, locks and names by a few letters; also > in the search", group: "Search" },
  { code: "KeyF", ctrl: true, label: "Ctrl+F", action: "search", text: "search names and arguments", group: "Search" },
  { code: "Enter", label: "Enter", action: "next-hit", text: "next hit", group: "Search" },
  { code: "KeyN", label: "N", action: "next-hit", text: "next hit", group: "Search" },
  { code: "Enter", shift: true, label: "Shift+Enter", action: "prev-hit", text: "previous hit", group: "Search" },
  { code: "KeyN", shift: true, label: "Shift+N", action: "prev-hit", text: "previous hit", group: "Search" },

  { code: "KeyG", label: "G", action: "threads", text: "rows by goroutine or by thread", group: "Rows" },
  { code: "KeyE", label: "E", action: "states", text: "states of the goroutines: thin, thick, hidden", group: "Rows" },
  { code: "KeyK", label: "K", action: "locks", text: "show or hide the rows of locks", group: "Rows" },
  { code: "KeyI", label: "I", action: "path", text: "show or hide the critical path on the rows", group: "Rows" },
  { code: "KeyU", label: "U", action: "processors", text: "show or hide the rows of Go's processors", group: "Rows" },
  { code: "KeyQ", shift: true, label: "Shift+Q", action: "graphs", text: "graphs above the rows: two, with memory, none", group: "Rows" },
  { code: "KeyX", label: "X", action: "collapse", text: "collapse the row, or fold the group", group: "Rows" },
  { code: "KeyX", shift: true, label: "Shift+X", action: "collapse-all", text: "collapse all rows and groups; again: expand them", group: "Rows" },
  { code: "KeyO", label: "O", action: "one-line", text: "one line for each row, or all", group: "Rows" },
  { code: "KeyP", label: "P", action: "pin", text: "pin the row to the top", group: "Rows" },
  { code: "KeyH", label: "H", action: "hide", text: "hide the row", group: "Rows" },

  { code: "Digit1", label: "1", action: "details", text: "Selection: its details", group: "Panels" },
  { code: "Digit2", label: "2", action: "summary", text: "Overview: sums by name, locks", group: "Panels" },
  { code: "Digit2", shift: true, label: "Shift+2", action: "query", text: "Query: ask the trace in SQL", group: "Panels" },
  { code: "KeyV", label: "V", action: "runs", text: "Executions: all of one name, and what the slowest have in common", group: "Panels" },
  { code: "Digit3", label: "3", action: "flame", text: "Profile: flame graph", group: "Panels" },
  { code: "Digit4", label: "4", action: "functions", text: "Profile: functions", group: "Panels" },
  { code: "Digit5", label: "5", action: "callers", text: "Profile: callers and callees", group: "Panels" },
  { code: "Digit6", label: "6", action: "source", text: "Profile: source", group: "Panels" },
  { code: "Digit7", label: "7", action: "doctor", text: "Why: findings", group: "Panels" },
  { code: "Digit8", label: "8", action: "advice", text: "Advice", group: "Panels" },
  { code: "KeyJ", label: "J", action: "compare", text: "Compare with another trace", group: "Panels" },
  { code: "KeyJ", shift: true, label: "Shift+J", action: "align", text: "align two traces at the selected scopes, or at their starts", group: "Panels" },
  { code: "Digit9", label: "9", action: "about", text: "About", group: "Panels" },
  { code: "KeyT", shift: true, label: "Shift+T", action: "text-table", text: "the view as a text table", group: "Panels" },
  { code: "KeyT", label: "T", action: "theme", text: "light or dark theme", group: "Panels" },
  { code: "KeyC", label: "C", action: "wallclock", text: "time since the start, or time of day", group: "Panels" },
  { code: "KeyY", label: "Y", action: "copy-link", text: "copy a link to this view", group: "Panels" },
  { code: "KeyQ", label: "Q", action: "panel", text: "hide or show the panel", group: "Panels" },
  { key: "?", label: "?", action: "help", text: "this help", group: "Panels" },
];

/** The actions of the mouse, for the overlay. */
export const MOUSE = [
  ["wheel", "scroll the rows"],
  ["Ctrl + wheel", "zoom at the pointer"],
  ["Shift + wheel", "move earlier or later"],
  ["click", "select a scope, show its details"],
  ["double click", "zoom to it"],
  ["drag", "select a time range on the rows it crosses: its duration, and what ran in it"],
  ["drag on the time axis", "select a time range on all rows; to move an end, drag its handle or press ← → on it"],
  ["click on a flag there", "go to the mark"],
  ["Alt + drag", "do not snap to the starts and ends of scopes"],
  ["Shift + drag", "move the view"],
  ["hover over a bar", "show what it is; highlight all of the same name"],
  ["hover over a strip", "show the state: its duration, reason and stack, and the goroutine that ended it"],
  ["click on a strip", "show the same in the panel, with the whole stack"],
  ["hover over a tick below it", "show a sample: the stack that was on a CPU at that time"],
  ["arrow at a wait under the pointer", "from the holder of its lock"],
  ["click or drag in the overview", "move the view there"],
];

const FINGERS = [
  ["one finger", "move the view and scroll the rows"],
  ["two fingers", "zoom at the fingers"],
  ["tap, double tap", "like a click and a double click"],
  ["long press, then drag", "select a time range on the rows it crosses"],
];

/** Elements in which keys enter text. */
const helpTyping = new Set(["INPUT", "TEXTAREA", "SELECT"]);
/** The keys that with Ctrl act on the page there, too; Ctrl+Z belongs to the text. */
const helpWhileTyping = new Set(["KeyF", "KeyP"]);

/**
 * Returns the meaning of a pressed key. null: none, or the focused control handles the key
 * itself: text in a field, Enter on a button, arrows in a list of tabs.
 * @param {KeyboardEvent} event
 * @returns {Key|null}
 */
export function keyOf(event) {
  const ctrl = Boolean(event.ctrlKey || event.metaKey);
  const at = event.target && /** @type {HTMLInputElement} */ (event.target).tagName ? /** @type {HTMLInputElement} */ (event.target) : null;
  if (event.defaultPrevented) return null;
  if (at && helpTyping.has(at.tagName) && at.type !== "checkbox" && event.code !== "Escape" && !(ctrl && helpWhileTyping.has(event.code))) return null;
  if (at && event.code === "Enter" && (at.tagName === "BUTTON" || at.tagName === "A" || at.tagName === "SUMMARY")) return null;
  if (at && /^Arrow(Left|Right)$/.test(event.code) && at.getAttribute("role") === "tab") return null;
  for (const k of KEYS) {
    if (k.key && k.key === event.key && !ctrl) return k;
  }
  if (event.altKey) return null;
  for (const k of KEYS) {
    if (k.code === event.code && Boolean(k.shift) === Boolean(event.shiftKey) && Boolean(k.ctrl) === ctrl) return k;
  }
  return null;
}

/** Returns a table of keys, or the like, and their actions. */
function helpTable(caption, rows, tag) {
  return make("table", null, make("caption", { text: caption }), make("tbody", null, ...rows.map(([labels, text]) => make("tr", null,
    make("th", { scope: "row" }, ...labels.flatMap((label) => [make(tag, { text: label }), " "])),
    make("td", { text })))));
}

/** The colours of the strips. */
function helpStates() {
  const table = helpTable("Strip under the bars: the goroutine is", Object.values(stateWords).map((text) => [[""], text]), "span");
  Object.keys(stateWords).forEach((name, k) => {
    const swatch = table.querySelectorAll("tbody span")[k];
    swatch.className = `state-swatch state-${name}`;
  });
  return table;
}

/** Returns the keys of a group; those with the same text share a row. */
export function helpRows(group) {
  const rows = new Map();
  for (const k of KEYS) {
    if (k.group !== group || k.fast) continue;
    if (!rows.has(k.action)) rows.set(k.action, [[], k.text]);
    rows.get(k.action)[0].push(k.label);
  }
  return [...rows.values()];
}

/**
 * Creates the overlay. toggle opens or closes it; the focus returns to its previous place.
 * @returns {{element: HTMLDialogElement, update(): void, toggle(): void}}
 */
export function createHelp() {
  const columns = make("div", { class: "help-columns" });
  for (const group of new Set(KEYS.map((k) => k.group))) columns.append(helpTable(group, helpRows(group), "kbd"));
  for (const [caption, rows, tag] of /** @type {[string, string[][], string][]} */ ([["Mouse", MOUSE, "span"], ["Fingers, on the rows", FINGERS, "span"], ["Search", searchHelp, "code"], ["Filter of the rows", filterHelp, "code"]])) {
    columns.append(helpTable(caption, rows.map(([what, text]) => [[what], text]), tag));
  }
  columns.append(helpStates());
  /** @type {HTMLDialogElement} */
  const element = make("dialog", { class: "help", "aria-label": "Keys and mouse" },
    make("div", { class: "help-bar" }, make("h2", { text: "Keys and mouse" }), makeButton("Close", () => element.close(), { class: "quiet" })),
    columns,
    make("p", { text: "W A S D with Shift: larger steps. A letter stands for the key at its place on a US keyboard, whatever is printed on the key." }));
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close(); // the backdrop
  });
  element.addEventListener("keydown", (event) => {
    if (event.key === "?") element.close();
    event.stopPropagation(); // keeps the key from the timeline
    if (event.key === "?") event.preventDefault();
  });
  return {
    element,
    update() {},
    toggle() {
      if (element.open) element.close();
      else element.showModal();
    },
  };
}
