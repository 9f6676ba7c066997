// The app: what is shown and chosen, and who hears of it. The views get it, and
// know nothing of each other.

import { actions } from "./actions.js";
import { address } from "./address.js";
import { nothingDrawn } from "./view/draw.js";
import { extentOf } from "./model/refs.js";
import { foldEnded, newChoices, rowId } from "./view/layout.js";
import { links } from "./model/links.js";
import { arrange } from "./model/rows.js";
import { momentText } from "./view/ruler.js";
import { stateText } from "./data/states.js";
import { heldAt } from "./view/strip.js";
import { span } from "./view/time.js";
import { stateLinks } from "./model/waitlinks.js";
import { viewOfAll, viewport } from "./view/viewport.js";

/**
 * Makes the app over a model.
 * @param {any} model
 */
export function createApp(model) {
  const listeners = /** @type {Map<string, ((v: any) => void)[]>} */ (new Map());
  let drawAsked = false;
  const start = /^(.*?)(?:\.(\d+))?Z$/.exec(model.meta.start ?? "");

  const app = /** @type {any} */ ({
    model,
    view: viewOfAll(model),
    /** @type {any} */ selection: null,
    /** The stretch of a strip of states that is looked at. @type {{key: number, title: string, run: import("./data/states.js").StateRun, set: any}|null} */ state: null,
    /** @type {{from: number, to: number}|null} */ range: null,
    /** @type {number[]} */ marks: [],
    /** @type {any[]} */ links: [],
    /** @type {any} */ hits: null,
    /** @type {number|null} */ cursor: null,
    hoverName: -1,
    by: "goroutine",
    wall: false,
    follow: false,
    chosenRow: "",
    choices: newChoices(),
    /** @type {any[]} */ arranged: [],
    /** @type {Record<string, string>} */ colors: {},
    drawn: nothingDrawn(),
    /** How long the last drawings took, in ms; the newest last. @type {number[]} */ frames: [],
    startMs: start ? Date.parse(`${start[1]}Z`) : 0,
    startRest: start?.[2] ? Number(start[2].padEnd(9, "0").slice(0, 9)) : 0,
    get growing() { return model.meta.writer === "running" && model.home === "live"; },
    span,
    /** @param {number} ns */
    time(ns) { return momentText(app, ns, 1); },

    /** @param {string} event @param {(v: any) => void} fn */
    on(event, fn) { listeners.set(event, [...(listeners.get(event) ?? []), fn]); },
    /** @param {string} event @param {any=} value */
    tell(event, value) { for (const fn of listeners.get(event) ?? []) fn(value); },
    /** For those who don't see the picture. @param {string} text */
    announce(text) { /** @type {HTMLElement} */ (document.getElementById("live")).textContent = text; },

    redraw() {
      if (drawAsked) return;
      drawAsked = true;
      requestAnimationFrame(() => {
        drawAsked = false;
        const begin = performance.now();
        app.draw();
        app.frames.push(performance.now() - begin);
        if (app.frames.length > 1000) app.frames.splice(0, 500);
      });
    },
    draw() {},
    relayout() {
      app.arranged = arrange(model.rows(app.by), model.meta.names ?? []);
      if (app.by === "goroutine" && app.choices.states !== "off") app.arranged.push(...model.waits.others(model.goroutines.rows));
      if (app.follow) app.arranged = foldEnded(app.arranged, app.view.from, (app.view.from + app.view.to) / 2);
      app.rows?.layout();
      app.keepState();
      app.redraw();
    },
    /** @type {any} */ rows: null,

    /** @param {any} ref @param {{reveal?: boolean}=} how */
    select(ref, how) {
      if (ref && ref.j === undefined) ref = model.resolve(ref);
      app.selection = ref;
      app.state = null;
      app.links = ref && ref.j === undefined ? links(model, ref) : [];
      if (ref) {
        const place = model.place(ref, app.by);
        app.chosenRow = rowId(place.row);
        if (how?.reveal) app.reveal(ref);
        const { start: s, end } = extentOf(ref);
        app.announce(`${model.name(ref.seg.name[ref.i])}, ${span(end - s)}, at ${app.time(s)}`);
        if (app.tab !== "details") app.showTab("details");
      }
      app.tell("selection");
      app.keepState();
      app.redraw();
    },
    /** Looks at what a goroutine did. @param {number} key @param {string} title @param {any} set @param {import("./data/states.js").StateRun} run */
    selectState(key, title, set, run) {
      app.selection = null;
      app.state = { key, title, set, run: { ...run } };
      app.links = stateLinks(key, set, run);
      app.announce(`${title}: ${stateText(set.nameOf(run.top))}, ${span(run.t1 - run.t0)}, at ${app.time(run.t0)}`);
      if (app.tab !== "details") app.showTab("details");
      app.tell("selection");
      app.redraw();
    },
    /** Selects what held a lock at a moment. @param {any} lock @param {number} t */
    selectHold(lock, t) {
      const k = heldAt(lock, t, (3 * (app.view.to - app.view.from)) / app.rows.width());
      const ref = k >= 0 && lock.many[k] === 1 ? model.find(lock.goids[k], -2, lock.starts[k]) : null;
      if (ref) app.select(ref);
      else app.announce(k < 0 ? "nobody that is known held it then" : "zoom in to tell the holds from each other");
    },
    /** @param {{from: number, to: number}|null} range */
    setRange(range) {
      app.range = range;
      if (range && (app.tab === "details" || app.tab === "about")) app.showTab("summary");
      app.tell("range");
      app.keepState();
      app.redraw();
    },
    /** @param {string} id */
    chooseRow(id) {
      app.chosenRow = id;
      app.redraw();
    },
    /** @param {number|null} t */
    hover(t) {
      if (t === app.cursor) return;
      app.cursor = t;
      app.tell("hover");
      app.redraw();
    },
    /** @param {number} name */
    hoverOn(name) {
      if (name === app.hoverName) return;
      app.hoverName = name;
      app.redraw();
    },
    /** @param {string} by */
    setBy(by) {
      app.by = by;
      app.chosenRow = "";
      app.tell("by");
      app.relayout();
    },
    /** @param {string} text */
    search(text) { app.searchBox?.set(text); },
    /** @type {any} */ searchBox: null,
    /** @type {any} */ textView: null,
    tab: "summary",
    /** The doctor's finding that is chosen: its verdict, a colon, its object. */
    finding: "",
    /** The place of that finding is still to be looked at. */
    jump: false,
    /** @param {string} _name */
    showTab(_name) {},
    /** @param {string} action @param {boolean} fast */
    act(action, fast) { return actions(app, action, fast); },
    /** @type {any} */ help: null,
  });
  return Object.assign(app, viewport(app), address(app));
}
