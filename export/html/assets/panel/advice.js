// The Advice tab: the cost of containers, buffers and locks, and cheaper alternatives, from
// the raw file beside the trace. It covers the whole run, regardless of the selection.

import { shortFunc } from "../data/names.js";
import { shellFile } from "./copy.js";
import { setPending } from "./answer.js";
import { createSortable, reportColumn } from "./sortable.js";
import { isShown, keepFocus, make, makeButton, nameText, pluralText } from "../view/make.js";
import { longest } from "../model/relate.js";
import { digits3, percentText } from "../view/numbers.js";

/**
 * @typedef {import("../data/meta.js").Advice} Advice
 * @typedef {import("../data/meta.js").Advised} Advised
 * @typedef {import("../data/meta.js").Costly} Costly
 */
/** @import { App } from "../app.js" */

/**
 * The minimum age in ms of an answer before it is requested again while the program runs,
 * which writes its raw file each second.
 */
const adviceFresh = 2000;

/** Splits a frame "function file:line" into its parts. @param {string} frame */
export function frameParts(frame) {
  const at = frame.indexOf(" ");
  return at < 0 ? { func: frame, place: "" } : { func: frame.slice(0, at), place: frame.slice(at + 1) };
}

/** Returns the short form of a place: "store.Get, store.go:88". @param {string} site a frame */
export function siteText(site) {
  const { func, place } = frameParts(site);
  return [shortFunc(func), place.slice(place.lastIndexOf("/") + 1)].filter((s) => s !== "").join(", ") || "?";
}

/** Formats a number of bytes in the units of the advice texts. @param {number} n */
export function memoryText(n) {
  const [unit, size] = /** @type {[string, number][]} */ ([["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]).find(([, s]) => n >= s * 0.9995) ?? ["bytes", 1];
  return `${digits3(size === 1 ? Math.round(n) : n / size)} ${unit}`;
}

/**
 * Returns the name of a function's scopes in a trace, as format.ShortFunction of the Go side does.
 * @param {string} func its whole name
 */
export function scopeName(func) {
  const generic = func.indexOf("[");
  const path = generic < 0 ? func : func.slice(0, generic);
  const slash = path.lastIndexOf("/");
  const short = func.slice(slash + 1);
  const dot = short.indexOf(".");
  if (dot < 0) return short;
  const version = slash > 0 && /^v([2-9]|[1-9]\d+)$/.test(short.slice(0, dot));
  const name = version ? path.slice(path.lastIndexOf("/", slash - 1) + 1, slash) : short.slice(0, dot);
  return name.replace(/%[0-9a-f]{2}/gi, (hex) => String.fromCharCode(parseInt(hex.slice(1), 16))) + short.slice(dot);
}

/**
 * Returns the rows that contain all words of a text.
 * @template {Advised|Costly} T
 * @param {T[]} rows @param {string} text @returns {T[]}
 */
export function withWords(rows, text) {
  const words = text.toLowerCase().split(/\s+/).filter((w) => w !== "");
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const all = JSON.stringify(Object.values(row)).toLowerCase();
    return words.every((w) => all.includes(w));
  });
}

/** Returns the key of a row. @param {Advised|Costly} r */
function adviceId(r) { return JSON.stringify(["id" in r ? r.id : r.kind, r.type, r.site, r.stack]); }

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createAdvice(app) {
  const head = make("h2");
  const filter = make("input", { type: "search", placeholder: "filter", "aria-label": "Filter the advice", oninput: () => fill() });
  const again = makeButton("read again", () => ask(), { hidden: true, title: "Read the raw file again" });
  const note = make("p", { class: "quiet", role: "status" });
  const notes = make("ul", { class: "quiet" });
  const open = new Set();
  const gain = (r) => (r.ns === 0 ? "" : r.ns < 0 ? `−${app.span(-r.ns)}` : app.span(r.ns));
  const table = (options) => createSortable({ id: adviceId, pick: turn, inside: (r) => (open.has(adviceId(r)) ? inside(r) : null), ...options });
  const advised = (head, rest) => reportColumn("advice", head, rest);
  const costs = (head, rest) => reportColumn("costs", head, rest);
  let most = 1;
  const found = table({
    caption: "Advice: cheaper alternatives", by: "saves", empty: "No advice.",
    columns: [advised("place", { pick: true, value: (r) => siteText(r.site) }),
      advised("improvement", { numeric: true, value: (r) => r.improvement }),
      advised("saves", { numeric: true, value: (r) => r.ns, text: gain, share: (r) => r.share, bar: "total" }),
      advised("%", { numeric: true, value: (r) => r.share, text: (r) => (r.ns > 0 ? percentText(r.share) : "") }),
      advised("memory", { numeric: true, value: (r) => r.bytes, text: (r) => (r.bytes > 0 ? memoryText(r.bytes) : "") }),
      advised("diagnostic", { value: (r) => r.id }), advised("advice", { value: (r) => r.advice })],
  });
  const costly = table({
    caption: "Highest costs without a known remedy", by: "costs",
    columns: [costs("place", { pick: true, value: (r) => siteText(r.site) }),
      costs("costs", { numeric: true, value: (r) => r.ns, text: gain, share: (r) => r.ns / most, bar: "total" }),
      costs("kind", { value: (r) => [r.kind, r.type].filter(Boolean).join(" of ") }), costs("what", { value: (r) => r.text })],
  });
  const tools = make("span", { class: "group" }, filter);
  const body = make("div", null, note, found.element, costly.element, notes);
  const element = make("div", { class: "advice" }, make("div", { class: "bar-of-tools" }, head, tools, again), body);
  /** @type {Advice|null} */
  let advice = null;
  let drawn = "";
  let busy = false;
  let asked = -Infinity;

  /** Opens a row, or closes it. */
  function turn(row) {
    const id = adviceId(row);
    if (!open.delete(id)) open.add(id);
    fill();
  }

  /** Selects the longest scope of a function. @param {string} name name of its scopes */
  function find(name) {
    const ref = longest(app.model, app.model.meta.names.indexOf(name));
    app.searchBox.set(name);
    if (ref) app.select(ref, { reveal: true });
    app.announce(ref ? `The longest ${nameText(name)} is selected.` : `Searching for ${nameText(name)}.`);
  }

  /** Returns a frame of a stack; its function links to its scopes, if there are any. */
  function frame(text, id) {
    const { func, place: where } = frameParts(text);
    const name = scopeName(func);
    const known = name !== "" && app.model.meta.names.includes(name);
    return make("li", null, known ? makeButton(func, () => find(name), { class: "link", "data-keep": `${id} ${text}`, title: "Find its scopes in the timeline" }) : func, where === "" ? null : ` ${where}`);
  }

  function list(title, texts) {
    if (!texts?.length) return [];
    return [make("h3", { text: title }), make("ul", { class: "evidence" }, ...texts.map((text) => make("li", { text })))];
  }

  /** Returns the details of a row. */
  function inside(r) {
    const id = adviceId(r);
    const called = [r.id, r.original && `GCC: ${r.original}`, r.group, r.type && `of ${r.type}`].filter(Boolean).join(", ");
    return make("div", { class: "opened" },
      r.id ? make("p", { class: "quiet", text: called }) : null,
      ...list("Seen", r.evidence), ...list("But", r.stoppers),
      make("h3", { text: (r.stacks ?? 1) > 1 ? `Call stack, innermost first: of ${r.stacks} that lead here, the one with the largest gain` : "Call stack, innermost first" }),
      make("ol", { class: "mono stack" }, ...(r.stack?.length ? r.stack : [r.site]).map((text) => frame(text, id))));
  }

  /** Returns the basis of the numbers. @param {Advice} a */
  function counted(a) {
    const runs = (a.runs ?? 1) > 1 ? `, in ${pluralText(a.runs, "run")}; numbers are of one` : "";
    const looked = (a.looked ?? 1) < 0.95 ? ` Operations were observed for ${percentText(a.looked)} of the time; their numbers are estimates.` : "";
    const more = a.more ? ` The first ${pluralText(a.findings?.length ?? 0, "piece")} of advice: scopeview advise ${shellFile(a.raw ?? "")} --count 0 shows ${a.more} more.` : "";
    return `Of the whole run, regardless of the selection: ${a.program}, ${a.go}, ${app.span((a.seconds ?? 0) * 1e9)} counted${runs}.${looked}${more}`;
  }

  function fill() {
    const all = advice?.findings ?? [];
    const shown = withWords(all, filter.value);
    const worst = withWords(advice?.worst ?? [], filter.value);
    most = worst.reduce((m, r) => Math.max(m, r.ns), 1);
    head.textContent = all.length === 0 ? "No advice" : `${shown.length < all.length ? `${shown.length} of ` : ""}${pluralText(all.length, "piece")} of advice`;
    found.element.hidden = all.length === 0;
    costly.element.hidden = (advice?.worst ?? []).length === 0;
    found.set(shown);
    costly.set(worst);
  }

  function draw() {
    const a = advice;
    const key = JSON.stringify(a);
    if (key === drawn) return;
    drawn = key;
    tools.hidden = !a || a.error !== undefined;
    if (!a) note.textContent = "There is no raw file beside the trace. scopeview run --advise writes one; this tab then lists the costs of containers, buffers and locks.";
    else note.textContent = a.error ?? counted(a);
    notes.replaceChildren(...[...(a?.notes ?? []), ...(a?.lost ?? [])].map((text) => make("li", { text })));
    keepFocus(element, fill);
  }

  async function ask() {
    if (busy || !app.model.source.advice) return;
    busy = true;
    again.disabled = true;
    if (drawn === "") setPending(body, "Reading the advice…");
    try {
      advice = await app.model.source.advice();
      draw();
    } catch (err) {
      note.textContent = `The advice could not be loaded: ${err instanceof Error ? err.message : String(err)}`;
      drawn = "";
    }
    setPending(body, "");
    again.hidden = false;
    again.disabled = busy = false;
    asked = performance.now();
  }

  function update() {
    if (!isShown(element)) return;
    if (!app.model.source.advice) {
      advice = app.model.advice;
      return draw();
    }
    if (asked === -Infinity || app.growing && performance.now() - asked > adviceFresh) ask();
  }

  return { element, update };
}
