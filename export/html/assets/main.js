// The page: brings the app, the views and the panels together.

import { createApp } from "./app.js";
import { createBanner } from "./panel/banner.js";
import { colorScopes, themeColors } from "./view/color.js";
import { buildHead, buildSwitches } from "./panel/head.js";
import { createHeart } from "./view/heart.js";
import { createHelp } from "./panel/help.js";
import { listenDivider, listenKeys, listenMouse } from "./input.js";
import { make } from "./view/make.js";
import { createMinimap } from "./view/minimap.js";
import { buildPanels } from "./panel/panels.js";
import { createPopup } from "./view/popup.js";
import { createRowsView } from "./view/rowsview.js";
import { createRuler } from "./view/ruler.js";
import { createSearchBox } from "./panel/searchbox.js";
import { openSource } from "./model/source.js";
import { createTextView } from "./panel/textview.js";

/** Builds everything around a model. @param {any} app */
function buildPage(app) {
  const rows = createRowsView(app);
  app.rows = rows;
  const heart = createHeart(app);
  const minimap = createMinimap(app);
  const ruler = createRuler(app);
  const popup = createPopup(app);
  const banner = createBanner(app);
  app.help = createHelp();
  app.textView = createTextView(app);
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  document.getElementById("heart")?.append(heart.element);
  document.getElementById("minimap")?.append(minimap.element);
  document.getElementById("ruler")?.append(ruler.element);
  document.getElementById("banner")?.append(banner.element);
  document.body.append(app.help.element);
  main.insertBefore(app.textView.element, document.getElementById("divider"));
  buildHead(app);
  buildPanels(app);
  app.searchBox = createSearchBox(app);
  buildSwitches(app);
  listenMouse(app, rows, popup);
  listenKeys(app);
  listenDivider(app);
  app.draw = () => {
    heart.update();
    heart.draw(app.colors);
    minimap.draw(app.colors);
    ruler.draw(app.colors);
    rows.draw(app.colors);
  };
  app.on("by", () => minimap.changed());
  app.colors = themeColors();
  colorScopes(app.model);
  app.on("theme", () => {
    app.colors = themeColors();
    app.tell("view");
    app.redraw();
  });
  new ResizeObserver(() => { rows.layout(); app.redraw(); }).observe(rows.element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.documentElement.dataset.theme = systemTheme();
    app.tell("theme");
  });
  app.model.onchange(() => {
    if (app.follow) app.stayAtEnd();
    if (app.selection && app.selection.j === undefined) app.selection = app.model.resolve(app.selection);
    colorScopes(app.model);
    banner.update();
    lookAtWaits(app);
    app.tell("model");
    app.relayout();
  });
  app.showTab("summary");
  app.restoreState();
  lookAtWaits(app);
  banner.update();
  app.draw();
  performance.mark("scopeview-first-picture");
  document.documentElement.dataset.ready = "true";
  if (app.growing) {
    if (!location.hash) app.setFollow(true);
    keepGrowing(app);
  }
}

/** Has what goroutines did, and who held the locks, in what is in sight. @param {any} app */
function lookAtWaits(app) { app.model.waits.want(app.view.from, app.view.to, app.rows.width()); }

/** While the trace grows, open scopes grow with the time. @param {any} app */
function keepGrowing(app) {
  const step = () => {
    if (!app.growing) return;
    if (app.model.tick()) {
      if (app.follow) app.stayAtEnd();
      app.redraw();
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** Says in place of the page why there is none. @param {unknown} err */
function showFailure(err) {
  const text = err instanceof Error ? err.message : String(err);
  const main = document.querySelector("main");
  main?.replaceChildren(make("p", { class: "failure", role: "alert", text: `The timeline can't be shown. ${text}` }));
  document.documentElement.dataset.ready = "failed";
}

function systemTheme() { return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"; }

/** The entry. */
async function startPage() {
  document.documentElement.dataset.theme = systemTheme();
  try {
    const model = await openSource();
    const app = createApp(model);
    /** @type {any} */ (window).scopeview = app;
    buildPage(app);
  } catch (err) {
    console.warn(err);
    showFailure(err);
  }
}

// Node imports this file to check it, and has no document.
if (typeof document !== "undefined") startPage();
