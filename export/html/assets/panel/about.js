// The About tab: the recorded program, the recording, and its losses.

import { remarks } from "./banner.js";
import { createMarks } from "./marks.js";
import { momentText } from "../view/ruler.js";
import { longestTitle, shortText } from "../data/names.js";
import { createSortable } from "./sortable.js";
import { make, makeButton, isShown, nameText } from "../view/make.js";
import { chooseEditor } from "./sourcelink.js";
import { bytes, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/**
 * Returns the facts: those of `scopeview info` and the page's own.
 * @param {import("../data/meta.js").Meta} meta
 * @returns {[string, string][]}
 */
export function aboutFacts(meta) {
  /** @type {[string, string][]} */
  const facts = (meta.info || []).map(([key, value]) => [String(key), String(value)]);
  const has = (key) => facts.some((f) => f[0] === key);
  if (meta.size && !has("trace")) facts.unshift(["trace", `${nameText(meta.path)}, ${bytes(meta.size)}`]);
  if (!has("scopes")) facts.push(["scopes", thousands(meta.scopes || 0)]);
  if (meta.tool) facts.push(["shown by", meta.tool]);
  return facts;
}

/**
 * Returns the losses and oddities of the trace, each with its time.
 * @param {import("../data/meta.js").Meta} meta
 * @returns {{from:number, to:number, what:string, count:number|null}[]}
 */
export function aboutOdd(meta) {
  const odd = [];
  for (const [from, to, count, reason] of meta.gaps || []) odd.push({ from, to, what: reason === "overwritten" ? "overwritten by later records" : `lost: ${reason}`, count });
  for (const [from, to] of meta.breaks || []) odd.push({ from, to, what: "the clock stepped; durations across it are unknown", count: null });
  for (const [time, text] of meta.notes || []) odd.push({ from: time, to: time, what: text, count: null });
  return odd.sort((a, b) => a.from - b.from);
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createAbout(app) {
  const body = make("tbody");
  const facts = make("table", { class: "facts" }, make("caption", { class: "unseen", text: "About this recording" }), body);
  const odd = createSortable({
    caption: "Losses and notes, by time", by: "from", descending: false,
    id: (row) => row.from,
    pick: (row) => lookAt(row),
    columns: [
      { key: "from", title: "when", numeric: true, pick: true, value: (r) => r.from, text: (r) => momentText(app, r.from, 1e3) },
      { key: "span", title: "for", numeric: true, value: (r) => r.to - r.from, text: (r) => (r.to > r.from ? app.span(r.to - r.from) : "") },
      { key: "count", title: "records", numeric: true, value: (r) => r.count, text: (r) => (r.count === null ? "" : thousands(r.count)), tone: (r) => (r.count ? "loss" : "") },
      { key: "what", title: "what", value: (r) => r.what },
    ],
  });
  const marks = createMarks(app);
  const editor = makeButton("Open sources in an editor…", () => chooseEditor(app, null), { "aria-haspopup": "dialog" });
  const said = make("ul", { class: "evidence", "aria-label": "Remarks on the recording" });
  const element = make("div", { class: "about" }, said, marks.element, facts, editor, odd.element);
  let drawn = "";

  function lookAt(row) {
    const margin = Math.max((row.to - row.from) / 2, 1e6);
    app.setView(row.from - margin, row.to + margin, { animate: true });
  }

  function update() {
    if (!isShown(element)) return;
    marks.update();
    const meta = app.model.meta;
    const list = [...aboutFacts(meta), ...(app.model.waits.states?.facts ?? [])];
    const rows = aboutOdd(meta);
    const notes = remarks(meta, app.model.waits.problems);
    const key = JSON.stringify([list, rows, notes, app.time(0)]);
    if (key === drawn) return;
    drawn = key;
    body.replaceChildren(...list.map(([k, v]) => make("tr", null, make("th", { scope: "row", text: k }), make("td", { text: v }))));
    said.replaceChildren(...notes.map((text) => make("li", { text: shortText(text, longestTitle) })));
    said.hidden = notes.length === 0;
    editor.hidden = meta.places.size === 0;
    odd.element.hidden = rows.length === 0;
    odd.set(rows);
  }

  return { element, update };
}
