// The lines at the top that tell what the picture lacks: losses, what was never
// ended, what the recording cost, a writer that is gone. Losses stay; the rest may
// be put away.

import { longestTitle, shortText } from "../data/names.js";
import { firstFinding, showWorst } from "./finding.js";
import { make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** How loud a line is; the louder come first. */
const bannerLevels = ["loss", "doctor", "warn", "note", "live"];

/** What a level is called for those who don't see its colour. */
const bannerWords = { loss: "Lost:", doctor: "The doctor:", warn: "Note:", note: "", live: "" };

/** Lines beyond this many fold. */
const bannerLimit = 3;

/**
 * The lines to be shown: the trace's, what the doctor is sure of, then how it stands with the
 * writer and the server; those put away are left out, losses excepted.
 * @param {{banner?: {level:string, text:string}[], writer?: string}} meta
 * @param {{live?: boolean, lost?: boolean, problems?: string[], finding?: import("../data/meta.js").Finding|null}} state
 * @param {Set<string>} gone texts that were put away
 * @returns {{level:string, text:string}[]}
 */
export function bannerLines(meta, state, gone) {
  const lines = (meta.banner || []).map((b) => ({ level: bannerLevels.includes(b.level) ? b.level : "note", text: b.text }));
  for (const text of state.problems ?? []) lines.push({ level: "warn", text });
  if (state.finding?.text) lines.push({ level: "doctor", text: state.finding.text });
  if (state.live && state.lost) {
    lines.push({ level: "warn", text: "The connection to scopeview serve is lost; trying again. What is here stays." });
  } else if (state.live && meta.writer === "running") {
    lines.push({ level: "live", text: "Recording: new scopes appear within a second." });
  }
  if (meta.writer === "gone" && !lines.some((l) => /writer|killed/i.test(l.text))) {
    lines.push({ level: "warn", text: "The writer is gone (killed?): nothing new will come. What it had recorded is all here." });
  }
  lines.sort((a, b) => bannerLevels.indexOf(a.level) - bannerLevels.indexOf(b.level));
  return lines.filter((l) => l.level === "loss" || !gone.has(l.text));
}

/**
 * The banner. It is empty, and takes no room, when there is nothing to tell.
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
      make("span", { class: "text" }, words ? make("span", { class: "unseen", text: words + " " }) : null, shortText(l.text, longestTitle)));
    const f = l.level === "doctor" ? firstFinding(app.model.doctor) : null;
    if (f) {
      item.append(makeButton(f.worst ? "Show the longest wait" : "Show where", () => showWorst(app, f)));
      item.append(makeButton("All findings", () => app.showTab("doctor"), { title: "The Doctor tab (7)" }));
    }
    if (l.level === "note") {
      const more = makeButton("⋯", () => {
        const whole = item.classList.toggle("whole");
        more.setAttribute("aria-expanded", String(whole));
        app.relayout();
      }, { class: "quiet", title: "The whole line", "aria-label": "The whole line", "aria-expanded": "false" });
      item.append(more);
    }
    if (l.level !== "loss") {
      item.append(makeButton("×", () => {
        gone.add(l.text);
        update();
      }, { class: "quiet", title: "Put this line away", "aria-label": `Put away: ${shortText(l.text)}` }));
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

/** How it stands with the server, as far as the model's source says. */
function bannerState(app) {
  return { live: app.model.home === "live", lost: Boolean(app.model.lost), problems: app.model.waits?.problems, finding: firstFinding(app.model.doctor) };
}
