// The page: creates the app, the views and the panels, and connects them.

import { createApp } from "./app.js";
import { createBanner } from "./panel/banner.js";
import { colorScopes } from "./view/color.js";
import { buildHead, buildSwitches } from "./panel/head.js";
import { createContextMenu } from "./panel/contextmenu.js";
import { createFirstLine } from "./panel/firstline.js";
import { keepChoices, keptView } from "./panel/kept.js";
import { createGutter } from "./view/gutter.js";
import { createHeart } from "./view/heart.js";
import { createHelp } from "./panel/help.js";
import { listenDivider, listenKeys, listenMouse } from "./input.js";
import { make } from "./view/make.js";
import { nothingDrawn } from "./view/draw.js";
import { createMinimap } from "./view/minimap.js";
import { buildPanels } from "./panel/panels.js";
import { createPalette } from "./panel/palette.js";
import { listenOther } from "./pair.js";
import { createPopup } from "./view/popup.js";
import { decodeState } from "./state.js";
import { createRowsView } from "./view/rowsview.js";
import { buildRowFilter } from "./panel/rowfilter.js";
import { createRuler } from "./view/ruler.js";
import { createSearchBox } from "./panel/searchbox.js";
import { breathe, nextTurn } from "./data/slices.js";
import { openSources } from "./model/source.js";
import { createTextView } from "./panel/textview.js";
import { usualTheme } from "./view/theme.js";

/** @import { App } from "./app.js" */

/**
 * Builds the page around a model, in several turns.
 * @param {App} app @param {import("./model/model.js").Model|null} other the trace to compare with
 */
async function buildPage(app, other) {
  Object.assign(app, { draw: nothingDrawn });
  const rows = createRowsView(app, byId("rows"));
  const textView = createTextView(app);
  const help = createHelp();
  const palette = createPalette(app);
  Object.assign(app, { rows, textView, help, palette });
  const heart = createHeart(app);
  const minimap = createMinimap(app);
  const ruler = createRuler(app);
  const popup = createPopup(app);
  const banner = createBanner(app);
  const first = createFirstLine(app);
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  document.getElementById("heart")?.append(heart.element);
  document.getElementById("minimap")?.append(minimap.element);
  document.getElementById("ruler")?.append(ruler.element);
  document.getElementById("first")?.append(first.element);
  document.getElementById("banner")?.append(banner.element);
  document.body.append(help.element, palette.element);
  main.insertBefore(textView.element, document.getElementById("divider"));
  buildHead(app);
  await nextTurn();
  buildPanels(app);
  await nextTurn();
  const searchBox = createSearchBox(app);
  buildRowFilter(app);
  buildSwitches(app);
  const mouse = listenMouse(app, rows, popup, ["ruler", "heart"]);
  listenKeys(app);
  const menu = createContextMenu(app);
  document.body.append(menu.element);
  Object.assign(app, { menu });
  listenDivider(app, byId("divider"), byId("panel"));
  listenOther(app);
  document.getElementById("ruler")?.append(createGutter(app));
  const beside = [() => { heart.update(); heart.draw(app.colors); }, () => minimap.draw(app.colors)];
  let asked = false;
  const drawLater = async (/** @type {number} */ first) => {
    asked = true;
    await nextTurn();
    asked = false; // what changes from here on is drawn anew
    for (const part of beside.slice(first)) {
      await breathe();
      part();
    }
  };
  const draw = (/** @type {boolean} */ gently) => {
    const end = performance.now() + 8;
    mouse.lookAgain();
    ruler.draw(app.colors);
    app.pair?.draw();
    const drawn = rows.draw(app.colors);
    for (const [k, part] of beside.entries()) {
      if (!gently || performance.now() < end) part();
      else if (!asked) return drawLater(k), drawn;
    }
    return drawn;
  };
  Object.assign(app, { searchBox });
  await nextTurn();
  app.on("by", () => minimap.changed());
  new ResizeObserver(() => { rows.layout(); app.redraw(); }).observe(rows.element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.setTheme(usualTheme()));
  let base = app.model.base;
  app.model.onchange(() => {
    if (app.model.base !== base) { // details must be requested again
      base = app.model.base;
      app.model.want(app.aim.from, app.aim.to, rows.width());
    }
    if (app.follow) app.stayAtEnd();
    app.resolveSelection();
    app.requestCame();
    colorScopes(app.model);
    first.update();
    banner.update();
    lookAtWaits(app);
    app.notify("model");
    app.relayout();
    if (!rows.fits()) rows.fit(); // rows have arrived
    app.seekAgain();
  });
  app.model.oncomputed((layout) => (layout ? app.relayout() : app.redraw()));
  const watched = new WeakSet();
  app.on("other", () => { // the other trace's server may disappear, too
    if (app.other && !watched.has(app.other)) {
      watched.add(app.other);
      app.other.onchange(() => banner.update());
    }
    banner.update();
  });
  addEventListener("resize", () => {
    rows.fit();
    app.redraw();
  });
  const panel = byId("panel");
  const kept = keptView(app.model, panel);
  app.restore(location.hash.length > 1 ? decodeState(location.hash.slice(1)) : kept); // a link shows what its sender saw
  await nextTurn();
  colorScopes(app.model);
  keepChoices(app, panel);
  if (other) app.setOther(other);
  lookAtWaits(app);
  // For a growing or very long trace the doctor runs on demand only: it costs the machine.
  if (!app.growing && !app.model.reduced) app.model.askDoctor();
  await nextTurn();
  first.update();
  banner.update();
  rows.fit();
  await nextTurn();
  Object.assign(app, { draw });
  app.drawFrame();
  performance.mark("scopeview-first-picture");
  document.documentElement.dataset.ready = "true";
  if (app.growing) {
    if (!location.hash) app.setFollow(true);
    keepGrowing(app);
  }
  app.steps.begin();
}

/** @param {string} id */
function byId(id) { return /** @type {HTMLElement} */ (document.getElementById(id)); }

/** Requests the states and locks of the visible range. @param {App} app */
function lookAtWaits(app) { app.model.waits.want(app.aim.from, app.aim.to, app.rows.width()); }

/** Extends open scopes with the time while the trace grows. @param {App} app */
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

/** Replaces the page by the reason why it could not be built. @param {unknown} err */
function showFailure(err) {
  const text = err instanceof Error ? err.message : String(err);
  const main = document.querySelector("main");
  main?.replaceChildren(make("p", { class: "failure", role: "alert", text: `The timeline can't be shown. ${text}` }));
  document.documentElement.dataset.ready = "failed";
}

/** Starts the page. */
async function startPage() {
  document.documentElement.dataset.theme = usualTheme();
  try {
    const [model, other] = await openSources();
    const app = createApp(model);
    /** @type {any} */ (window).scopeview = app;
    await nextTurn();
    await buildPage(app, other);
  } catch (err) {
    console.warn(err);
    showFailure(err);
  }
}

// Node imports this file to check it, without a document.
if (typeof document !== "undefined") startPage();
