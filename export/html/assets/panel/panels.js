// The panels below the timeline, one tab each.

import { createAbout } from "./about.js";
import { createAdvice } from "./advice.js";
import { createCallers } from "./callersview.js";
import { createCompare } from "./compareview.js";
import { createDetails } from "./details.js";
import { createDoctor } from "./doctorview.js";
import { createFlame } from "./flameview.js";
import { createFunctions } from "./functionsview.js";
import { make, makeButton } from "../view/make.js";
import { createRequest } from "./requestview.js";
import { createRuns } from "./runsview.js";
import { createSource } from "./sourceview.js";
import { createSummary } from "./summaryview.js";

/** @import { App } from "../app.js" */

/**
 * The tab shown beside a tab where there is room for two; the default is the summary.
 * @type {Partial<Record<import("../state.js").Tab, import("../state.js").Tab>>}
 */
const beside = { summary: "flame", runs: "details", request: "details", functions: "callers", callers: "functions", source: "functions" };

/** @param {App} app */
export function buildPanels(app) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
  /** @type {[import("../state.js").Tab, string, {element: HTMLElement, update(): void}][]} */
  const tabs = [
    ["details", "Details", createDetails(app)], ["summary", "Summary", createSummary(app)], ["runs", "Executions", createRuns(app)], ["request", "Request", createRequest(app)],
    ["flame", "Flame", createFlame(app)], ["functions", "Functions", createFunctions(app)], ["callers", "Callers", createCallers(app)],
    ["source", "Source", createSource(app)], ["doctor", "Doctor", createDoctor(app)], ["advice", "Advice", createAdvice(app)], ["compare", "Compare", createCompare(app)], ["about", "About", createAbout(app)],
  ];
  const list = make("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  const body = make("div", { class: "body", tabIndex: 0 });
  const wide = matchMedia("(min-width: 1800px) and (min-height: 1000px)");
  const second = () => (wide.matches ? beside[app.tab] ?? "summary" : app.tab);
  wide.addEventListener("change", () => app.notify("tab"));
  app.on("tab", () => {
    body.classList.toggle("two", wide.matches);
    for (const [id, , view] of tabs) {
      const button = /** @type {HTMLElement} */ (document.getElementById(`tab-${id}`));
      button.setAttribute("aria-selected", String(id === app.tab));
      button.tabIndex = id === app.tab ? 0 : -1;
      view.element.hidden = id !== app.tab && id !== second();
      view.element.classList.toggle("beside", id !== app.tab);
      if (!view.element.hidden) view.update();
    }
  });
  for (const [id, title, view] of tabs) {
    const button = makeButton(title, () => app.showTab(id), { id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}` });
    button.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.code];
      if (!step) return;
      const there = tabs.filter(([t]) => document.getElementById(`tab-${t}`)?.hidden === false);
      const k = (there.findIndex(([t]) => t === id) + step + there.length) % there.length;
      app.showTab(there[k][0]);
      document.getElementById(`tab-${there[k][0]}`)?.focus();
      e.preventDefault();
    });
    list.append(button);
    view.element.id = `view-${id}`;
    view.element.setAttribute("role", "tabpanel");
    view.element.setAttribute("aria-labelledby", `tab-${id}`);
    view.element.hidden = true;
    body.append(view.element);
  }
  panel.replaceChildren(list, body);
  const tabOfRequests = /** @type {HTMLElement} */ (list.querySelector("#tab-request"));
  const look = () => { tabOfRequests.hidden = !app.model.requests.any; };
  look();
  app.on("model", look);
  const update = () => { for (const [, , view] of tabs) if (!view.element.hidden) view.update(); };
  for (const event of /** @type {const} */ (["selection", "range", "model", "clock", "calls", "by", "path", "other"])) app.on(event, update);
}
