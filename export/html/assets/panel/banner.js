// The lines at the top that no view may hide: a server that does not answer, a file that changed, losses. What else there
// is to know of the recording are the remarks of the About tab.

import { longestTitle, shortText } from "../data/names.js";
import { make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** The levels of the banner's lines, the most important first. */
const bannerLevels = ["server", "loss"];

/** The spoken names of the levels, for screen readers. */
const bannerWords = { server: "", loss: "Lost:" };

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
 * Returns the lines of the banner.
 * @param {{banner?: {level:string, text:string}[]}} meta
 * @param {ServerState & {other?: ServerState}} state
 * @returns {Line[]}
 */
export function bannerLines(meta, state) {
  const lines = [...(meta.banner ?? []).filter((b) => bannerLevels.includes(b.level)), ...serverLines(state)];
  // If neither model's server answers, one line is sufficient.
  if (state.other && !(state.state === "lost" && state.other.state === "lost")) lines.push(...serverLines(state.other, "B: "));
  return lines.sort((a, b) => bannerLevels.indexOf(a.level) - bannerLevels.indexOf(b.level));
}

/**
 * Returns the remarks on the recording, the more important first.
 * @param {{banner?: {level:string, text:string}[], writer?: string}} meta @param {string[]} problems of the states
 * @returns {string[]}
 */
export function remarks(meta, problems) {
  const lines = (meta.banner ?? []).filter((b) => !bannerLevels.includes(b.level)).sort((a, b) => Number(b.level === "warn") - Number(a.level === "warn")).map((b) => b.text);
  if (meta.writer === "gone" && !lines.some((text) => /writer|killed/i.test(text))) {
    lines.unshift("The writer ended without closing the trace (killed?). Nothing more will be recorded; all that it had recorded is here.");
  }
  return [...new Set([...lines, ...problems])];
}

/**
 * Creates the banner. Without lines it takes no room.
 * @param {App} app
 * @returns {{element: HTMLElement, update(): void}}
 */
export function createBanner(app) {
  let drawn = "";
  const list = make("ul", { class: "lines" });
  const element = make("section", { class: "banner", "aria-label": "About this recording", hidden: true }, list);

  /** @param {Line} l */
  function line(l) {
    const words = bannerWords[l.level];
    const item = make("li", { class: l.level }, make("span", { class: "sign", "aria-hidden": "true" }),
      make("span", { class: "text", role: l.level === "server" ? "alert" : null }, words ? make("span", { class: "unseen", text: words + " " }) : null, shortText(l.text, longestTitle)));
    if (l.act === "retry") item.append(makeButton("Try now", () => { app.model.retry(); app.other?.retry(); }));
    if (l.act === "reload") item.append(makeButton("Load the file as it is now", () => location.reload()));
    return item;
  }

  function update() {
    const lines = bannerLines(app.model.meta, { ...serverState(app.model), other: app.other ? serverState(app.other) : undefined });
    const key = JSON.stringify(lines);
    if (key === drawn) return;
    drawn = key;
    list.replaceChildren(...lines.map(line));
    element.hidden = lines.length === 0;
  }

  return { element, update };
}

/** @param {import("../model/model.js").Model} model @returns {ServerState} */
function serverState(model) { return { live: model.home === "live", state: model.state, at: model.answered }; }
