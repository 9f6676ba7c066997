// The rows: a scrolled sheet with labels on the left and one canvas of the visible size.
// Only the visible strips have labels and are drawn.

import { barPixels, statePixels } from "../data/merge.js";
import { longestTitle, shortText } from "../data/names.js";
import { answerAt } from "./answerbars.js";
import { awaitedOf } from "./awaited.js";
import { makeHatch } from "./bar.js";
import { hasDensity, spreadText } from "./density.js";
import { drawStrip, nothingDrawn, processText } from "./draw.js";
import { fitLines, layoutRows, leastLine, pinLimit, processId, stripsBetween, rowId, sizes, flagHeight, tickHeight, usualLines } from "./layout.js";
import { make, makeButton, restLater } from "./make.js";
import { ownGoroutine, processOf } from "../model/processes.js";
import { rowTitle } from "../model/rowset.js";
import { beginCanvas } from "./plot.js";
import { drawLinks, drawOverlay } from "./overlay.js";
import { drawPath } from "./path.js";
import { heldOn } from "./procs.js";
import { tickAt } from "./strip.js";
import { ticksOf } from "./ruler.js";
import { lockFacts, stateAt } from "./waitfacts.js";
import { thousands } from "./numbers.js";

/** @import { App } from "../app.js" */

/** The number of characters at the end of a row's title that are always shown. */
const longestEnd = 8;

/**
 * The item under a point.
 * @typedef {Object} Hit
 * @property {import("./layout.js").Strip} strip
 * @property {import("../model/rowset.js").Lane=} lane
 * @property {import("../data/batch.js").Batch=} batch
 * @property {number} i valid if batch is set
 * @property {number} j the merged items are [i, j)
 * @property {boolean=} merged
 * @property {import("../data/states.js").StateRun|null=} state
 * @property {import("../data/states.js").StateRun|null=} held of a processor, or of a thread
 * @property {number=} sample index into the model's samples; -1: none
 * @property {number=} time ns
 * @property {import("../model/answertrack.js").AnswerPlace|null=} answer of a track of an answer
 * @property {boolean=} awaited its states at that time are not known yet
 */

/**
 * Returns a row's title in two parts, of which only the first is shortened where there is little room: the numbers of
 * workers and the ends of functions' names distinguish rows.
 * @param {string} title @returns {HTMLElement[]}
 */
function bothEnds(title) {
  const tail = Math.min(longestEnd, Math.floor(title.length / 2));
  return [make("span", { class: "head", text: title.slice(0, title.length - tail) }), make("span", { class: "tail", text: title.slice(title.length - tail) })];
}

/** @param {App} app @param {HTMLElement} element */
export function createRowsView(app, element) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const labels = make("div", { class: "labels" });
  const pins = make("div", { class: "labels pins" });
  const note = make("div", { class: "rows-note", role: "status" });
  const sheet = make("div", { class: "sheet" }, pins, canvas, labels, note);
  element.replaceChildren(sheet);
  /** @type {import("./layout.js").Strip[]} */
  let strips = [];
  /** By id. @type {Map<string, import("./layout.js").Strip>} */
  let byId = new Map();
  /** The group of each row, by row id, computed on first use. @type {Map<string, import("./layout.js").Strip>|null} */
  let groups = null;
  let sticky = 0; // number of strips that stay at the top
  let band = 0; // their height
  /** The version of the view for which the groups' texts were computed. */
  const spreads = { of: "", texts: /** @type {Map<string, string>} */ (new Map()) };
  let labelled = "";
  /** @type {Map<string, number>} */
  const widths = new Map();
  /** @type {CanvasPattern|null} */
  let hatch = null;
  let hatchColor = "";
  element.addEventListener("scroll", () => app.redraw());

  function gutter() { return canvas.offsetLeft; }
  function width() { return Math.max(10, element.clientWidth - gutter()); }

  /** Chooses the height of the rows by the available room, and lays them out. */
  function fit() {
    element.style.maxHeight = "";
    fitLines(app.model, app.arranged, app.choices, element.clientHeight - 12);
    document.documentElement.style.setProperty("--line-h", `${sizes.line}px`);
    layout();
  }

  /** Lays the rows out again. */
  function layout() {
    const { strips: list, height, pins: pinned } = layoutRows(app.model, app.arranged, app.choices);
    strips = list;
    byId = new Map(strips.filter((s) => s.kind !== "more").map((s) => [s.id, s]));
    groups = null;
    element.style.maxHeight = `${height + 12}px`;
    // A scroll bar reduces the width of the rows; the plots above must have the same scale.
    if (element.id === "rows") document.documentElement.style.setProperty("--scrollbar", `${element.offsetWidth - element.clientWidth}px`);
    sheet.style.height = `${Math.max(height + 12, element.clientHeight)}px`;
    labels.style.height = sheet.style.height;
    labelled = "";
    // Pins that would leave less than half of the height to the others scroll with them.
    for (sticky = band = 0; sticky < pinned && band + strips[sticky].h <= element.clientHeight / 2; sticky++) band += strips[sticky].h;
    pins.style.height = `${band}px`;
    pins.style.marginBottom = `${-band}px`;
    note.replaceChildren(...emptyText());
  }

  /** Returns the reason why there are no rows. @returns {(string|HTMLElement)[]} */
  function emptyText() {
    const { filter } = app.choices;
    if (strips.some((s) => s.kind !== "note")) return [];
    if (filter === "") return [app.growing ? "This trace has no scopes yet. Rows appear with the first one." : "This trace has no scopes: the program started none during the recording."];
    return [`No row matches “${shortText(filter)}”. `, makeButton("Clear the filter", () => {
      app.filterRows("");
      document.getElementById("row-filter")?.focus();
    })];
  }

  /** Converts a y coordinate of the canvas to one of the sheet. @param {number} y */
  function under(y) { return y < band ? y : y + element.scrollTop; }

  /** Returns the y coordinate of a strip on the canvas. @param {import("./layout.js").Strip} s */
  function yOf(s) { return s.y < band ? s.y : s.y - element.scrollTop; }

  /** @param {import("./layout.js").Strip} s */
  function label(s) {
    const { title } = s;
    const name = make("span", { class: "name ends", title: shortText(s.row?.name || title, longestTitle) }, ...bothEnds(title));
    const box = make("div", { class: `label ${s.kind}` }, name);
    if (s.inner) box.classList.add("inner");
    if (s.row && !s.row.named) box.classList.add("unnamed");
    if (s.kind !== "more" && app.chosenRow === s.id) box.classList.add("chosen");
    const toggle = (/** @type {"pinned"|"shut"|"opened"|"full"|"hidden"} */ set) => () => app.toggleRow(set, s.id);
    if (s.kind === "locks" || s.kind === "procs") {
      box.prepend(makeButton(s.shut ? "▸" : "▾", toggle("shut"), { "aria-expanded": String(!s.shut), "aria-label": `${s.shut ? "Show" : "Fold"} the rows of ${s.kind === "locks" ? "locks" : "processors"}` }));
    }
    if (s.kind === "process") {
      const { pid, path } = s.process;
      box.style.paddingLeft = `${6 + 10 * (s.depth ?? 0)}px`;
      box.prepend(makeButton(s.shut ? "▸" : "▾", toggle("shut"), { "aria-expanded": String(!s.shut), "aria-label": `${s.shut ? "Show" : "Fold"} the rows of the process ${title}` }));
      name.append(make("span", { class: "unseen", text: ` ${processText(s.process)}` }));
      name.title = [processText(s.process), `process ${pid}`, path].filter(Boolean).join("; ");
    }
    if (s.kind === "lock") {
      box.append(makeButton("⊤", toggle("pinned"), { class: "more", title: pinTitle(s), "aria-label": `Pin ${title} to the top`, "aria-pressed": String(s.pinned) }));
      name.title = `${name.title}: ${lockFacts(app, s.lock).map(([k, v]) => `${k} ${v}`).join(", ")}`;
    }
    if (s.kind === "group") {
      box.prepend(makeButton(s.shut ? "▸" : "▾", toggle("opened"), { "aria-expanded": String(!s.shut), "aria-label": `${s.shut ? "Show" : "Fold"} the rows of ${title}` }));
    }
    if (s.kind === "row") {
      const more = s.track === undefined && s.row.depth > 1;
      box.prepend(makeButton(more ? (s.shut ? "▸" : "▾") : " ", toggle("shut"), { "aria-expanded": String(!s.shut), "aria-label": `${s.shut ? "Show" : "Collapse"} what is inside ${title}`, disabled: !more }));
      if (s.left || app.choices.full.has(s.id)) {
        const text = s.left ? `⋯ ${s.left} deeper` : "⋯ fewer lines";
        box.append(makeButton(text, toggle("full"), { class: "deeper", title: "All lines of this row, or the usual ones", "aria-label": `${text}: lines of ${title}`, "aria-pressed": String(app.choices.full.has(s.id)) }));
      }
      box.append(makeButton("⊤", toggle("pinned"), { class: "more", title: pinTitle(s), "aria-label": `Pin ${title} to the top`, "aria-pressed": String(s.pinned) }));
    }
    if (s.kind === "group" && hasDensity(s)) {
      box.append(make("span", { class: "spread", text: spreads.texts.get(s.id) ?? "", title: "Minimum, median and maximum number of rows in a scope at once, in view" }));
    }
    if (s.kind === "more" || s.kind === "hidden") name.className = "name";
    if (s.kind === "more") name.replaceChildren(makeButton(s.title, () => app.showMore(s.id)), " ", makeButton("all", () => app.showMore(s.id, true), { "aria-label": "Show all the others" }));
    if (s.kind === "hidden") name.replaceChildren(makeButton(s.title, () => app.showHidden()));
    if (s.answer) {
      box.append(makeButton("×", () => app.removeAnswerTrack(s.id), { class: "more", title: "Remove", "aria-label": `Remove ${title}` }));
    } else if (!["more", "hidden", "locks", "procs", "note"].includes(s.kind)) {
      box.append(makeButton("×", toggle("hidden"), { class: "more", title: "Hide (H)", "aria-label": `Hide ${title}` }));
    }
    if (s.kind === "row" || s.kind === "group" || s.kind === "process") name.addEventListener("click", () => (s.kind === "process" ? app.chooseRow(s.id) : app.showRow(s.id)));
    if (s.kind === "row") name.title = `${name.title}${s.row.named && s.row.by !== "thread" ? `, ${rowTitle("goroutine", ownGoroutine(app.model.meta, s.row.key))}` : ""}: ${thousands(s.row.scopes)} scopes`;
    box.dataset.id = s.id;
    box.style.top = `${s.y}px`;
    box.style.height = `${s.h}px`;
    return box;
  }

  /** @param {import("./layout.js").Strip} s */
  function pinTitle(s) { return s.pinned && s.y >= band ? `Pinned, but it scrolls: ${pinLimit} (P)` : "Pin to the top (P)"; }

  /** Shows how many rows of the visible groups are active in the view. */
  function fillSpreads() {
    for (const at of element.querySelectorAll(".label.group .spread")) {
      const id = /** @type {HTMLElement} */ (at.closest(".label")).dataset.id ?? "";
      const s = byId.get(id);
      if (!s) continue;
      spreads.texts.set(id, spreadText(app, s));
      at.textContent = spreads.texts.get(id) ?? "";
    }
  }
  const spreadsLater = restLater(fillSpreads);

  /** @param {Record<string, string>} colors */
  function draw(colors) {
    const height = element.clientHeight;
    const w = width();
    if (canvas.style.width !== `${w}px`) canvas.style.width = `${w}px`;
    if (canvas.style.height !== `${height}px`) canvas.style.height = `${height}px`;
    const { ctx } = beginCanvas(canvas, w, height, colors);
    const top = element.scrollTop;
    const stuck = strips.slice(0, sticky);
    const seen = stripsBetween(strips, top + band, top + height);
    const key = `${[...stuck, ...seen].map((s) => s.id + s.y).join()}|${app.chosenRow}`;
    if (key !== labelled) {
      // The focus stays on its control if that is still visible.
      const focused = sheet.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
      pins.replaceChildren(...stuck.map(label));
      labels.replaceChildren(...seen.map(label));
      labelled = key;
      spreads.of = "";
      if (focused) for (const b of sheet.querySelectorAll("button")) if (b.getAttribute("aria-label") === focused) b.focus({ preventScroll: true });
    }
    const view = `${app.view.from} ${app.view.to} ${app.model.version}`;
    if (view !== spreads.of) spreadsLater();
    spreads.of = view;
    if (hatchColor !== colors.bg) {
      hatchColor = colors.bg;
      hatch = makeHatch(ctx, hatchColor);
    }
    const { from, to } = app.view;
    /** @type {import("./draw.js").Painter} */
    const p = {
      ctx, model: app.model, colors, from, to, width: w, scale: w / (to - from), hits: app.brush ?? app.lit ?? (app.hits?.count === 0 ? null : app.hits), flows: app.flows && app.model.requests.any, linked: [],
      colorBy: app.choices.colorBy, hoverName: app.hoverName, growing: app.growing, hatch, widths, drawn: nothingDrawn(), chosen: app.selection ? app.model.place(app.selection, app.by).ref : null, chosenTo: app.selection?.j, awaited: awaitedOf(ctx, app),
    };
    ctx.lineWidth = 1;
    const grid = ticksOf(from, to, w).ticks.map((t) => Math.round((t - from) * p.scale));
    const paint = (/** @type {import("./layout.js").Strip} */ s) => {
      const y = yOf(s);
      ctx.fillStyle = ["group", "locks", "procs", "process"].includes(s.kind) ? colors["bg-raised"] : colors.bg;
      ctx.fillRect(0, y, w, s.h);
      ctx.fillStyle = colors.line;
      ctx.fillRect(0, y, w, 1);
      for (const x of grid) ctx.fillRect(x, y, 1, s.h);
      drawStrip(p, s, y);
      if (app.range && app.area && !(s.kind === "row" && app.area.has(s.id)) && !(s.kind === "group" && s.rows?.some((r) => app.area?.has(rowId(r))))) {
        ctx.fillStyle = colors.shade; // outside of the area, like the time outside of the range
        ctx.fillRect((app.range.from - from) * p.scale, y, (app.range.to - app.range.from) * p.scale, s.h);
      }
    };
    seen.forEach(paint);
    stuck.forEach(paint); // over the strips that scroll below them
    ctx.fillStyle = colors["fg-dim"];
    if (band > 0) ctx.fillRect(0, band - 1, w, 1);
    drawOverlay(p, app, height, placeY);
    drawLinks(p, app, placeY, placeOrGroup);
    drawPath(p, app, placeOrGroup);
    element.classList.toggle("loading", app.model.details.loading || p.awaited.states.length > 0);
    return p.drawn;
  }

  /**
   * Returns the position of a row's place on the canvas; null if the row is not shown. A row
   * outside of the visible part has a position, too.
   * @param {number} key @param {number} depth @param {boolean} strip its strip of states, if it has one
   */
  function placeY(key, depth, strip = false) {
    const s = byId.get(rowId({ by: app.by, key }));
    if (!s || s.track !== undefined) return null; // a scope is in several pieces there
    const line = depth < 0 ? 0 : Math.min(depth, Math.max(0, s.lanes.length - 1));
    const inStates = s.states && (strip || s.lanes.length === 0);
    const y = yOf(s) + (inStates ? /** @type {number} */ (s.statesAt) : 1 + (s.flags && depth >= 0 ? flagHeight : 0) + line * sizes.line);
    return belowPins(s, y, inStates ? /** @type {number} */ (s.statesHigh) : sizes.line - 2);
  }

  /**
   * Returns the visible part of a part of a strip.
   * @param {import("./layout.js").Strip} s @param {number} y @param {number} h
   */
  function belowPins(s, y, h) {
    if (s.y < band || band === 0) return { y, h };
    const top = Math.max(y, band); // pinned rows cover the part above
    return { y: top, h: Math.max(0, y + h - top) };
  }

  /** Returns the position of a row, or of its folded group. @param {number} key */
  function placeOrGroup(key) {
    const place = placeY(key, 0);
    if (place) return place;
    groups ??= new Map(strips.flatMap((s) => (s.rows ?? []).map((row) => [rowId(row), s])));
    const s = groups.get(rowId({ by: app.by, key }));
    return s ? belowPins(s, yOf(s) + 1, s.h - 1) : null;
  }

  /** @param {number} x @param {number} y in the canvas @returns {Hit|null} */
  function at(x, y) {
    const height = under(y);
    const [s] = stripsBetween(strips, height, height + 1);
    if (!s) return null;
    /** @type {Hit} */
    const hit = { strip: s, i: 0, j: 0 };
    const scale = width() / (app.view.to - app.view.from);
    const t = app.view.from + x / scale;
    hit.time = t;
    const awaited = (/** @type {boolean} */ derived) => app.model.waits.awaited(t, t + 1, derived).length > 0;
    if (s.kind === "answer" && s.answer) hit.answer = answerAt(s.answer, height - s.y - 1, t, 3 / scale);
    if (s.kind === "proc") {
      hit.held = heldOn(app.model, /** @type {number} */ (s.track), t, scale);
      hit.awaited = !hit.held && awaited(true);
    }
    if (s.kind !== "row") return hit;
    let inside = height - s.y - 1;
    if (s.ticks?.length && inside >= s.h - tickHeight - 3) {
      hit.sample = tickAt(/** @type {import("../data/samples.js").Samples} */ (app.model.samples), s.ticks, t, 4 / scale);
      return hit;
    }
    if (s.states && inside >= /** @type {number} */ (s.statesAt) - 1) {
      hit.state = stateAt(s.states, t, statePixels / scale);
      hit.awaited = !hit.state && awaited(false);
      return hit;
    }
    let best = 6 / scale;
    const near = (/** @type {import("../data/pyramid.js").Run} */ { batch, i, j, t0, t1 }) => {
      const distance = t < t0 ? t0 - t : t > t1 ? t - t1 : 0;
      if (distance < best || (distance === 0 && hit.batch === undefined)) {
        best = distance;
        Object.assign(hit, { batch, i, j, merged: j - i > 1 || batch.many(i) > 1 });
      }
    };
    if (s.flags) {
      if (inside < flagHeight) {
        app.model.eachBar(s.row.flags, t - 8 / scale, t + 4 / scale, 3 / scale, near);
        return hit;
      }
      inside -= flagHeight;
    }
    if (s.track !== undefined) {
      hit.held = heldOn(app.model, s.track, t, scale);
      hit.awaited = !hit.held && awaited(true);
      return hit;
    }
    hit.lane = s.lanes[Math.floor(inside / sizes.line)];
    if (hit.lane) {
      best = 3 / scale;
      app.model.eachBar(hit.lane, t - 4 / scale, t + 4 / scale, barPixels / scale, near);
    }
    return hit;
  }

  /**
   * Returns the rows of goroutines from one strip to another, including those of folded groups; null: none.
   * @param {string|undefined} a its id; undefined: below them @param {string|undefined} b
   */
  function idsBetween(a, b) {
    if (app.by !== "goroutine" || a === undefined && b === undefined) return null;
    const [i, j] = [a, b].map((id) => (id === undefined ? strips.length : strips.findIndex((s) => s.id === id))).sort((x, y) => x - y);
    const ids = strips.slice(Math.max(0, i), j + 1).flatMap((s) => (s.kind === "row" ? [s.id] : s.kind === "group" && s.shut ? (s.rows ?? []).map(rowId) : []));
    return ids.length > 0 ? new Set(ids) : null;
  }

  /** Scrolls to a lock's row; false: it has none. @param {string} name @param {string} addr empty: any */
  function revealLock(name, addr) {
    const is = (/** @type {any} */ l) => app.model.name(l.nameId) === name && (addr === "" || l.addr === addr);
    const place = app.model.waits.locks.findIndex(is);
    if (place < 0) return false;
    const { id } = app.model.waits.locks[place];
    app.openLock(id, place);
    const s = byId.get(id);
    if (!s) return false;
    if (s.y >= band && (yOf(s) < band || yOf(s) + s.h > element.clientHeight)) element.scrollTop = Math.max(0, s.y - element.clientHeight / 2);
    return true;
  }

  /** Scrolls to a row. @param {number} key @param {number} depth */
  function reveal(key, depth) {
    const id = rowId({ by: app.by, key });
    if (!byId.has(id)) {
      // It may be hidden, filtered out, or in a hidden or folded group or process.
      const process = app.by === "goroutine" ? byId.get(processId(processOf(app.model.meta, key))) : undefined;
      if (process?.shut) app.toggleRow("shut", process.id);
      if (app.choices.only && !app.choices.only.has(id)) app.toggleOnly();
      const group = app.arranged.find((a) => a.kind === "group" && a.rows.some((r) => rowId(r) === id));
      app.unhide(id);
      if (group?.kind === "group") app.unhide(group.id);
      if (!byId.has(id) && !byId.get(group?.kind === "group" ? group.id : "")?.rows?.some((r) => rowId(r) === id)) app.filterRows("");
      const rows = group?.kind === "group" ? byId.get(group.id)?.rows : undefined;
      if (!byId.has(id) && group?.kind === "group" && rows) app.openGroup(group.id, rows.findIndex((r) => rowId(r) === id));
    }
    let s = byId.get(id);
    if (!s) return;
    if (depth >= s.lanes.length) {
      app.openRow(id, depth >= usualLines);
      s = /** @type {import("./layout.js").Strip} */ (byId.get(id));
    }
    if (s.y < band) return;
    const y = s.y + Math.max(0, depth) * sizes.line;
    if (y < element.scrollTop + band + 4) element.scrollTop = Math.max(0, y - 30 - band);
    else if (y + sizes.line + 14 > element.scrollTop + element.clientHeight) element.scrollTop = y - element.clientHeight + 60;
  }

  return {
    element, canvas, layout, fit, fits: () => sizes.line === leastLine || sheet.offsetHeight <= element.clientHeight, draw, at, width, gutter, reveal, revealLock, idsBetween,
    /** @param {string} id */
    stripOf(id) { return byId.get(id) ?? null; },
    /** Reports whether a pinned row does not scroll. @param {string} id */
    sticks(id) { return (byId.get(id)?.y ?? band) < band; },
  };
}
