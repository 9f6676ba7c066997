// The Request tab: a request as a tree across rows and processes.

import { Flag } from "../data/kinds.js";
import { processOf, shownProcesses } from "../model/processes.js";
import { isShown, keepFocus, make, makeButton, nameText, pluralText, restLater } from "../view/make.js";
import { momentText } from "../view/ruler.js";
import { thousands } from "../view/numbers.js";
import { goroutineTitle } from "../model/titles.js";
import { copyText } from "./copy.js";

/** @import { App } from "../app.js" */
/** @import { RequestPart } from "../model/requests.js" */

/** The number of lines shown at first. */
const requestLines = 300;

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createRequest(app) {
  const { model } = app;
  const head = make("h2");
  const zoom = makeButton("zoom to it", () => {
    const request = model.requests.of(app.request);
    if (request && request.list.length > 0) app.fit(request.from, request.to);
  });
  const only = makeButton("its rows only", () => app.toggleOnly(), { title: "Fold or show all other rows (Shift+O)" });
  const flows = makeButton("arrows of all in view", () => app.toggleFlows(), { title: "Arrows of all requests in view, or of this one (Shift+L)" });
  const id = makeButton("copy its id", () => void copyText(app, app.request, "the trace id"));
  const done = makeButton("done", () => app.showRequest(""), { title: "Stop highlighting the request (Esc)" });
  const note = make("p", { class: "quiet" });
  const columns = make("tr");
  const body = make("tbody");
  const caption = make("caption");
  const table = make("table", { class: "sortable request" }, caption, make("thead", null, columns), body);
  const more = makeButton("", () => {
    all = true;
    stamp = "";
    fill();
  }, { class: "more" });
  const element = make("div", null, make("div", { class: "bar-of-tools" }, head, zoom, only, flows, id, done), note, table, more);
  let all = false;
  let stamp = "";
  body.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.code];
    if (!step) return;
    const buttons = /** @type {HTMLElement[]} */ ([...body.querySelectorAll("button")]);
    buttons[buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step]?.focus();
    e.preventDefault();
  });

  /** @param {RequestPart} part @param {number} from when the request began @param {boolean} several there are processes */
  function line(part, from, several) {
    const { ref, up } = part;
    const first = make("th", { scope: "row" });
    first.style.paddingLeft = `${6 + 14 * Math.min(part.depth, 40)}px`;
    const level = make("span", { class: "unseen", text: `level ${part.depth + 1}: ` });
    if (!ref) {
      first.append(level, make("span", { class: "quiet", text: `missing: ${part.span}`, title: "This trace has no scope with that id: it was not recorded, was lost, or is in another trace" }));
      return make("tr", null, first, ...columnsOf(several).slice(1).map(() => make("td", { class: "number", text: "" })));
    }
    const { batch, i } = ref;
    const open = (batch.flags[i] & Flag.unended) !== 0;
    const late = up?.ref ? part.start - up.start : NaN;
    const instant = part.lane < 0;
    const row = goroutineTitle(model, part.key);
    first.append(level, makeButton(nameText(model.name(batch.name[i])), () => app.select(ref, { reveal: true }), { class: "link", "data-keep": `${part.key} ${part.lane} ${part.start}` }));
    const cells = [
      ...several ? [[processOf(model.meta, part.key)?.label ?? "unknown", ""]] : [], [row, ""], [`+${app.span(part.start - from)}`, "number"],
      [Number.isNaN(late) ? "" : late < 0 ? `−${app.span(-late)}` : app.span(late), "number"],
      [instant ? "event" : open ? `≥ ${app.span(part.end - part.start)}, open` : app.span(part.end - part.start), "number"], [instant ? "" : app.span(part.self), "number"],
    ];
    const tr = make("tr", null, first, ...cells.map(([text, name]) => make("td", { text, class: name })));
    const at = app.selection && app.selection.j === undefined ? model.resolve(app.selection) : null;
    const here = model.resolve(ref);
    if (at && at.batch === here.batch && at.i === here.i) tr.setAttribute("aria-current", "true");
    return tr;
  }

  /** Returns titles and hints. @param {boolean} several @returns {[string, string][]} */
  function columnsOf(several) {
    return [
      ["scope", "The tree of the scopes, by their ids"], ...several ? [/** @type {[string, string]} */ (["process", ""])] : [], ["row", ""],
      ["begin", "Time since the start of the request"], ["after its parent", "Time from its parent's start to its own: it was sent, queued, or preceded by other work. Less than 0: the clocks differ"],
      ["duration", ""], ["self", "Time not covered by the scopes inside it in the request"],
    ];
  }

  function fill() {
    if (!isShown(element)) return;
    const request = model.requests.of(app.request);
    const at = app.selection;
    only.setAttribute("aria-pressed", String(app.choices.only !== null));
    flows.setAttribute("aria-pressed", String(app.flows));
    const next = [model.version, app.request, at?.i, at?.batch.start[at.i], at?.batch.lane[at.i], request !== null].join();
    if (next === stamp) return;
    stamp = next;
    for (const b of [zoom, only, id, done]) b.hidden = app.request === "";
    const list = request?.list ?? [];
    table.hidden = list.length === 0;
    const parts = list.filter((p) => p.ref).length;
    const missing = list.length - parts;
    head.textContent = app.request === "" ? "No request is selected" : request && parts > 0 ? `Request of ${app.span(request.to - request.from)} at ${momentText(app, request.from, 1e3)}` : "Request";
    note.textContent = app.request === "" ? "Select a scope that is part of a request, or search for a trace id." : request === null ? "Waiting for the server…" : request.lacks || (parts === 0 ? `No scope has the trace id ${app.request}.` : "");
    note.hidden = note.textContent === "";
    more.hidden = all || list.length <= requestLines;
    more.textContent = `Show all ${thousands(list.length)}`;
    if (!request || list.length === 0) return body.replaceChildren();
    const several = shownProcesses(model.meta).length > 0;
    caption.textContent = `${app.request}: ${pluralText(parts, "part")} on ${pluralText(request.keys.size, "row")}${missing > 0 ? `, ${pluralText(missing, "parent")} missing` : ""}`;
    columns.replaceChildren(...columnsOf(several).map(([text, title], k) => make("th", { scope: "col", text, title, class: k > (several ? 2 : 1) ? "number" : "" })));
    keepFocus(element, () => body.replaceChildren(...list.slice(0, all ? list.length : requestLines).map((p) => line(p, request.from, several))));
  }

  const later = restLater(fill);
  app.on("request", () => {
    all = false;
    stamp = "";
    fill();
  });
  return {
    element,
    /** Shows updates while recording at intervals, and another selection at once. */
    update() {
      if (app.growing && stamp !== "") later();
      else fill();
    },
  };
}
