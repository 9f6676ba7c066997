// The commands: the functions that change the state of the app. No other module assigns it:
// the type of the app forbids that. rowcommands.js has the commands of single rows,
// markcommands.js those of marks, panelcommands.js those of the tabs.

import { stateText } from "./data/states.js";
import { markCommands } from "./markcommands.js";
import { chainOf } from "./model/chain.js";
import { holdAt } from "./model/explain.js";
import { links } from "./model/links.js";
import { Brush } from "./model/brush.js";
import { isScope } from "./data/kinds.js";
import { extentOf } from "./model/refs.js";
import { arrangedRows } from "./model/rows.js";
import { search } from "./model/search.js";
import { longestInside } from "./model/spent.js";
import { stateLinks } from "./model/waitlinks.js";
import { otherThreads } from "./model/waits.js";
import { requestCommands } from "./requestcommands.js";
import { panelCommands } from "./panelcommands.js";
import { rowCommands } from "./rowcommands.js";
import { inSlices } from "./data/slices.js";
import { themeColors } from "./view/color.js";
import { foldEnded, rowId } from "./view/layout.js";
import { heldAt } from "./view/strip.js";
import { span } from "./view/numbers.js";
import { goroutineTitle } from "./model/titles.js";
import { rootText, stepText } from "./view/waitfacts.js";
import { limitedView, limitedWidth, viewAround, viewAtEnd, viewOfAll, viewThatShows } from "./view/viewport.js";

/** @import { By, Page, Selection, StateSelection, Stretch } from "./app.js" */

/** The duration of a view's animation, in ms. */
const animated = 160;

/** The sizes of the strips of states, in the order in which a key cycles through them. */
const stateSizes = ["thin", "thick", "off"];

/** The sets of graphs above the rows, in the order in which a key cycles through them. */
const graphSets = ["usual", "all", "line"];

/** The choices of row display that also apply to the other trace. */
const sharedChoices = /** @type {const} */ (["states", "locks", "procs", "filter", "sort", "oneLine", "collapsed", "colorBy"]);

/** The number of scopes above which arranging them by thread takes noticeable time. */
const manyScopes = 20_000;

/** @param {Page} app */
export function commands(app) {
  const { model, choices } = app;
  let animation = 0;
  let drawAsked = false;
  /** The row of a link, until it is known which rows are alike. @type {{key: number, depth: number}|null} */
  let sought = null;

  /** Moves the view to its aim, which may change meanwhile. */
  function animate() {
    const { from, to } = app.view;
    const began = performance.now();
    const step = () => {
      const k = Math.min(1, (performance.now() - began) / animated);
      const e = 1 - (1 - k) ** 3;
      const { aim } = app;
      app.view = k === 1 ? aim : { from: from + (aim.from - from) * e, to: to + (aim.to - to) * e };
      animation = k < 1 ? requestAnimationFrame(step) : 0;
      viewMoved();
    };
    step();
  }

  function viewMoved() {
    app.notify("view");
    stateChanged();
  }

  /** Saves the state in the address and redraws after a change. */
  function stateChanged() {
    app.keepState();
    redraw();
  }

  /** Draws before the next frame. */
  function redraw() {
    if (drawAsked) return;
    drawAsked = true;
    requestAnimationFrame(() => {
      drawAsked = false;
      const begin = performance.now();
      drawFrame();
      app.frames.push(performance.now() - begin);
      if (app.frames.length > 1000) app.frames.splice(0, 500);
    });
  }

  /** Draws the rows, and the graphs beside them at once if there is time. */
  function drawFrame() { app.drawn = app.draw(true); }

  /** Draws everything. */
  function drawNow() { app.drawn = app.draw(false); }

  /** Lays the rows out again. */
  function relayout() {
    const { from, to } = app.aim;
    app.arranged = [...arrangedRows(model, app.by, choices.sort)];
    if (app.by === "goroutine" && choices.states !== "off") app.arranged.push(...model.waits.others(model.goroutines.rows));
    if (app.by === "thread") app.arranged.push(...otherThreads(model.waits, model.rowSet("thread").rows));
    if (app.follow) app.arranged = foldEnded(app.arranged, from, (from + to) / 2);
    app.rows?.layout();
    if (app.calls.rows === "shown") app.notify("calls");
    stateChanged();
  }

  /** Handles a change of the rows or of their appearance. */
  function rowsChanged() {
    app.notify("by");
    relayout();
  }

  /** @param {number} from @param {number} to @param {{animate?: boolean}=} how */
  function setView(from, to, how) {
    if (app.setLeaderView) return app.setLeaderView(from, to, how);
    app.aim = limitedView(model, from, to);
    if (app.follow && app.aim.to < model.end) setFollow(false);
    cancelAnimationFrame(animation);
    animation = 0;
    model.want(app.aim.from, app.aim.to, app.rows?.width() ?? 1000);
    if (how?.animate && !matchMedia("(prefers-reduced-motion: reduce)").matches) return animate();
    app.view = app.aim;
    viewMoved();
  }

  /** @param {Stretch} view */
  function moveTo({ from, to }) { setView(from, to, { animate: true }); }

  /** @param {boolean} on */
  function setFollow(on) {
    if (on === app.follow) return;
    app.follow = on;
    app.notify("follow");
    relayout();
    if (!on) return;
    const { from, to } = viewAtEnd(model, app.aim);
    setView(from, to);
  }

  /** @param {import("./state.js").Tab} name */
  function showTab(name) {
    app.tab = name;
    followName();
    if (name === "request") requests.followRequest();
    app.notify("tab");
    app.keepState();
  }

  /** Sets the Executions tab to the name of the selection, unless executions of another name are brushed. */
  function followName() {
    const ref = app.selection;
    if (app.tab === "runs" && ref && ref.j === undefined && !app.brush && isScope(ref.batch.kind[ref.i])) app.runsOf = model.name(ref.batch.name[ref.i]);
  }

  /**
   * @param {Selection|null} ref @param {StateSelection|null} stretch @param {number|undefined} step of the followed chain; undefined: another chain
   */
  function selected(ref, stretch, step) {
    app.selection = ref;
    app.stateSelection = stretch;
    if (step === undefined) app.chain = ref || stretch ? { selection: ref, stretch } : null;
    app.step = step ?? 0;
    if ((ref || stretch) && app.tab !== "details" && app.tab !== "query" && (stretch || app.tab !== "runs") && !(app.tab === "request" && requests.followRequest())) showTab("details");
    followName();
    app.notify("selection");
    stateChanged();
  }

  /** @param {Selection} ref */
  function reveal(ref) {
    const place = model.place(ref, app.by);
    app.rows.reveal(place.key, place.depth);
    const { start, end } = extentOf(ref);
    const view = viewThatShows(app.aim, start, end);
    if (view) moveTo(view);
  }

  /** @param {Selection|null} ref @param {{reveal?: boolean, step?: number}=} how step: of the followed chain */
  function select(ref, how) {
    if (ref && ref.j === undefined) ref = model.resolve(ref);
    app.links = ref && ref.j === undefined ? links(model, ref) : [];
    if (ref) {
      app.chosenRow = rowId(model.place(ref, app.by).row);
      if (how?.reveal) reveal(ref);
      const { start, end } = extentOf(ref);
      app.announce(`${model.name(ref.batch.name[ref.i])}, ${span(end - start)}, at ${app.time(start)}`);
    }
    selected(ref, null, how?.step);
  }

  /**
   * Selects a stretch of a goroutine's states.
   * @param {StateSelection} stretch @param {number=} step of the followed chain
   */
  function selectState({ key, title, set, run }, step) {
    app.links = stateLinks(key, set, run);
    app.announce(`${title}: ${stateText(set.nameOf(run.top))}, ${span(run.t1 - run.t0)}, at ${app.time(run.t0)}`);
    selected(null, { key, title, set, run: { ...run } }, step);
  }

  /**
   * Selects an interval of a goroutine's states and scrolls to it.
   * @param {number} key
   * @param {{set: import("./data/states.js").StateSet, i: number}} interval
   * @param {number=} step
   */
  function goToInterval(key, { set, i }, step) {
    const [t0, t1] = [set.start[i], set.start[i] + set.dur[i]];
    const view = viewThatShows(app.aim, t0, t1);
    if (view) moveTo(view);
    app.rows.reveal(key, 0);
    selectState({ key, title: goroutineTitle(model, key), set, run: { i, j: i + 1, t0, t1, n: 1, top: set.state[i], time: t1 - t0, lock: 0 } }, step);
  }

  /** Goes to step k of the followed chain. @param {number} k */
  function toStep(k) {
    const steps = chainOf(model, app.chain);
    const { key, wait, longest, activity } = steps[k];
    const ref = wait?.ref ?? (wait || !longest ? null : holdAt(model, key, longest.start));
    const interval = wait?.interval ?? activity?.longest.interval;
    if (ref) select(ref, { reveal: true, step: k });
    else if (interval) goToInterval(key, interval, k);
    else if (longest) {
      app.rows.reveal(key, 0);
      moveTo(viewAround(longest.from, longest.to));
    }
    app.announce(k < steps.length - 1 ? `step ${k} of ${steps.length - 1}: ${stepText(model, steps, k)}` : rootText(model, steps));
  }

  /**
   * @param {Stretch|null} range @param {ReadonlySet<string>|null} area rows of goroutines to which it applies; null: all
   */
  function setRange(range, area = null) {
    app.range = range;
    app.area = range && area ? new Set(area) : null;
    if (range && (app.tab === "details" || app.tab === "about")) showTab("summary");
    app.notify("range");
    stateChanged();
  }

  const requests = requestCommands(app, { moveTo, relayout, stateChanged });

  return {
    ...requests, ...panelCommands(app, { select, selectState, showTab, redraw, stateChanged, relayout, moveTo }), ...rowCommands(app, relayout), ...markCommands(app, stateChanged, moveTo), redraw, drawFrame, drawNow, relayout, setView, setFollow, showTab, select, setRange, reveal, selectState, goToInterval, toStep,
    /** Zooms by a factor around time t of the aim. @param {number} t @param {number} factor */
    zoomAt(t, factor) {
      const { from, to } = app.aim;
      const width = limitedWidth(model, (to - from) * factor);
      const left = t - (t - from) * (width / (to - from));
      setView(left, left + width);
    },
    /** @param {number} ns */
    pan(ns) { setView(app.aim.from + ns, app.aim.to + ns); },
    /**
     * Copies the view, range, pointer and colors of another app, in the time of this trace.
     * @param {Pick<Page,
     * "shift"|"view"|"aim"|"range"|"pointer"|"colors"|"wall"|"by"|"searchBox"> & {choices:
     * Pick<Page["choices"], (typeof sharedChoices)[number]>}} first
     */
    copyView(first) {
      const { shift } = first;
      const later = (/** @type {Readonly<Stretch>} */ s) => ({ from: s.from + shift, to: s.to + shift });
      const moved = app.aim.from !== first.aim.from + shift || app.aim.to !== first.aim.to + shift;
      Object.assign(app, { view: later(first.view), aim: later(first.aim), range: first.range && later(first.range), pointer: first.pointer, colors: first.colors, wall: first.wall });
      if (moved) model.want(app.aim.from, app.aim.to, app.rows.width());
      const text = first.searchBox.text().toLowerCase();
      if ((app.hits?.text ?? "") !== text) app.hits = text === "" ? null : search(model, text);
      if (app.by === first.by && sharedChoices.every((key) => choices[key] === first.choices[key])) return;
      for (const key of sharedChoices) Object.assign(choices, { [key]: first.choices[key] });
      app.by = first.by;
      relayout();
    },
    /** Shows [from, to] with a margin. @param {number} from @param {number} to */
    fit(from, to) { moveTo(viewAround(from, to)); },
    seeAll() { moveTo(viewOfAll(model)); },
    /** Keeps the end of the trace in view. */
    stayAtEnd() {
      app.aim = viewAtEnd(model, app.aim);
      if (animation === 0) app.view = app.aim;
    },

    /** Shows the row of a link again, which alike rows may have hidden when a server sent what they are alike in. */
    seekAgain() {
      if (!sought) return;
      const { key, depth } = sought;
      const id = rowId({ by: app.by, key });
      if (model.waits.states) sought = null;
      if (app.chosenRow !== id || app.rows.stripOf(id)) return;
      app.rows.reveal(key, depth);
      app.notify("selection");
    },
    /** Resolves the selection again after batches were replaced. */
    resolveSelection() {
      if (app.selection && app.selection.j === undefined) app.selection = model.resolve(app.selection);
    },
    /**
     * Follows the chain of the selected wait by one step, or to its root; for a scope, first
     * the chain of its longest wait.
     * @param {boolean} root
     */
    followWaits(root) {
      if (chainOf(model, app.chain).length > 0) return toStep(Math.min(root ? Infinity : app.step + 1, chainOf(model, app.chain).length - 1));
      const wait = app.selection && app.selection.j === undefined ? longestInside(model, app.selection) : null;
      if (!wait) return app.announce(app.chain ? "it has no known wait" : "select a wait or a scope first");
      if (wait.ref) select(wait.ref, { reveal: true });
      else if (wait.interval) goToInterval(wait.key, wait.interval);
      if (root) toStep(chainOf(model, app.chain).length - 1);
    },
    /** Selects the hold of a lock at time t. @param {import("./data/lockset.js").LockRow} lock @param {number} t */
    selectHold(lock, t) {
      const k = heldAt(lock, t, (3 * (app.view.to - app.view.from)) / app.rows.width());
      const ref = k >= 0 && lock.many[k] === 1 ? model.find(lock.goids[k], -2, lock.starts[k]) : null;
      if (ref) select(ref);
      else app.announce(k < 0 ? "no known holder at that time" : "zoom in to separate the holds");
    },
    /** Searches for a text. @param {string} text "": end the search */
    find(text) {
      app.hits = text === "" ? null : search(model, text);
      stateChanged();
    },
    /** @param {number|null} share of the width, at the pointer; null: the pointer is elsewhere */
    hover(share) {
      if (share === app.pointer) return;
      app.pointer = share;
      redraw();
    },
    /** @param {number} name */
    hoverOn(name) {
      if (name === app.hoverName) return;
      app.hoverName = name;
      redraw();
    },
    /** @param {Page["hoverWait"]} wait under the pointer */
    hoverOnWait(wait) {
      const sourceOf = (/** @type {Page["hoverWait"]} */ w) => w && ("batch" in w ? w.batch : w.set);
      if (wait?.i === app.hoverWait?.i && sourceOf(wait) === sourceOf(app.hoverWait)) return;
      app.hoverWait = wait;
      redraw();
    },
    /** @param {string} trace id of the request of the scope under the pointer; "": none */
    hoverOnRequest(trace) {
      if (trace === app.hoverRequest) return;
      app.hoverRequest = trace;
      redraw();
    },

    /** @param {string} id */
    chooseRow(id) {
      app.chosenRow = id;
      if (app.calls.rows === "chosen") app.notify("calls");
      stateChanged();
    },
    /** @param {By} by */
    async setBy(by) {
      if (by === "thread" && model.base.n > manyScopes) {
        app.announce("assigning the scopes to their threads", true);
        await inSlices(model.threadSteps(), () => false);
      }
      app.by = by;
      app.chosenRow = "";
      app.area = null;
      rowsChanged();
    },
    nextStateSize() {
      choices.states = stateSizes[(stateSizes.indexOf(choices.states) + 1) % stateSizes.length];
      app.announce(`states: ${choices.states}`);
      rowsChanged();
    },
    toggleLocks() {
      choices.locks = !choices.locks;
      app.announce(`rows of locks: ${choices.locks ? "shown" : "hidden"}`);
      rowsChanged();
    },
    toggleProcs() {
      choices.procs = !choices.procs;
      app.announce(`rows of processors: ${choices.procs ? "shown" : "hidden"}`);
      rowsChanged();
    },
    nextGraphs() {
      app.graphs = graphSets[(graphSets.indexOf(app.graphs) + 1) % graphSets.length];
      app.announce(`graphs: ${{ usual: "CPU and goroutines", all: "CPU, goroutines and memory", line: "none, only their values" }[app.graphs]}`);
      app.notify("graphs");
      relayout();
    },
    /** @param {string} what the criterion by which scopes are coloured; see colorChoices */
    setColorBy(what) {
      choices.colorBy = what;
      app.announce(`colours: by ${what}`);
      app.notify("by");
      stateChanged();
    },
    toggleClock() {
      app.wall = !app.wall;
      app.notify("clock");
      stateChanged();
    },
    /** @param {string} theme light or dark */
    setTheme(theme) {
      document.documentElement.dataset.theme = theme;
      app.colors = themeColors();
      app.notify("view");
      redraw();
    },
    /** Restores the state of an address. @param {import("./state.js").ViewState} s @param {boolean} follow */
    restore(s, follow = false) {
      Object.assign(choices, {
        filter: s.rows ?? "", hidden: new Set(s.hidden), pinned: new Set(s.pinned), shut: new Set(s.shut), opened: new Set(s.opened), states: s.states ?? "thin", locks: s.nolocks !== true, procs: s.noprocs !== true, colorBy: s.color ?? "name",
        collapsed: s.collapsed === true, oneLine: s.oneLine === true, sort: s.sort ?? "name",
      });
      app.wall = s.wall === true;
      app.whole = s.whole === true;
      app.runsOf = s.name ?? "";
      app.brush = s.name && s.long ? new Brush(model, s.name, s.long.from, s.long.to) : null;
      app.path = s.path === true;
      app.graphs = s.graphs ?? "usual";
      app.flows = s.flows === true;
      requests.showRequest(s.request ?? "", { only: s.only === true, zoom: false });
      app.notify("graphs");
      app.compared = s.compared ?? "";
      app.shift = s.shift ?? 0;
      app.marks = s.marks ?? [];
      app.notify("marks");
      app.by = s.threads ? "thread" : "goroutine";
      app.notify("clock");
      app.notify("filter");
      rowsChanged();
      setFollow(follow);
      const view = s.view ?? viewOfAll(model);
      if (!follow) setView(view.from, view.to);
      const ref = s.selection ? model.find(s.selection.key, s.selection.depth, s.selection.start) : null;
      select(ref);
      const place = ref ? model.place(ref, app.by) : null;
      app.chosenRow = s.row ?? app.chosenRow;
      const key = place?.key ?? (/^g\d+$/.test(s.row ?? "") ? Number(s.row?.slice(1)) : null);
      const seen = !s.rows && !s.hidden && !s.only; // otherwise the row may be hidden on purpose
      const there = key !== null && (seen || app.rows.stripOf(rowId({ by: app.by, key })) !== null);
      sought = there ? { key, depth: place?.depth ?? 0 } : null;
      if (sought) app.rows.reveal(sought.key, sought.depth);
      setRange(s.range ?? null, s.area ? new Set(s.area) : null);
      app.searchBox.set(s.search ?? "");
      const row = s.of?.startsWith("g") ? s.of : "";
      if (row) app.chosenRow = row;
      app.calls = {
        ...app.calls, func: s.func ?? "", metric: s.metric ?? "", scope: s.scope ?? "",
        executions: /** @type {any} */ (s.executions ?? "all"), rows: /** @type {any} */ (row ? "chosen" : s.of ?? "all"),
      };
      app.finding = s.finding ?? "";
      app.showFindingPlace = s.finding !== undefined && !s.view;
      showTab(s.tab ?? (s.finding ? "doctor" : ref ? "details" : "summary"));
    },
  };
}
