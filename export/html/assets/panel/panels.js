// The panel below the timeline: one tab for each kind of question, some with several views.

import { createAbout } from "./about.js";
import { createAdvice } from "./advice.js";
import { createCallers } from "./callersview.js";
import { createCompare } from "./compareview.js";
import { createDetails } from "./details.js";
import { createDoctor } from "./doctorview.js";
import { createFlame } from "./flameview.js";
import { createFunctions } from "./functionsview.js";
import { make, makeButton } from "../view/make.js";
import { createQuery } from "./queryview.js";
import { createRequest } from "./requestview.js";
import { createRuns } from "./runsview.js";
import { createSource } from "./sourceview.js";
import { createSummary } from "./summaryview.js";

/**
 * @import { App } from "../app.js"
 * @import { Tab } from "../state.js"
 */

/** The tabs, each with its views; the address and the keys have the views. @type {{title: string, views: {id: Tab, title: string, create: (app: App) => {element: HTMLElement, update(): void}}[]}[]} */
const panelTabs = [
  { title: "Overview", views: [{ id: "summary", title: "Summary", create: createSummary }, { id: "query", title: "Query", create: createQuery }] },
  { title: "Selection", views: [{ id: "details", title: "Details", create: createDetails }, { id: "request", title: "Request", create: createRequest }] },
  { title: "Why", views: [{ id: "doctor", title: "Findings", create: createDoctor }, { id: "runs", title: "Executions", create: createRuns }] },
  {
    title: "Profile",
    views: [{ id: "flame", title: "Flame", create: createFlame }, { id: "functions", title: "Functions", create: createFunctions }, { id: "callers", title: "Callers", create: createCallers }, { id: "source", title: "Source", create: createSource }],
  },
  { title: "Compare", views: [{ id: "compare", title: "Compare", create: createCompare }] },
  { title: "Advice", views: [{ id: "advice", title: "Advice", create: createAdvice }] },
  { title: "About", views: [{ id: "about", title: "About", create: createAbout }] },
];

/**
 * The view shown beside a view where there is room for two; the default is the summary.
 * @type {Partial<Record<Tab, Tab>>}
 */
const beside = { summary: "flame", runs: "details", request: "details", query: "details", functions: "callers", callers: "functions", source: "functions" };

/** The time in ms after which the panel grows: the second click of a double click must find the rows where they were. */
const growAfter = 500;

/**
 * Creates a list of tabs, in which the arrow keys move.
 * @param {string} label @param {HTMLButtonElement[]} buttons
 */
function tabList(label, buttons) {
  const list = make("div", { class: "tabs", role: "tablist", "aria-label": label }, ...buttons);
  list.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.code];
    const there = buttons.filter((b) => !b.hidden);
    const at = there.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (!step || at < 0) return;
    const next = there[(at + step + there.length) % there.length];
    next.click();
    next.focus();
    e.preventDefault();
  });
  return list;
}

/** Marks a tab as selected or not. @param {HTMLElement} button @param {boolean} on */
function setSelected(button, on) {
  button.setAttribute("aria-selected", String(on));
  button.tabIndex = on ? 0 : -1;
}

/** @param {App} app */
export function buildPanels(app) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
  const body = make("div", { class: "body", tabIndex: 0 });
  const wide = matchMedia("(min-width: 1800px) and (min-height: 1000px)");
  const second = () => (wide.matches ? beside[app.tab] ?? "summary" : app.tab);
  const built = panelTabs.map(({ title, views }) => {
    const shown = views.map(({ id, title: name, create }) => {
      const { element, update } = create(app);
      const single = views.length === 1;
      const button = makeButton(single ? title : name, () => app.showTab(id), { id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}` });
      element.id = `view-${id}`;
      element.setAttribute("role", "tabpanel");
      element.setAttribute("aria-labelledby", `tab-${id}`);
      element.hidden = true;
      body.append(element);
      return { id, element, update, button };
    });
    const tab = { views: shown, last: views[0].id, list: views.length > 1 ? tabList(title, shown.map((v) => v.button)) : null, button: shown[0].button };
    if (tab.list) tab.button = makeButton(title, () => app.showTab(tab.last), { role: "tab", id: `tab-of-${views[0].id}` });
    return tab;
  });
  const lists = make("div", { class: "tab-lists" }, tabList("Panels", built.map((tab) => tab.button)), ...built.flatMap((tab) => tab.list ?? []));
  wide.addEventListener("change", () => app.notify("tab"));
  app.on("tab", () => {
    body.classList.toggle("two", wide.matches);
    for (const tab of built) {
      const on = tab.views.some(({ id }) => id === app.tab);
      if (on) tab.last = app.tab;
      setSelected(tab.button, on);
      if (tab.list) tab.list.hidden = !on;
      for (const { id, element, update, button } of tab.views) {
        if (tab.list) setSelected(button, id === app.tab);
        element.hidden = id !== app.tab && id !== second();
        element.classList.toggle("beside", id !== app.tab);
        if (!element.hidden) update();
      }
    }
  });
  panel.replaceChildren(lists, body);
  const ofRequests = /** @type {HTMLElement} */ (lists.querySelector("#tab-request"));
  const look = () => { ofRequests.hidden = !app.model.requests.any; };
  look();
  app.on("model", look);
  const update = () => { for (const { views } of built) for (const view of views) if (!view.element.hidden) view.update(); };
  for (const event of /** @type {const} */ (["selection", "range", "model", "clock", "calls", "by", "path", "other"])) app.on(event, update);
  let growing = 0;
  app.on("selection", () => {
    clearTimeout(growing);
    growing = window.setTimeout(grow, growAfter);
  });

  /** Gives a selection more room, and none to the panel that nobody reads. */
  function grow() {
    const on = app.selection !== null || app.stateSelection !== null;
    if (panel.classList.toggle("grown", on) && app.selection) {
      const { key, depth } = app.model.place(app.selection, app.by);
      app.rows.reveal(key, depth);
    }
  }
}
