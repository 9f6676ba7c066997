// The lines at the top about defects of the trace: losses, open scopes, the cost of the recording, a missing writer or
// server. Losses and a changed file cannot be dismissed; the rest can.

import { longestTitle, shortText } from "../data/names.js";
import { firstFinding, showWorst } from "./finding.js";
import { make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** The levels of lines, the most important first. */
const bannerLevels = ["server", "loss", "doctor", "warn", "note", "live"];

/** The spoken names of the levels, for screen readers. */
const bannerWords = { server: "", loss: "Lost:", doctor: "The doctor:", warn: "Note:", note: "", live: "" };

/** The number of lines above which the rest is folded. */
const bannerLimit = 3;

/**
 * The state of a model's server; at: time of its last answer, in ms since 1970.
 * @typedef {{live?: boolean, state?: string, at?: number}} ServerState
 * @typedef {{level: string, text: string, act?: "retry"|"reload"}} Line
 */

/**
 * Returns the lines about a model's server.
 * @param {ServerState} s @param {string} [of] prefix that names the trace @returns {Line[]}
 */
function serverLines(s, of = "") {
  if (!s.live) return [];
  const at = new Date(s.at ?? 0).toTimeString().slice(0, 8);
  switch (s.state) {
    case "lost": return [{ level: "server", act: "retry", text: `The connection to scopeview serve is lost; trying again. The page shows the state at ${at}; parts not loaded yet are unavailable. If the server was restarted, open the address that it prints.` }];
    case "replaced": return [{ level: "server", act: "reload", text: `${of}Another trace was recorded to the same path. This page shows the previous one, as of ${at}.` }];
    case "removed": return [{ level: "server", text: `${of}The trace file was removed or became unreachable, at ${at} or later. Loaded parts remain; the rest is unavailable.` }];
    case "changed": return [{ level: "server", act: "reload", text: `${of}The trace file was truncated or overwritten, at ${at} or later. Loaded parts remain; the rest is unavailable.` }];
  }
  return [];
}

/**
 * Returns the lines to show: the trace's, a confident finding of the doctor, then the state
 * of writer and server, without those dismissed, unless they are losses.
 * @param {{banner?: {level:string, text:string}[], writer?: string}} meta
 * @param {ServerState & {other?: ServerState, problems?: string[], finding?: import("../data/meta.js").Finding|null}} state
 * @param {Set<string>} gone dismissed texts
 * @returns {Line[]}
 */
export function bannerLines(meta, state, gone) {
  /** @type {Line[]} */
  const lines = (meta.banner || []).map((b) => ({ level: bannerLevels.includes(b.level) ? b.level : "note", text: b.text }));
  for (const text of state.problems ?? []) lines.push({ level: "warn", text });
  if (state.finding?.text) lines.push({ level: "doctor", text: state.finding.text });
  const server = serverLines(state);
  lines.push(...server);
  // If neither model's server answers, one line is sufficient.
  if (state.other && !(state.state === "lost" && state.other.state === "lost")) lines.push(...serverLines(state.other, "B: "));
  if (server.length === 0 && state.live && meta.writer === "running") {
    lines.push({ level: "live", text: "Recording: new scopes appear within a second." });
  }
  if (meta.writer === "gone" && !lines.some((l) => /writer|killed/i.test(l.text))) {
    lines.push({ level: "warn", text: "The writer ended without closing the trace (killed?). Nothing more will be recorded; all that it had recorded is here." });
  }
  lines.sort((a, b) => bannerLevels.indexOf(a.level) - bannerLevels.indexOf(b.level));
  return lines.filter((l) => l.level === "loss" || l.level === "server" || !gone.has(l.text));
}

/**
 * Creates the banner. Without lines it takes no room.
 * @param {App} app
 * @returns {{element: HTMLElement, update(): void}}
 */
export function createBanner(app) {
  const gone = new Set();
  let open = false;
  let drawn = "";
  const list = make("ul", { class: "lines" });
  const element = make("section", { class: "banner", "aria-label": "About this recording", hidden: true }, list);

  function line(l) {
    const words = bannerWords[l.level];
    const item = make("li", { class: l.level }, make("span", { class: "sign", "aria-hidden": "true" }),
      make("span", { class: "text", role: l.level === "server" ? "alert" : null }, words ? make("span", { class: "unseen", text: words + " " }) : null, shortText(l.text, longestTitle)));
    const f = l.level === "doctor" ? firstFinding(app.model.doctor) : null;
    if (f) {
      item.append(makeButton(f.worst ? "Show the longest wait" : "Show where", () => showWorst(app, f)));
      item.append(makeButton("All findings", () => app.showTab("doctor"), { title: "The Doctor tab (7)" }));
    }
    if (l.act === "retry") item.append(makeButton("Try now", () => { app.model.retry(); app.other?.retry(); }));
    if (l.act === "reload") item.append(makeButton("Load the file as it is now", () => location.reload()));
    if (l.level === "note") {
      const more = makeButton("⋯", () => {
        const whole = item.classList.toggle("whole");
        more.setAttribute("aria-expanded", String(whole));
        app.relayout();
      }, { class: "quiet", title: "Show the whole line", "aria-label": "Show the whole line", "aria-expanded": "false" });
      item.append(more);
    }
    if (l.level !== "loss" && l.level !== "server") {
      item.append(makeButton("×", () => {
        gone.add(l.text);
        update();
      }, { class: "quiet", title: "Dismiss this line", "aria-label": `Dismiss: ${shortText(l.text)}` }));
    }
    return item;
  }

  function update() {
    const lines = bannerLines(app.model.meta, bannerState(app), gone);
    const folds = lines.length > bannerLimit;
    const shown = folds && !open ? lines.slice(0, bannerLimit) : lines;
    const key = JSON.stringify([shown, lines.length, open]);
    if (key === drawn) return;
    drawn = key;
    const items = shown.map(line);
    if (folds) {
      const rest = lines.length - bannerLimit;
      items.push(make("li", { class: "fold" }, makeButton(open ? "fewer" : `${rest} more`, () => {
        open = !open;
        update();
      }, { class: "link", "aria-expanded": String(open) })));
    }
    list.replaceChildren(...items);
    element.hidden = lines.length === 0;
  }

  return { element, update };
}

/** @param {import("../model/model.js").Model} model @returns {ServerState} */
function serverState(model) { return { live: model.home === "live", state: model.state, at: model.answered }; }

/** Returns the state of the server, from the models' sources. @param {App} app */
function bannerState(app) {
  return { ...serverState(app.model), other: app.other ? serverState(app.other) : undefined, problems: app.model.waits?.problems, finding: firstFinding(app.model.doctor) };
}
