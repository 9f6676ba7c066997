// The palette: all commands with their keys, and the rows, locks and names of the trace, with fuzzy search.

import { lockTitle } from "../data/lockset.js";
import { fuzzy } from "../model/fuzzy.js";
import { longest } from "../model/relate.js";
import { rowId } from "../view/layout.js";
import { make } from "../view/make.js";
import { KEYS } from "./help.js";

/** @import { App } from "../app.js" */

/** @typedef {{text: string, kind: string, keys: string[], run: () => void}} Entry */

/** The maximum number of matches listed. */
const paletteListed = 50;

/** Returns the commands, each once, with all of its keys. @param {App} app @returns {Entry[]} */
function paletteCommands(app) {
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  for (const { action, text, label, group, fast } of KEYS) {
    if (fast || action === "palette") continue;
    const entry = entries.get(action) ?? { text, kind: group, keys: [], run: () => app.act(action, false) };
    entry.keys.push(label);
    entries.set(action, entry);
  }
  return [...entries.values()];
}

/** Returns the places of the trace. @param {App} app @returns {Entry[]} */
function palettePlaces(app) {
  const { model } = app;
  const rows = app.arranged.flatMap((a) => (a.kind === "group" ? a.rows : [a.row])).map((row) => ({
    text: row.title, kind: "row", keys: [], run() {
      app.rows.reveal(row.key, 0); // which opens its group
      app.showRow(rowId(row));
    },
  }));
  const locks = model.waits.locks.map((lock) => ({
    text: lockTitle((id) => model.name(id), lock), kind: "lock", keys: [], run: () => app.rows.revealLock(model.name(lock.nameId), lock.addr),
  }));
  const names = model.names.flatMap((text, id) => (text === "" ? [] : [{
    text, kind: "name", keys: [], run() {
      app.searchBox.set(text);
      const ref = longest(model, id);
      if (ref) app.select(ref, { reveal: true });
    },
  }]));
  return [...rows, ...locks, ...names];
}

/**
 * Returns the matches of a query, the best first; without a query, all commands.
 * @param {Entry[]} commands @param {Entry[]} places @param {string} query
 */
export function paletteFound(commands, places, query) {
  if (query.trim() === "") return commands;
  const found = [...commands, ...places].map((entry) => ({ entry, score: fuzzy(entry.text, query) })).filter(({ score }) => score >= 0);
  return found.sort((a, b) => b.score - a.score).slice(0, paletteListed).map(({ entry }) => entry);
}

/** @param {App} app @returns {{element: HTMLDialogElement, open(query?: string): void}} */
export function createPalette(app) {
  const input = make("input", {
    type: "text", placeholder: "A command, a row, a lock or a name", autocomplete: "off", spellcheck: false,
    role: "combobox", "aria-label": "Commands", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list",
  });
  const list = make("ul", { id: "palette-list", role: "listbox", "aria-label": "Commands" });
  const none = make("p", { class: "quiet", text: "No match." });
  const element = make("dialog", { class: "palette", "aria-label": "Commands" }, input, list, none);
  /** @type {Entry[]} */ let commands = [];
  /** @type {Entry[]} */ let places = [];
  /** @type {Entry[]} */ let shown = [];
  let active = 0;

  /** @param {number} k */
  function activate(k) {
    active = k;
    for (const [at, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(at === k));
    const option = list.children[k];
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function find() {
    shown = paletteFound(commands, places, input.value);
    list.replaceChildren(...shown.map(({ text, kind, keys }, k) => make("li", { id: `palette-${k}`, role: "option", onclick: () => run(k) },
      make("span", { class: "name", text }), make("span", { class: "quiet", text: kind }), make("span", { class: "keys" }, ...keys.map((key) => make("kbd", { text: key }))))));
    list.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    activate(0);
  }

  /** @param {number} k */
  function run(k) {
    const entry = shown[k];
    if (!entry) return;
    element.close(); // returns the focus before the command may move it
    entry.run();
  }

  input.addEventListener("input", find);
  element.addEventListener("click", (/** @type {MouseEvent} */ e) => {
    if (e.target === element) element.close(); // the backdrop
  });
  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    e.stopPropagation(); // keeps the key from the timeline
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[e.code];
    if (by && shown.length > 0) activate(Math.abs(by) === 1 ? (active + by + shown.length) % shown.length : Math.max(0, Math.min(shown.length - 1, active + by)));
    else if (e.code === "Enter" || e.code === "NumpadEnter") run(active);
    else return;
    e.preventDefault();
  });
  return {
    element,
    open(query = "") {
      commands = paletteCommands(app);
      places = palettePlaces(app);
      input.value = query;
      if (!element.open) element.showModal();
      find();
    },
  };
}
