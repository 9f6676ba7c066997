// The pop-up with the main facts of the item under the pointer.

import { argumentsText } from "../data/args.js";
import { lowerBound } from "../data/bisect.js";
import { shortText } from "../data/names.js";
import { shortPlace } from "../data/places.js";
import { extentOf } from "../model/refs.js";
import { Kind, Flag, Quality } from "../data/kinds.js";
import { densityFacts } from "./density.js";
import { make } from "./make.js";
import { parent, selfTime } from "../model/relate.js";
import { heldFacts } from "./procs.js";
import { digits3, thousands } from "./numbers.js";
import { waitOfItem, waitOfState } from "../model/explain.js";
import { heldByText, lockFacts, lockNow, lockText, notLoaded, popupFrames, sampleFacts, stateFacts, stateTitle } from "./waitfacts.js";
import { lockArgs } from "../model/waitlinks.js";

/** @import { App } from "../app.js" */

const popupWords = { [Kind.event]: "event", [Kind.pending]: "pending event", [Kind.wait]: "wait for", [Kind.hold]: "holds" };

/** Describes the CPU time of a scope. @param {App} app @param {number} cpu ns, NaN unknown @param {number} quality */
function cpuText(app, cpu, quality) {
  switch (quality) {
    case Quality.exact:
      return `${app.span(cpu)} (exact)`;
    case Quality.likely:
      return `${app.span(cpu)} (likely)`;
    case Quality.atMost:
      return `at most ${app.span(cpu)}`;
  }
  return "unknown";
}

/** @param {App} app */
export function createPopup(app) {
  const element = /** @type {HTMLElement} */ (document.getElementById("popup"));

  /**
   * @param {import("./rowsview.js").Hit|null} hit
   * @param {number} x @param {number} y in the window
   * @param {number} time under the pointer
   */
  function show(hit, x, y, time) {
    const content = hit ? describe(hit, time) : null;
    if (!content) {
      element.hidden = true;
      return;
    }
    element.replaceChildren(...content);
    element.hidden = false;
    const box = element.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
    const top = y + 16 + box.height > innerHeight ? y - 12 - box.height : y + 16;
    element.style.left = `${Math.max(2, left)}px`;
    element.style.top = `${Math.max(2, top)}px`;
  }

  /** @param {string} title @param {[string, string|null][]} facts */
  function lines(title, facts) {
    const list = make("dl");
    for (const [k, v] of facts) if (v !== null) list.append(make("dt", { text: shortText(k) }), make("dd", { text: v.split("\n").map((line) => shortText(line)).join("\n") }));
    return [make("div", { class: "head", text: shortText(title) }), list];
  }

  /** @param {import("./rowsview.js").Hit} hit @param {number} time */
  function describe(hit, time) {
    const { model } = app;
    const firstUsed = (/** @type {number} */ name) => {
      const place = model.meta.places.get(name);
      return place ? shortPlace(place) : null;
    };
    if (hit.strip.kind === "series") {
      const s = hit.strip.series;
      const k = lowerBound(s.time, time + 1) - 1;
      return k < 0 ? null : lines(hit.strip.title, [["value", String(s.value[k])], ["since", app.time(s.time[k])]]);
    }
    if (hit.strip.kind === "answer") return hit.answer ? lines(hit.answer.name || hit.strip.title, [["start", app.time(hit.answer.start)], ["duration", app.span(hit.answer.dur)], ["goroutine", hit.answer.goroutine ? String(hit.answer.goroutine) : null], ["", "click to go to its bar"]]) : null;
    if (hit.strip.kind === "group") return lines(hit.strip.title, densityFacts(app, hit.strip, time));
    if (hit.strip.kind === "lock") {
      return lines(hit.strip.title, [...lockNow(app, hit.strip.lock, time, (3 * (app.view.to - app.view.from)) / app.rows.width()), ...lockFacts(app, hit.strip.lock), ["first used at", firstUsed(hit.strip.lock.nameId)]]);
    }
    if (hit.sample !== undefined) return hit.sample < 0 ? null : lines(...sampleFacts(app, hit.sample));
    if (hit.awaited) return lines(hit.strip.title, [["state", notLoaded]]);
    if (hit.held) return lines(...heldFacts(app, hit.strip, hit.held));
    if (hit.state) {
      const { set } = hit.strip.states;
      const awaited = hit.state.n === 1 ? waitOfState(model, hit.strip.row.key, set, hit.state.i) : null;
      return lines(stateTitle(set, hit.state), [["held by", awaited?.held && awaited.object ? heldByText(app, awaited) : null], ...stateFacts(app, set, hit.state, popupFrames), ["on", hit.strip.title]]);
    }
    if (hit.batch === undefined || hit.i === undefined) return null;
    const { batch, i } = hit;
    const name = model.name(batch.name[i]) || "(no name)";
    if (hit.merged) {
      let n = 0;
      for (let k = i; k < (hit.j ?? i + 1); k++) n += batch.count ? batch.count[k] : 1;
      const last = (hit.j ?? i + 1) - 1;
      const stop = batch.start[last] + batch.dur[last];
      return lines(`${thousands(n)} scopes, each too short to show`, [["longest name", name], ["from", app.time(batch.start[i])], ["over", app.span(stop - batch.start[i])], ["", model.details.loading ? "they are being loaded" : "zoom in to see them"]]);
    }
    const ref = { batch, i };
    const { start, end } = extentOf(ref);
    const open = (batch.flags[i] & Flag.unended) !== 0;
    const kind = batch.kind[i];
    const lock = lockArgs(model, batch, i);
    const args = lock ? "" : argumentsText(model.argsText(batch, i));
    if (kind === Kind.event || kind === Kind.pending) {
      return lines(`${popupWords[kind]} ${name}`, [["arguments", args || null], ["at", app.time(start)], ["row", hit.strip.title], ["first used at", firstUsed(batch.name[i])]]);
    }
    const wait = waitOfItem(model, ref);
    const words = /** @type {Record<number, string>} */ (popupWords)[kind];
    const title = kind === Kind.wait || kind === Kind.hold ? `${words} ${name}` : name;
    const around = parent(model, ref);
    const self = selfTime(model, ref);
    const dur = end - start;
    const across = (batch.flags[i] & Flag.across) !== 0;
    const ratio = batch.quality[i] !== Quality.unknown && dur > 0 ? `, ${batch.quality[i] === Quality.atMost ? "≤ " : ""}${digits3(batch.cpu[i] / dur)} of it` : "";
    return lines(title, [
      ["held by", wait?.held ? heldByText(app, wait) : null],
      ["lock", lock ? lockText(lock) : null],
      ["arguments", args || null],
      ["start", app.time(start)],
      ["duration", across ? "unknown: the clock stepped" : batch.flags[i] & Flag.left ? `never ended; its goroutine ended after ${app.span(dur)}` : open ? `not ended; ${app.span(dur)} so far` : `${lock?.atLeast ? "≥ " : ""}${app.span(dur)}`],
      ["self", self === null || !Number.isFinite(self) || kind === Kind.wait || kind === Kind.hold ? null : app.span(self)],
      ["CPU", kind === Kind.wait || kind === Kind.hold ? null : cpuText(app, batch.cpu[i], batch.quality[i]) + ratio],
      ["on", `${hit.strip.title}${batch.thread[i] && app.by !== "thread" ? `, thread ${batch.thread[i]}` : ""}${app.by === "thread" ? `, goroutine ${model.place(ref).key || "unknown"}` : ""}`],
      ["in", around ? model.name(around.batch.name[around.i]) : null],
      ["first used at", firstUsed(batch.name[i])],
    ]);
  }
  return { element, show, hide() { element.hidden = true; } };
}
