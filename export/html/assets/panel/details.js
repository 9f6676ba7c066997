// The Details tab: the facts of the selection, and buttons to related items.

import { placeText } from "../data/places.js";
import { goroutineTitle } from "../model/titles.js";
import { colorOf } from "../view/color.js";
import { factRefs, factsOf, isInstant, kindText, rowOf } from "./detailfacts.js";
import { copyButtons } from "./copy.js";
import { distributionView } from "./distribution.js";
import { argsList, argumentsText } from "../data/args.js";
import { withoutLink } from "../data/itemlinks.js";
import { shortText } from "../data/names.js";
import { extentOf } from "../model/refs.js";
import { distribution } from "../model/histogram.js";
import { createRowView } from "./rowview.js";
import { createStateTable, drawState } from "./statedetails.js";
import { Flag, Kind, isScope } from "../data/kinds.js";
import { isShown, keepFocus, make, makeButton, nameText, restLater } from "../view/make.js";
import { links } from "../model/links.js";
import { children, longest, neighbour, parent, selfTime } from "../model/relate.js";
import { momentText } from "../view/ruler.js";
import { createSortable } from "./sortable.js";
import { sourceFact } from "./sourcelink.js";
import { percentText, thousands } from "../view/numbers.js";
import { createWhy } from "./explainview.js";
import { waitOfItem } from "../model/explain.js";
import { heldByText, lockText } from "../view/waitfacts.js";
import { lockArgs } from "../model/waitlinks.js";

/** @import { App } from "../app.js" */

/** The order of links. */
const linkRank = Object.freeze({ request: -1, block: 0, lock: 1, wake: 2, go: 3 });
/** The maximum length of the arguments in the head; below the facts they are whole. */
const longestArguments = 100;
/** The maximum number of inner scopes listed. */
const detailsInside = 50;

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createDetails(app) {
  const head = make("div", { class: "head" });
  const facts = make("div", { class: "column" });
  const around = make("div", { class: "column" });
  const inside = createSortable({
    caption: "Inside it", by: "dur", id: (r) => `${r.start}-${r.name}`, limit: detailsInside,
    pick: (r) => app.select(r.ref, { reveal: true }),
    columns: [
      { key: "name", title: "name", pick: true, value: (r) => r.name, tone: (r) => (r.ref.batch.kind[r.ref.i] === Kind.wait ? "wait" : "") },
      { key: "start", title: "start", numeric: true, value: (r) => r.start, text: (r) => momentText(app, r.start, 1e3) },
      { key: "dur", title: "duration", numeric: true, value: (r) => r.dur, text: (r) => app.span(r.dur) },
      { key: "share", title: "of it", numeric: true, value: (r) => r.share, text: (r) => percentText(r.share), share: (r) => r.share, bar: "total" },
    ],
  });
  inside.element.classList.add("column");
  const quiet = make("p", { class: "quiet", text: "Click a bar to see its details. Drag over rows to select a time range on them. Press ? for the keys." });
  const states = createStateTable(app, "States of its goroutine");
  const why = createWhy(app);
  const columns = make("div", { class: "columns" }, facts, around, states.element, inside.element);
  const row = createRowView(app);
  const element = make("div", { class: "details" }, quiet, head, why.element, columns, row.element);
  let stamp = "";
  let drawn = null;

  const name = (ref) => app.model.meta.names[ref.batch.name[ref.i]] || "";
  /** Returns the short form of an item's title. */
  const wordsOf = (ref) => (ref.batch.many(ref.i) > 1 ? `${thousands(ref.batch.many(ref.i))} short ones, longest ${nameText(name(ref))}` : detailsWord(ref) + nameText(name(ref)));
  const detailsWord = (ref) => ({ [Kind.wait]: "wait for ", [Kind.hold]: "hold of " }[ref.batch.kind[ref.i]] || "");
  const go = (ref) => app.select(ref, { reveal: true });

  /** Returns a button to a related item, disabled if there is none. */
  function jump(text, ref, keep, title) {
    return makeButton(text, () => go(ref), { "data-keep": keep, disabled: !ref, title });
  }

  function drawHead(ref) {
    const { batch, i } = ref;
    const kind = batch.kind[i];
    const swatch = make("span", { class: "swatch" + (kind === Kind.wait ? " wait" : kind === Kind.hold ? " hold" : ""), "aria-hidden": "true" });
    if (kind !== Kind.wait && kind !== Kind.hold) swatch.style.backgroundColor = colorOf(name(ref));
    const { start, end } = extentOf(ref);
    const up = parent(app.model, ref);
    const buttons = [
      jump(up ? `↑ in ${wordsOf(up)}` : isInstant(kind) ? "↑ in no scope" : "↑ outermost", up, "up", "The enclosing scope (↑)"),
      jump("‹ previous", neighbour(app.model, ref, -1), "prev", "Previous of the same name ([)"),
      jump("next ›", neighbour(app.model, ref, 1), "next", "Next of the same name (])"),
    ];
    if (!isInstant(kind)) {
      const most = longest(app.model, batch.name[i]);
      const itself = most && most.batch === batch && most.i === i;
      buttons.push(jump(itself ? "the longest" : "longest", itself ? null : most, "longest", "Longest of the same name (L)"));
      buttons.push(makeButton("zoom to it", () => app.setView(start, end, { animate: true }), { "data-keep": "zoom", title: "F" }));
      buttons.push(makeButton("as range", () => app.setRange({ from: start, to: end }), { "data-keep": "range", title: "Select its time as a range (R)" }));
    }
    if (app.model.requests.linkOf(ref)) {
      buttons.push(makeButton("request", () => app.showTab("request"), { "data-keep": "request", title: "Show the request that it is part of (Shift+R)" }));
    }
    if (isScope(kind) && app.model.mayHaveSamples) {
      buttons.push(makeButton("functions", () => {
        app.chooseCalls({ scope: name(ref) });
        app.showTab("functions");
      }, { "data-keep": "functions", title: "The functions in which all scopes of this name spend their time" }));
    }
    const given = lockArgs(app.model, batch, i) ? "" : argumentsText(withoutLink(app.model.argsText(batch, i)));
    head.replaceChildren(swatch, make("h2", { text: nameText(name(ref)) }), make("span", { class: "quiet", text: kindText(kind) }), given ? make("span", { text: shortText(given, longestArguments) }) : null,
      make("span", { class: "buttons" }, ...buttons));
  }

  function drawFacts(ref) {
    const { batch, i } = ref;
    const list = make("dl", { class: "facts" });
    const add = (key, text, mono) => list.append(make("dt", { text: key }), make("dd", { text, class: mono ? "mono" : "" }));
    for (const [key, text] of factsOf(app, ref, selfTime(app.model, ref))) add(key, text);
    const source = sourceFact(app, batch.name[i]);
    if (source) list.append(make("dt", { text: "first used at", title: "Where the program first used the name during the recording" }), source);
    const lock = lockArgs(app.model, batch, i);
    if (lock) add("lock", lockText(lock));
    const wait = waitOfItem(app.model, ref);
    if (wait?.held) add("held by", heldByText(app, wait));
    const args = lock ? [] : argsList(batch.strings[batch.args[i]] || "");
    facts.replaceChildren(list);
    if (args.length === 0) return;
    const given = make("dl", { class: "facts arguments" });
    for (const [key, value] of args) {
      const time = /_ns$/.test(key) && /^\d+$/.test(value) ? ` (${app.span(Number(value))})` : "";
      given.append(make("dt", { text: /^\d+$/.test(key) ? `#${key}` : key }), make("dd", { class: "mono", text: value + time }));
    }
    facts.append(make("h3", { text: "Arguments" }), given);
  }

  function linkLine(link, ref) {
    const here = rowOf(app.model, ref).key;
    const incoming = link.to.rowKey === here && !(link.from.ref && link.from.ref.batch === ref.batch && link.from.ref.i === ref.i);
    const other = incoming ? link.from : link.to;
    const words = {
      go: incoming ? "its goroutine was created by" : "created", lock: incoming ? "got the lock from" : "passed the lock to",
      block: incoming ? "held at the start of the wait by" : "blocked", wake: incoming ? "its goroutine was woken by" : "woke", request: incoming ? "is part of" : "contains",
    }[/** @type {string} */ (link.kind)];
    const text = `${goroutineTitle(app.model, other.rowKey)}${other.ref ? `, ${wordsOf(other.ref)}` : ""}`;
    const jumpTo = () => (other.ref ? go(other.ref) : app.setView(other.time - 1e6, other.time + 1e6, { animate: true }));
    return make("li", null, `${words} `, makeButton(text, jumpTo, { class: "link", "data-keep": `link ${words} ${text}` }), make("span", { class: "quiet", text: ` at ${momentText(app, other.time, 1e3)}` }));
  }

  function drawAround(ref) {
    const { batch, i } = ref;
    around.replaceChildren();
    if (!isInstant(batch.kind[i]) && !(batch.flags[i] & (Flag.unended | Flag.across))) {
      const d = distribution(app.model, batch.name[i], ref);
      if (d && d.of > 0) around.append(distributionView(app, d, name(ref), batch.dur[i], detailsColor(ref)));
      if (app.model.reduced) around.append(make("p", { class: "quiet", text: "Only those that this page stores individually." }));
    }
    const list = [...links(app.model, ref), ...app.model.requests.linksOf(ref)].sort((a, b) => linkRank[a.kind] - linkRank[b.kind]);
    if (list.length) around.append(make("h3", { text: "Linked to" }), make("ul", { class: "links" }, ...list.slice(0, 40).map((l) => linkLine(l, ref))));
    if (list.length > 40) around.append(make("p", { class: "quiet", text: `and ${thousands(list.length - 40)} more` }));
  }

  function detailsColor(ref) {
    const kind = ref.batch.kind[ref.i];
    return kind === Kind.wait ? "var(--wait)" : kind === Kind.hold ? "var(--hold)" : colorOf(name(ref));
  }

  function drawInside(ref) {
    const { start, end } = extentOf(ref);
    const found = factRefs(children(app.model, ref, 100000));
    const rows = found.map((child) => {
      const at = extentOf(child);
      return { ref: child, name: wordsOf(child), start: at.start, dur: at.end - at.start, share: (at.end - at.start) / Math.max(1, end - start) };
    });
    inside.element.hidden = rows.length === 0;
    inside.set(rows, `${thousands(rows.length)} directly inside it`);
  }

  /** Shows a bar of several merged scopes. */
  function drawMerged(ref) {
    const { batch, i, j = i + 1 } = ref;
    let count = 0;
    let busy = 0;
    for (let k = i; k < j; k++) {
      count += batch.count ? batch.count[k] : 1;
      busy += batch.busy ? batch.busy[k] : batch.dur[k];
    }
    const { start, end } = extentOf({ batch, i, j });
    head.replaceChildren(make("h2", { text: `${thousands(count)} scopes` }), make("span", { class: "quiet", text: "each too short to be drawn individually here" }),
      make("span", { class: "buttons" }, makeButton("zoom in", () => app.setView(start, end, { animate: true }), { "data-keep": "zoom" }),
        makeButton("as range", () => app.setRange({ from: start, to: end }), { "data-keep": "range", title: "Select its time as a range, to list what ran in it" })));
    const list = make("dl", { class: "facts" });
    for (const [key, text] of [["from", app.time(start)], ["over", app.span(end - start)], ["busy", `${app.span(busy)}, ${percentText(busy / (end - start))} of it`], ["row", rowOf(app.model, ref).title]]) {
      list.append(make("dt", { text: key }), make("dd", { text }));
    }
    facts.replaceChildren(list);
    around.replaceChildren();
    inside.element.hidden = true;
    states.element.hidden = true;
    why.set(null);
  }

  function fill() {
    if (!isShown(element)) return;
    drawn = app.selection ?? app.stateSelection;
    /** @type {import("../app.js").Selection|null} */
    const ref = app.selection && app.selection.j === undefined ? app.model.resolve(app.selection) : app.selection; // batches may have been replaced
    const next = app.stateSelection ? [app.model.version, app.stateSelection.key, app.stateSelection.run.t0, app.stateSelection.run.t1, app.time(0)].join() : ref ? [app.model.version, ref.i, ref.j, ref.batch.start[ref.i], ref.batch.lane[ref.i], app.time(0)].join() : "";
    const shown = row.set(ref || app.stateSelection ? "" : app.chosenRow);
    quiet.hidden = Boolean(ref || app.stateSelection || shown);
    if (next === stamp) return;
    stamp = next;
    head.hidden = columns.hidden = !ref && !app.stateSelection;
    if (!ref && !app.stateSelection) return why.set(null);
    keepFocus(element, () => {
      if (app.stateSelection) {
        why.set({ selection: null, stretch: app.stateSelection });
        inside.element.hidden = states.element.hidden = true;
        return drawState(app, app.stateSelection, head, facts, around);
      }
      if (!ref) return;
      if ((ref.j !== undefined && ref.j > ref.i + 1) || (ref.batch.count && ref.batch.count[ref.i] > 1)) return drawMerged(ref);
      drawHead(ref);
      why.set({ selection: ref, stretch: null });
      drawFacts(ref);
      drawAround(ref);
      drawInside(ref);
      const { batch, i } = ref;
      const place = app.model.meta.places.get(batch.name[i]);
      head.append(copyButtons(app, { name: name(ref), source: place ? placeText(place) : "", arguments: app.model.argsText(batch, i), duration: isInstant(batch.kind[i]) ? "" : `${batch.dur[i]} ns` }, facts));
      const { start, end } = extentOf(ref);
      states.set(isInstant(ref.batch.kind[ref.i]) ? [] : [rowOf(app.model, ref).key], start, end);
    });
  }

  const later = restLater(fill);

  /** Shows another selection at once, and updates while recording at intervals. */
  function update() {
    if ((app.selection ?? app.stateSelection) === drawn) later();
    else fill();
  }

  head.hidden = columns.hidden = true;
  return { element, update };
}
