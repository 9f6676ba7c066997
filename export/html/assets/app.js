// The app: the state of the page and its event listeners. The views use it and do not know
// each other. commands.js has the functions that change the state.

import { actions } from "./actions.js";
import { addressKeeper } from "./address.js";
import { shortText } from "./data/names.js";
import { commands } from "./commands.js";
import { newCalls } from "./model/calls.js";
import { themeColors } from "./view/color.js";
import { nothingDrawn } from "./view/draw.js";
import { newChoices } from "./view/layout.js";
import { momentText } from "./view/ruler.js";
import { span } from "./view/numbers.js";
import { viewOfAll } from "./view/viewport.js";

/**
 * @typedef {import("./data/batch.js").Batch} Batch
 *
 * A time range, in ns from the trace's start.
 * @typedef {{from: number, to: number}} Stretch
 *
 * The selection: item i, or with j the items [i, j) that are drawn as one.
 * @typedef {{batch: Batch, i: number, j?: number}} Selection
 *
 * The selected stretch of a strip of states, of goroutine key, whose row has that title.
 * @typedef {{key: number, title: string, set: import("./data/states.js").StateSet, run: import("./data/states.js").StateRun}} StateSelection
 *
 * @typedef {"goroutine"|"thread"} By grouping of the rows
 *
 * The state of the page.
 * @typedef {Object} State
 * @property {Stretch} view the visible range; an animation moves it
 * @property {Stretch} aim the view at the end of the animation; the next view is computed from it
 * @property {Selection|null} selection
 * @property {StateSelection|null} stateSelection at most one of selection and stateSelection is set
 * @property {import("./model/relate.js").Link[]} links of the selection
 * @property {import("./model/chain.js").Origin|null} chain the begin of the chain of waits that is followed; null: no selection
 * @property {number} step the selected step of that chain
 * @property {Stretch|null} range
 * @property {Set<string>|null} area rows of goroutines to which the range applies; null: all
 * @property {import("./state.js").Mark[]} marks sorted by begin
 * @property {import("./model/search.js").Hits|null} hits of the search
 * @property {string} request trace id of the selected request; "": none
 * @property {import("./model/requests.js").LitRequest|null} lit the request, highlighted in place of the hits
 * @property {boolean} toRequest zoom to the request once it is loaded
 * @property {string} hoverRequest trace id of the scope under the pointer
 * @property {import("./data/batch.js").Ref|{key: number, set: import("./data/states.js").StateSet, i: number}|null} hoverWait the wait under the pointer, or a goroutine's state that is one
 * @property {boolean} flows draw arrows of all visible requests
 * @property {string} runsOf name shown in the Executions tab; "": none
 * @property {import("./model/brush.js").Brush|null} brush the brushed executions, highlighted in place of the hits
 * @property {number|null} pointer its position over the time axis, as a share of the width; its time changes with the view
 * @property {number} hoverName the name id under the pointer; -1: none
 * @property {By} by
 * @property {boolean} wall show times as wall-clock times
 * @property {boolean} whole sums of a range count scopes whole, not only their parts inside it
 * @property {boolean} follow the view stays at the live end
 * @property {string} graphs above the rows: usual, all, or line
 * @property {string} chosenRow id of the chosen row; "": none
 * @property {import("./view/layout.js").RowChoices} choices
 * @property {import("./model/rows.js").Arranged[]} arranged
 * @property {import("./state.js").Tab} tab
 * @property {import("./model/calls.js").CallChoices} calls choices of the function tabs
 * @property {string} finding the chosen finding of the doctor: its verdict, a colon, its object
 * @property {boolean} path draw the critical path
 * @property {import("./model/model.js").Model|null} other the trace that this one is compared with
 * @property {number} shift the other trace's time minus this one's at the same place on the screen, ns
 * @property {string} compared the name selected in the Compare tab
 * @property {boolean} showFindingPlace show the place of the finding once it is known
 * @property {Record<string, string>} colors of the theme
 * @property {import("./view/draw.js").Drawn} drawn
 * @property {number[]} frames durations of the last frames drawn, in ms, the newest last
 *
 * The parts of the page; set once, by main.js.
 * @typedef {Object} Parts
 * @property {ReturnType<typeof import("./view/rowsview.js").createRowsView>} rows
 * @property {ReturnType<typeof import("./panel/help.js").createHelp>} help
 * @property {ReturnType<typeof import("./panel/palette.js").createPalette>} palette
 * @property {ReturnType<typeof import("./panel/contextmenu.js").createContextMenu>} menu
 * @property {ReturnType<typeof import("./panel/textview.js").createTextView>} textView
 * @property {ReturnType<typeof import("./panel/searchbox.js").createSearchBox>} searchBox
 * @property {(gently: boolean) => import("./view/draw.js").Drawn} draw gently: what does not fit into the frame in the next turns
 * @property {import("./pair.js").Pair=} pair the other trace's rows
 * @property {((from: number, to: number, how?: {animate?: boolean}) => void)=} setLeaderView moves the other app's view, which this one follows
 *
 * @typedef {"view"|"selection"|"range"|"model"|"clock"|"by"|"filter"|"follow"|"tab"|"calls"|"path"|"marks"|"graphs"|"other"|"request"} Event the kind of change
 *
 * Constants and functions.
 * @typedef {Object} Fixed
 * @property {import("./model/model.js").Model} model
 * @property {number} startMs start of the trace in ms since 1970; 0: unknown
 * @property {number} startRest remainder of the start below a ms, in ns
 * @property {boolean} growing the writer runs and updates arrive
 * @property {number|null} cursor the time under the pointer
 * @property {(ns: number) => string} span a duration in words
 * @property {(ns: number) => string} time a moment in words
 * @property {(event: Event, fn: () => void) => void} on
 * @property {(event: Event) => void} notify
 * @property {(action: string, fast: boolean) => boolean} act runs the action of a key; see actions.js
 * @property {() => void} keepState keeps the address up to date
 * @property {ReturnType<typeof addressKeeper>} steps history of the state
 * @property {(text: string, seen?: boolean) => void} announce a message for screen readers; seen: also on the screen
 *
 * Page is the app with a writable State, for the commands; App is the read-only form for all
 * other modules.
 * @typedef {Readonly<Fixed> & Parts & State} Page
 * @typedef {Readonly<Fixed> & Parts & {readonly [K in keyof State]: Fast<State[K]>} & ReturnType<typeof commands>} App
 */

/**
 * A deeply read-only type.
 * @template T
 * @typedef {T extends Set<infer V> ? ReadonlySet<V> : T extends Map<infer K, infer V> ? ReadonlyMap<K, V>
 *   : T extends (infer V)[] ? readonly V[] : T extends import("./view/layout.js").RowChoices|Stretch ? {readonly [K in keyof T]: Fast<T[K]>} : T} Fast
 */

/** Creates the app of a model. @param {import("./model/model.js").Model} model @returns {App} */
export function createApp(model) {
  const listeners = /** @type {Map<Event, (() => void)[]>} */ (new Map());
  const start = /^(.*?)(?:\.(\d+))?Z$/.exec(model.meta.start ?? "");
  const view = viewOfAll(model);
  let noted = /** @type {any} */ (0);
  /** @type {State & Fixed} */
  const page = {
    view, aim: view,
    selection: null, stateSelection: null, links: [], chain: null, step: 0, range: null, area: null, marks: [],
    hits: null, request: "", lit: null, toRequest: false, hoverRequest: "", hoverWait: null, flows: false, runsOf: "", brush: null, pointer: null, hoverName: -1,
    by: "goroutine", wall: false, whole: false, follow: false, graphs: "usual",
    chosenRow: "", choices: newChoices(), arranged: [],
    tab: "summary", calls: newCalls(),
    finding: "", path: false, showFindingPlace: false,
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
    notify(event) { for (const fn of listeners.get(event) ?? []) fn(); },
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
