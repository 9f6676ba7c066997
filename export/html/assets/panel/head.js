// The page's head: the title of the trace, and the switches.

import { createExports } from "./exports.js";
import { colorChoices } from "../view/colorby.js";
import { make, makeButton, pluralText } from "../view/make.js";
import { pageConfig } from "../model/source.js";
import { bytes, span } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** @param {App} app */
export function buildHead(app) {
  const { meta } = app.model;
  const title = meta.title || meta.path || "trace";
  document.title = `${title} – scopeview`;
  const heading = /** @type {HTMLElement} */ (document.getElementById("title"));
  heading.textContent = title;
  if (pageConfig().list) heading.before(make("a", { href: "/", text: "All traces" }));
  const date = app.startMs ? new Date(app.startMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : "";
  const progress = /** @type {HTMLProgressElement} */ (document.getElementById("reading"));
  const facts = () => {
    const { loading } = app.model.meta;
    if (loading) progress.value = loading.share;
    else if (!progress.hidden) app.announce("The trace has been read.");
    progress.hidden = !loading;
    const state = { running: "recording", gone: "ended without Stop", closed: "" }[/** @type {string} */ (app.model.meta.writer)] ?? "";
    /** @type {HTMLElement} */ (document.getElementById("facts")).textContent = [
      loading ? readingText(loading) : "", span(app.model.end), contentsText(app), meta.size ? bytes(meta.size) : "", date, state,
    ].filter((s) => s !== "").join("  ·  ");
  };
  facts();
  app.on("model", facts);
}

/** Returns the number of scopes, or of goroutines if only their states are recorded. @param {App} app */
function contentsText({ model }) {
  const scopes = model.meta.scopes ?? 0;
  const lanes = model.waits.states?.lanes.size ?? 0;
  return scopes === 0 && lanes > 0 ? pluralText(lanes, "goroutine") : pluralText(scopes, "scope");
}

/** Returns the server's progress. @param {{share: number, left: number}} loading */
function readingText({ share, left }) {
  const seconds = Math.ceil(left / 1e9);
  return `reading: ${Math.floor(share * 100)} %${share > 0.02 ? `, about ${seconds} s left` : ""}`;
}

/**
 * Creates a menu of buttons and choices. It closes on a click elsewhere, and on Escape.
 * @param {string} title @param {HTMLElement[]} items
 */
function createMenu(title, items) {
  const summary = make("summary", { text: title });
  const element = make("details", { class: "menu" }, summary, make("div", { class: "items" }, ...items));
  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.code !== "Escape" || !element.open) return;
    element.open = false;
    summary.focus();
    e.preventDefault();
  });
  document.addEventListener("pointerdown", (e) => {
    if (!element.contains(/** @type {Node} */ (e.target))) element.open = false;
  });
  return element;
}

/** Creates the choice of what the colours of scopes mean. @param {App} app */
function createColors(app) {
  const select = make("select", { "aria-label": "Colour scopes by", onchange: () => app.setColorBy(select.value) });
  const fill = () => {
    const list = colorChoices(app.model);
    if (!list.includes(app.choices.colorBy)) list.push(app.choices.colorBy);
    if (list.length !== select.length) select.replaceChildren(...list.map((text) => make("option", { text, value: text })));
    select.value = app.choices.colorBy;
  };
  app.on("by", fill);
  app.on("model", fill);
  fill();
  return make("label", null, "Colour ", select);
}

/** @param {App} app */
export function buildSwitches(app) {
  const bar = /** @type {HTMLElement} */ (document.getElementById("switches"));
  const press = (/** @type {HTMLElement} */ b, /** @type {boolean} */ on) => b.setAttribute("aria-pressed", String(on));
  const threads = makeButton("Rows by thread", () => app.act("threads", false), { title: "Rows by goroutine or by operating system thread (G)" });
  const states = makeButton("States of goroutines", () => app.act("states", false), { title: "States of the goroutines: thin, thick, hidden (E)" });
  const locks = makeButton("Rows of locks", () => app.act("locks", false), { title: "Show or hide the rows of locks (K)" });
  const procs = makeButton("Rows of processors", () => app.act("processors", false), { title: "Show or hide the rows of Go's processors, with the goroutines that ran on them (U)" });
  const flows = makeButton("Arrows of requests", () => app.act("flows", false), { title: "Arrows of all requests in view, or of one (Shift+L)" });
  const wall = makeButton("Time of day", () => app.act("wallclock", false), { title: "Time of day instead of the time since the start (C)" });
  const text = makeButton("Text table", () => app.act("text-table", false), { title: "The view as a text table (Shift+T)" });
  const theme = makeButton("Light or dark", () => app.act("theme", false), { title: "Light or dark theme (T)" });
  const palette = makeButton("All commands", () => app.act("palette", false), { title: "Find commands, rows, locks and names by a few letters (>)" });
  const link = makeButton("Copy a link", () => app.act("copy-link", false), { title: "Copy a link to this view (Y)" });
  const help = makeButton("?", () => app.act("help", false), { title: "Keys and mouse (?)", "aria-label": "Keys and mouse" });
  const follow = makeButton("Follow", () => app.act("follow", false), { title: "Stay at the end of the growing trace (End)" });
  const update = () => {
    press(threads, app.by === "thread");
    press(wall, app.wall);
    press(states, app.choices.states !== "off");
    press(locks, app.choices.locks);
    press(procs, app.choices.procs);
    procs.hidden = !app.model.waits.states?.procs;
    states.hidden = !app.model.waits.any;
    locks.hidden = app.model.waits.locks.length === 0;
    press(flows, app.flows);
    flows.hidden = !app.model.requests.any;
    press(follow, app.follow);
    follow.hidden = !app.growing;
  };
  for (const event of /** @type {const} */ (["by", "clock", "follow", "model", "request"])) app.on(event, update);
  update();
  bar.append(follow, createMenu("View", [threads, states, procs, locks, flows, createColors(app), wall, text, theme, palette]), createMenu("Export", [link, ...createExports(app)]), help);
}
