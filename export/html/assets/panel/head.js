// The page's head: what trace it is, the switches, the filter of the rows.

import { createExportCsv } from "./exportcsv.js";
import { makeButton } from "../view/make.js";
import { bytes, span, thousands } from "../view/time.js";

/** @import { App } from "../app.js" */

/** @param {App} app */
export function buildHead(app) {
  const { meta } = app.model;
  const title = meta.title || meta.path || "trace";
  document.title = `${title} – scopeview`;
  /** @type {HTMLElement} */ (document.getElementById("title")).textContent = title;
  const date = app.startMs ? new Date(app.startMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : "";
  const facts = () => {
    const state = { running: "recording", gone: "the writer is gone", closed: "" }[/** @type {string} */ (app.model.meta.writer)] ?? "";
    /** @type {HTMLElement} */ (document.getElementById("facts")).textContent = [
      span(app.model.end), `${thousands(app.model.meta.scopes ?? 0)} scopes`, meta.size ? bytes(meta.size) : "", date, state,
    ].filter((s) => s !== "").join("  ·  ");
  };
  facts();
  app.on("model", facts);
}

/** @param {App} app */
export function buildSwitches(app) {
  const bar = /** @type {HTMLElement} */ (document.getElementById("switches"));
  const press = (/** @type {HTMLElement} */ b, /** @type {boolean} */ on) => b.setAttribute("aria-pressed", String(on));
  const threads = makeButton("Threads", () => app.act("threads", false), { title: "Rows by goroutine or by operating system's thread (G)" });
  const states = makeButton("States", () => app.act("states", false), { title: "What the goroutines did: thin, thick, hidden (E)" });
  const locks = makeButton("Locks", () => app.act("locks", false), { title: "Rows of the locks (K)" });
  const wall = makeButton("Clock", () => app.act("wallclock", false), { title: "Times from the start or of the clock on the wall (C)" });
  const text = makeButton("Text", () => app.act("text-table", false), { title: "The view as a table of text (Shift+T)" });
  const theme = makeButton("Theme", () => app.act("theme", false), { title: "Light or dark (T)" });
  const help = makeButton("?", () => app.act("help", false), { title: "Keys and mouse (?)", "aria-label": "Keys and mouse" });
  const follow = makeButton("Follow", () => app.act("follow", false), { title: "Stay at the live end (End)" });
  const update = () => {
    press(threads, app.by === "thread");
    press(wall, app.wall);
    press(states, app.choices.states !== "off");
    press(locks, app.choices.locks);
    states.hidden = !app.model.waits.any;
    locks.hidden = app.model.waits.locks.length === 0;
    press(follow, app.follow);
    follow.hidden = !app.growing;
  };
  for (const event of /** @type {const} */ (["by", "clock", "follow", "model"])) app.on(event, update);
  update();
  bar.append(follow, threads, states, locks, wall, text, createExportCsv(app).element, theme, help);
  app.on("by", () => { if (document.activeElement !== filter) filter.value = app.choices.filter; });
  const filter = /** @type {HTMLInputElement} */ (document.getElementById("row-filter"));
  filter.value = app.choices.filter;
  filter.addEventListener("input", () => {
    app.filterRows(filter.value);
  });
}
