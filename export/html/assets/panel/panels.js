// The panels below the timeline, one tab each.

import { createAbout } from "./about.js";
import { createAdvice } from "./advice.js";
import { createCallers } from "./callersview.js";
import { createDetails } from "./details.js";
import { createDoctor } from "./doctorview.js";
import { createFlame } from "./flameview.js";
import { createFunctions } from "./functionsview.js";
import { make, makeButton } from "../view/make.js";
import { createSource } from "./sourceview.js";
import { createSummary } from "./summaryview.js";

/** @import { App } from "../app.js" */

/** @param {App} app */
export function buildPanels(app) {
  const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
  /** @type {[import("../state.js").Tab, string, {element: HTMLElement, update(): void}][]} */
  const tabs = [
    ["details", "Details", createDetails(app)], ["summary", "Summary", createSummary(app)],
    ["flame", "Flame", createFlame(app)], ["functions", "Functions", createFunctions(app)], ["callers", "Callers", createCallers(app)],
    ["source", "Source", createSource(app)], ["doctor", "Doctor", createDoctor(app)], ["advice", "Advice", createAdvice(app)], ["about", "About", createAbout(app)],
  ];
  const list = make("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  const body = make("div", { class: "body", tabIndex: 0 });
  app.on("tab", () => {
    for (const [id, , view] of tabs) {
      const button = /** @type {HTMLElement} */ (document.getElementById(`tab-${id}`));
      button.setAttribute("aria-selected", String(id === app.tab));
      button.tabIndex = id === app.tab ? 0 : -1;
      view.element.hidden = id !== app.tab;
      if (id === app.tab) view.update();
    }
  });
  for (const [id, title, view] of tabs) {
    const button = makeButton(title, () => app.showTab(id), { id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}` });
    button.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.code];
      if (!step) return;
      const k = (tabs.findIndex(([t]) => t === id) + step + tabs.length) % tabs.length;
      app.showTab(tabs[k][0]);
      document.getElementById(`tab-${tabs[k][0]}`)?.focus();
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
  const update = () => tabs.find(([id]) => id === app.tab)?.[2].update();
  for (const event of /** @type {const} */ (["selection", "range", "model", "clock", "calls", "by"])) app.on(event, update);
}
