// The app: what is shown and chosen, and who hears of it. The views get it, and
// know nothing of each other. What changes it is in commands.js.

import { actions } from "./actions.js";
import { addressKeeper } from "./address.js";
import { shortText } from "./data/names.js";
import { commands } from "./commands.js";
import { newCalls } from "./model/calls.js";
import { themeColors } from "./view/color.js";
import { nothingDrawn } from "./view/draw.js";
import { newChoices } from "./view/layout.js";
import { momentText } from "./view/ruler.js";
import { span } from "./view/time.js";
import { viewOfAll } from "./view/viewport.js";

/**
 * @typedef {import("./data/batch.js").Batch} Batch
 *
 * A stretch of time, in ns from the trace's start.
 * @typedef {{from: number, to: number}} Stretch
 *
 * What is selected: item i, or with j the items [i, j) that are drawn as one.
 * @typedef {{batch: Batch, i: number, j?: number}} Selection
 *
 * The stretch of a strip of states that is looked at: of goroutine key, whose row has
 * that title.
 * @typedef {{key: number, title: string, set: import("./data/states.js").StateSet, run: import("./data/states.js").StateRun}} StateSelection
 *
 * @typedef {"goroutine"|"thread"} By what rows are of
 *
 * What is shown and chosen.
 * @typedef {Object} State
 * @property {Stretch} view what is on the screen; an animation moves it
 * @property {Stretch} aim where the view is going, or is: the next view is computed from it
 * @property {Selection|null} selection
 * @property {StateSelection|null} stateSelection there is one of the two at most
 * @property {import("./model/relate.js").Link[]} links of what is selected
 * @property {import("./model/chain.js").Origin|null} chain what the chain of waits begins with that is followed; null: nothing is selected
 * @property {number} step of that chain, which is selected
 * @property {Stretch|null} range
 * @property {Set<string>|null} area the goroutines' rows that the range is of; null: all
 * @property {import("./state.js").Mark[]} marks by their begin
 * @property {import("./model/search.js").Hits|null} hits of the search
 * @property {string} request the trace id of the request that is looked at; "": none
 * @property {import("./model/requests.js").LitRequest|null} lit it is lit in place of the hits
 * @property {boolean} toRequest it is still to be zoomed to, once it is known
 * @property {string} hoverRequest that of the scope under the pointer
 * @property {boolean} flows all requests in sight have arrows
 * @property {string} runsOf of which name the Executions tab is; "": none
 * @property {import("./model/brush.js").Brush|null} brush those of them that are brushed; they are lit in place of the hits
 * @property {number|null} pointer where it is over the time axis, as a share of the width; its time goes with the view
 * @property {number} hoverName the name id under the pointer; -1: none
 * @property {By} by
 * @property {boolean} wall times are of the clock on the wall
 * @property {boolean} whole sums of a range are of whole scopes, not of what lies in it
 * @property {boolean} follow the view stays at the live end
 * @property {string} graphs above the rows: usual, all, or line
 * @property {string} chosenRow its id; "": none
 * @property {import("./view/layout.js").RowChoices} choices
 * @property {import("./model/rows.js").Arranged[]} arranged
 * @property {import("./state.js").Tab} tab
 * @property {import("./model/calls.js").CallChoices} calls of the tabs of functions
 * @property {string} finding the doctor's that is chosen: its verdict, a colon, its object
 * @property {boolean} path the critical path is drawn
 * @property {import("./model/model.js").Model|null} other the trace that this one is compared with
 * @property {number} shift its time less this one's where the rows of the two are beside each other, ns
 * @property {string} compared the name that is looked at in the tab Compare
 * @property {boolean} jump the place of that finding is still to be looked at
 * @property {Record<string, string>} colors of the theme
 * @property {import("./view/draw.js").Drawn} drawn
 * @property {number[]} frames how long the last drawings took, in ms; the newest last
 *
 * What the page consists of; main.js sets it, once.
 * @typedef {Object} Parts
 * @property {ReturnType<typeof import("./view/rowsview.js").createRowsView>} rows
 * @property {ReturnType<typeof import("./panel/help.js").createHelp>} help
 * @property {ReturnType<typeof import("./panel/palette.js").createPalette>} palette
 * @property {ReturnType<typeof import("./panel/textview.js").createTextView>} textView
 * @property {ReturnType<typeof import("./panel/searchbox.js").createSearchBox>} searchBox
 * @property {() => import("./view/draw.js").Drawn} draw
 * @property {import("./pair.js").Pair=} pair the other trace's rows
 * @property {((from: number, to: number, how?: {animate?: boolean}) => void)=} lead where the view goes with another app's: moves that
 *
 * @typedef {"view"|"selection"|"range"|"model"|"clock"|"by"|"filter"|"follow"|"tab"|"calls"|"path"|"marks"|"graphs"|"other"|"request"} Event what changed
 *
 * What does not change.
 * @typedef {Object} Fixed
 * @property {import("./model/model.js").Model} model
 * @property {number} startMs the trace's start in ms since 1970; 0: not known
 * @property {number} startRest what startMs lacks, in ns
 * @property {boolean} growing the writer runs, and its news come
 * @property {number|null} cursor the time under the pointer
 * @property {(ns: number) => string} span a duration in words
 * @property {(ns: number) => string} time a moment in words
 * @property {(event: Event, fn: () => void) => void} on
 * @property {(event: Event) => void} tell
 * @property {(action: string, fast: boolean) => boolean} act does what a key means; see actions.js
 * @property {() => void} keepState keeps the address up to date
 * @property {ReturnType<typeof addressKeeper>} steps that led to what is shown
 * @property {(text: string, seen?: boolean) => void} announce for those who don't see the picture; seen: for the others too
 *
 * The app as the commands see it, and as the others do, who may not change what is
 * in its State.
 * @typedef {Readonly<Fixed> & Parts & State} Page
 * @typedef {Readonly<Fixed> & Parts & {readonly [K in keyof State]: Fast<State[K]>} & ReturnType<typeof commands>} App
 */

/**
 * A type that cannot be changed, nor what it holds.
 * @template T
 * @typedef {T extends Set<infer V> ? ReadonlySet<V> : T extends Map<infer K, infer V> ? ReadonlyMap<K, V>
 *   : T extends (infer V)[] ? readonly V[] : T extends import("./view/layout.js").RowChoices|Stretch ? {readonly [K in keyof T]: Fast<T[K]>} : T} Fast
 */

/**
 * Makes the app over a model.
 * @param {import("./model/model.js").Model} model
 * @returns {App}
 */
export function createApp(model) {
  const listeners = /** @type {Map<Event, (() => void)[]>} */ (new Map());
  const start = /^(.*?)(?:\.(\d+))?Z$/.exec(model.meta.start ?? "");
  const view = viewOfAll(model);
  let noted = /** @type {any} */ (0);
  /** @type {State & Fixed} */
  const page = {
    view, aim: view,
    selection: null, stateSelection: null, links: [], chain: null, step: 0, range: null, area: null, marks: [],
    hits: null, request: "", lit: null, toRequest: false, hoverRequest: "", flows: false, runsOf: "", brush: null, pointer: null, hoverName: -1,
    by: "goroutine", wall: false, whole: false, follow: false, graphs: "usual",
    chosenRow: "", choices: newChoices(), arranged: [],
    tab: "summary", calls: newCalls(),
    finding: "", path: false, jump: false,
    other: null, shift: 0, compared: "",
    colors: themeColors(), drawn: nothingDrawn(), frames: [],
    model,
    startMs: start ? Date.parse(`${start[1]}Z`) : 0,
    startRest: start?.[2] ? Number(start[2].padEnd(9, "0").slice(0, 9)) : 0,
    get growing() { return model.meta.writer === "running" && model.home === "live"; },
    get cursor() { return page.pointer === null ? null : page.view.from + page.pointer * (page.view.to - page.view.from); },
    span,
    time(ns) { return momentText(app, ns, 1); },
    on(event, fn) { listeners.set(event, [...(listeners.get(event) ?? []), fn]); },
    tell(event) { for (const fn of listeners.get(event) ?? []) fn(); },
    act(action, fast) { return actions(app, action, fast); },
    get steps() { return steps; },
    keepState() { steps.keep(); },
    announce(text, seen = false) {
      const live = /** @type {HTMLElement} */ (document.getElementById("live"));
      live.textContent = shortText(text);
      live.className = seen ? "note" : "unseen";
      clearTimeout(noted);
      noted = setTimeout(() => { live.className = "unseen"; }, 2500);
    },
  };
  const steps = addressKeeper(/** @type {Page} */ (page), (s, follow) => app.restore(s, follow));
  const app = /** @type {App} */ (Object.assign(/** @type {Page} */ (page), commands(/** @type {Page} */ (page))));
  return app;
}
