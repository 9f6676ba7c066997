// The other trace's rows below this one's: a second app whose view follows the first one's.
// They share the time axis, the overview and the panels of the first.

import { createApp } from "./app.js";
import { colorScopes } from "./view/color.js";
import { createDetails } from "./panel/details.js";
import { listenDivider, listenMouse } from "./input.js";
import { make, makeButton } from "./view/make.js";
import { createPopup } from "./view/popup.js";
import { createRowsView } from "./view/rowsview.js";
import { viewOfAll } from "./view/viewport.js";

/** @import { App } from "./app.js" */
/** @import { Model } from "./model/model.js" */

/**
 * The other trace's rows. chosen: the selection was made there.
 * @typedef {{app: App, readonly chosen: boolean, alignSelected(): void, draw(): void, remove(): void}} Pair
 */

/** Shows the other trace's rows whenever app a gets another trace to compare with. @param {App} a */
export function listenOther(a) {
  a.on("other", () => {
    if (a.pair?.app.model === a.other) return;
    a.pair?.remove();
    if (a.other) Object.assign(a, { pair: createPair(a, a.other) });
  });
}

/** @param {App} a @param {Model} model the other trace's @returns {Pair} */
function createPair(a, model) {
  const b = createApp(model);
  const sheet = make("div", { class: "rows", id: "rows-b", tabIndex: 0, role: "group", "aria-label": "Timeline of B" });
  const rows = createRowsView(b, sheet);
  const divider = make("div", { class: "divider", role: "separator", "aria-orientation": "horizontal", "aria-label": "Height of the rows of B", tabIndex: 0 });
  const fold = makeButton("▾", () => {
    sheet.hidden = !sheet.hidden;
    fold.textContent = sheet.hidden ? "▸" : "▾";
    fold.setAttribute("aria-expanded", String(!sheet.hidden));
    pane.classList.toggle("folded", sheet.hidden);
    a.relayout();
  }, { "aria-expanded": "true", "aria-label": "Rows of B" });
  const where = make("span", { class: "quiet" });
  const align = makeButton("Align at the selected scopes", () => alignSelected(), { title: "Select a scope in each trace, with the same name (Shift+J)" });
  const starts = makeButton("Align the starts", () => shiftTo(0));
  const title = `B: ${model.meta.title || model.meta.path || "trace"}`;
  const pane = make("section", { class: "pane-b", "aria-label": "The other trace" },
    make("div", { class: "head-b" }, fold, make("h2", { text: title, title }), align, starts, where), sheet);
  const details = createDetails(b);
  const column = make("div", { class: "of-b" }, make("p", { class: "quiet", text: `in ${title}` }), details.element);
  const panel = /** @type {HTMLElement} */ (document.getElementById("view-details"));
  let inB = false;

  /** @param {number} shift */
  function shiftTo(shift) {
    a.shiftOther(shift);
    a.announce(shift === 0 ? "aligned at the starts" : `aligned: B is shown ${a.span(Math.abs(shift))} ${shift > 0 ? "earlier" : "later"}`);
  }

  /** Aligns the begins of the two selections; if they are aligned already, the starts of the traces. */
  function alignSelected() {
    const [x, y] = [a.selection, b.selection];
    const name = (/** @type {App} */ app) => (app.selection ? app.model.name(app.selection.batch.name[app.selection.i]) : "");
    if (!x || !y || name(a) !== name(b)) return a.announce("first select a scope in each trace, with the same name", true);
    const shift = y.batch.start[y.i] - x.batch.start[x.i];
    shiftTo(shift === a.shift ? 0 : shift);
  }

  /** Updates the extent that covers both traces. */
  function reach() {
    a.model.reach = { from: -a.shift, to: model.end - a.shift };
  }

  /** Shows the details of one of the two apps. @param {boolean} other */
  function showDetails(other) {
    inB = other;
    panel.classList.toggle("in-b", other);
  }

  const earlier = (/** @type {import("./app.js").Stretch|null} */ r) => r && { from: r.from - a.shift, to: r.to - a.shift };
  Object.assign(b, {
    rows, searchBox: a.searchBox, draw: () => rows.draw(b.colors), keepState() {},
    setLeaderView: (/** @type {number} */ from, /** @type {number} */ to, /** @type {any} */ how) => a.setView(from - a.shift, to - a.shift, how),
    zoomAt: (/** @type {number} */ t, /** @type {number} */ factor) => a.zoomAt(t - a.shift, factor),
    setRange: (/** @type {import("./app.js").Stretch|null} */ range) => a.setRange(earlier(range)),
    hover: a.hover, showTab: a.showTab,
  });
  const mouse = listenMouse(b, rows, createPopup(b));
  a.on("selection", () => { if (a.selection || a.stateSelection) showDetails(false); });
  b.on("selection", () => {
    showDetails(b.selection !== null || b.stateSelection !== null);
    if (inB && a.tab !== "details") a.showTab("details");
    details.update();
  });
  model.onchange(() => {
    b.resolveSelection();
    b.find(""); // the search is repeated in each trace
    colorScopes(model);
    reach();
    b.notify("model");
    b.relayout();
    details.update();
    a.notify("other"); // a comparison applies to this trace
  });
  colorScopes(model);
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  main.insertBefore(pane, document.getElementById("divider"));
  main.insertBefore(divider, pane);
  listenDivider(a, divider, pane);
  new ResizeObserver(() => { rows.layout(); b.redraw(); }).observe(sheet);
  panel.append(column);
  const all = viewOfAll(a.model);
  reach();
  b.copyView(a);
  b.relayout();
  if (a.aim.from === all.from && a.aim.to === all.to) {
    const both = viewOfAll(a.model);
    a.setView(both.from, both.to);
  }

  return {
    app: b,
    get chosen() { return inB; },
    alignSelected,
    draw() {
      if (inB && panel.checkVisibility()) details.update();
      reach();
      mouse.lookAgain();
      b.copyView(a);
      starts.hidden = a.shift === 0;
      const at = [`${b.span(model.end)}`, a.shift === 0 ? "" : `${b.span(Math.abs(a.shift))} ${a.shift > 0 ? "earlier" : "later"} than recorded`, b.cursor === null ? "" : `at the pointer ${b.time(Math.round(b.cursor))}`].filter((s) => s !== "").join("  ·  ");
      if (where.textContent !== at) where.textContent = at;
      if (!sheet.hidden) b.drawNow();
    },
    remove() { for (const e of [pane, divider, column]) e.remove(); },
  };
}
