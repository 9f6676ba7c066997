// The filter of the rows, and their order, in the page's head.

import { filterHelp, parseRows, rowFilter } from "../model/rowexpr.js";
import { rowOrders } from "../model/rows.js";
import { make } from "../view/make.js";
import { thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

const orderWords = { name: "by name", start: "by start", busy: "busiest first", wait: "longest waits first", cpu: "most CPU first" };

/** @param {App} app */
export function buildRowFilter(app) {
  const box = /** @type {HTMLInputElement} */ (document.getElementById("row-filter"));
  const message = /** @type {HTMLElement} */ (document.getElementById("row-filter-message"));
  const order = /** @type {HTMLSelectElement} */ (document.getElementById("row-sort"));
  box.title = `Show the rows for which all of these hold:\n${filterHelp.map(([what, text]) => `${what}: ${text}`).join("\n")}`;
  order.title = "Order of the rows. Times cover the whole trace, even if only a part of it is in view; CPU time is the known part.";
  order.append(...rowOrders.map((value) => make("option", { value, text: orderWords[value] })));

  /** Shows the number of rows, or the error of the filter. */
  function showMessage() {
    const { filter } = app.choices;
    const { error } = parseRows(filter, app.model.end);
    const rows = app.model.rows(app.by);
    box.setAttribute("aria-invalid", String(error !== ""));
    const text = error !== "" ? `${error}; all rows are shown` : filter === "" ? "" : `${thousands(rows.filter(rowFilter(app.model, filter).row).length)} of ${thousands(rows.length)} rows`;
    if (message.textContent !== text) message.textContent = text;
  }

  function update() {
    if (box.value.trim() !== app.choices.filter) box.value = app.choices.filter;
    order.value = app.choices.sort;
    showMessage();
  }

  box.addEventListener("input", () => app.filterRows(box.value.trim()));
  order.addEventListener("change", () => app.sortRows(/** @type {import("../model/rows.js").RowOrder} */ (order.value)));
  for (const event of /** @type {const} */ (["filter", "by", "model"])) app.on(event, update);
  update();
}
