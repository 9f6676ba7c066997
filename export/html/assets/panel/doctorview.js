// The Doctor tab: the problems of the program, their evidence, and the possible gain of
// fixing them. The heading of a finding leads to its place.

import { setPending } from "./answer.js";
import { isShown, keepFocus, make, makeButton, nameText, pluralText } from "../view/make.js";
import { findingId, showFinding, showWorst, sureText } from "./finding.js";
import { momentText } from "../view/ruler.js";
import { createSortable } from "./sortable.js";
import { stateText } from "../data/states.js";
import { percentText, thousands } from "../view/numbers.js";

/**
 * @typedef {import("../data/meta.js").DoctorReport} Report
 * @typedef {import("../data/meta.js").Finding} Finding
 */
/** @import { App } from "../app.js" */

/**
 * Returns sentences about the verdicts that could not be examined, with the reasons.
 * @param {Report} report
 * @returns {string[]}
 */
export function unexaminedText(report) {
  return (report.unexamined ?? []).map((u) => [`${(u.verdicts ?? []).join(", ")}: ${u.why ?? ""}`, u.how ?? ""].filter((s) => s !== "").join(" "));
}

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createDoctor(app) {
  const head = make("h2");
  const again = makeButton("examine again", () => ask(), { hidden: true, title: "Examine the trace as it is now" });
  const note = make("p", { class: "quiet", role: "status" });
  const findings = make("ol", { class: "findings" });
  const sides = make("div", { class: "sides" });
  const body = make("div", { class: "doctor-columns" }, findings, sides);
  const element = make("div", { class: "doctor" },
    make("div", { class: "bar-of-tools" }, head, again), note, body);
  /** @type {any} */
  let report = null;
  let drawn = "";

  /** @param {Finding} f @param {(app: App, f: Finding) => void} show */
  function jump(f, show) {
    show(app, f);
    draw();
  }

  /** @param {string} name @param {number} share @param {string} text */
  function meter(name, share, text) {
    const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span"));
    /** @type {HTMLElement} */ (bar.firstChild).style.width = `${Math.max(0, Math.min(100, share * 100)).toFixed(1)}%`;
    return make("div", { class: "doctor-number" }, make("dt", { text: name }), make("dd", null, bar, text));
  }

  /** @param {Finding} f @param {number} k */
  function finding(f, k) {
    const id = findingId(f);
    const title = [f.verdict, f.object ? nameText(f.object) : ""].filter((s) => s !== "").join(" · ");
    const item = make("li", { class: id === app.finding ? "chosen" : "" },
      makeButton(title, () => jump(f, showFinding), { class: "link verdict", "data-keep": `${k} ${id}`, title: "Show the place", "aria-current": id === app.finding ? "true" : null }),
      f.worst ? makeButton(`its longest wait, ${app.span(f.worst.to_ns - f.worst.from_ns)}`, () => jump(f, showWorst), { "data-keep": `${k} worst`, title: "Select it" }) : null,
      make("p", { class: "said", text: f.text ?? "" }),
      make("dl", { class: "doctor-numbers" }, meter("share", f.share, percentText(f.share)), typeof f.gain === "number" ? meter("gain", f.gain, `${percentText(f.gain)} less time if fixed`) : meter("gain", 0, "unknown"), meter("confidence", f.confidence, sureText(f.confidence))));
    if (f.scopes?.length) item.append(make("p", { class: "quiet", text: `Scopes: ${f.scopes.map(nameText).join(", ")}` }));
    if (f.evidence?.length) item.append(make("ul", { class: "evidence" }, ...f.evidence.map((/** @type {string} */ text) => make("li", { text }))));
    return item;
  }

  function list(title, texts) {
    if (texts.length === 0) return [];
    return [make("h3", { text: title }), make("ul", { class: "evidence" }, ...texts.map((/** @type {string} */ text) => make("li", { text })))];
  }

  /** @param {string} caption @param {any[]} rows @param {any[]} columns */
  function table(caption, rows, columns) {
    const t = createSortable({ caption, columns, by: columns[1].key, id: (r) => JSON.stringify(r) });
    t.set(rows);
    return t.element;
  }

  /**
   * Returns the sliders for the gain of a shorter scope: only the replayed values.
   * @param {{name: string, gain: number, partly?: number[]}[]} gains
   */
  function sliders(gains) {
    return [make("h3", { text: "What if a scope's own time were shorter" }), make("div", { class: "what-if" }, ...gains.slice(0, 5).flatMap((w) => {
      const result = make("output");
      const slider = make("input", { type: "range", min: "0", max: "100", step: "25", value: "0", "aria-label": `${nameText(w.name)}: reduction of its own time` });
      const showGain = () => {
        const less = Number(slider.value);
        const gain = [0, ...w.partly ?? [], w.gain][less / 25];
        result.textContent = less === 0 ? "unchanged" : `−${less}%: the run takes ${percentText(gain)} less time`;
        slider.setAttribute("aria-valuetext", result.textContent);
      };
      slider.addEventListener("input", showGain);
      showGain();
      return [make("span", { text: nameText(w.name) }), slider, result];
    }))];
  }

  function side() {
    const parts = [];
    if (report.critical_path?.some((/** @type {any} */ p) => p.steps?.length)) {
      parts.push(makeButton("the critical path on the rows", () => app.togglePath(), { "data-keep": "path", title: "Show or hide the critical path, on which the end of the run depended (I)", "aria-pressed": String(app.path) }));
      const { steps = [], all_steps: all = 0, ns = 1 } = report.critical_path[0];
      const drawn = steps.reduce((/** @type {number} */ sum, /** @type {number[]} */ s) => sum + s[2] - s[1], 0);
      if (all > steps.length) parts.push(make("p", { class: "quiet", text: `The longest ${thousands(steps.length)} of its ${thousands(all)} steps are drawn: ${percentText(drawn / ns)} of its time.` }));
    }
    const cores = report.cores?.count ?? 0;
    if (report.speedup?.length) {
      const most = Math.max(...report.speedup.map((s) => s.cores), 1e-9);
      parts.push(table(`Where the time of ${cores || "all"} cores went`, report.speedup, [
        { key: "name", title: "used for", value: (r) => r.name },
        { key: "cores", title: "cores", numeric: true, value: (r) => r.cores, text: (r) => r.cores.toFixed(2), share: (r) => r.cores / most, bar: "total" }]));
    }
    if (report.parallelism?.length) {
      parts.push(table("Goroutines that ran at once", report.parallelism.map((/** @type {number} */ share, /** @type {number} */ n) => ({ n, share })), [
        { key: "n", title: "ran", value: (r) => r.n },
        { key: "share", title: "of the time", numeric: true, value: (r) => r.share, text: (r) => percentText(r.share), share: (r) => r.share, bar: "total" }]));
    }
    for (const path of (report.critical_path ?? []).slice(0, 4)) {
      parts.push(table(`Critical path of ${path.of ? `${nameText(path.of)}${path.count > 1 ? `, ${path.count} times` : ""}` : "the run"}, ${app.span(path.ns)}`, path.parts ?? [], [
        { key: "name", title: "scope", value: (r) => r.name || "(no scope)" },
        { key: "ns", title: "time", numeric: true, value: (r) => r.ns, text: (r) => app.span(r.ns), share: (r) => r.share, bar: "total" },
        { key: "state", title: "state", value: (r) => stateText(r.state) }]));
      const gains = (path.what_if ?? []).filter((w) => w.gain > 0.005);
      if (gains.some((w) => w.partly)) parts.push(...sliders(gains));
      else if (gains.length) parts.push(...list("What if a scope took no time", gains.slice(0, 5).map((w) => `${nameText(w.name)}: −${percentText(w.gain)}`)));
    }
    return [...parts, ...list("Not examined", unexaminedText(report)), ...list("Notes", report.notes ?? [])];
  }

  function draw() {
    const key = JSON.stringify([app.finding, app.wall, app.path]);
    if (!report || key === drawn) return;
    drawn = key;
    const all = report.findings ?? [];
    head.textContent = all.length === 0 ? "Nothing found" : pluralText(all.length, "finding");
    const first = [report.end, report.starved].map((x) => (x ? `${x.text} ` : "")).join("");
    note.textContent = first + (report.error ?? `Examined: ${momentText(app, report.from_ns ?? 0, 1e6)} – ${momentText(app, report.to_ns ?? app.model.end, 1e6)}.${all.length === 0 ? " No finding means that nothing stands out or that data are missing: see what was not examined." : " Largest effect on the end first."}`);
    keepFocus(element, () => {
      findings.replaceChildren(...all.map(finding));
      sides.replaceChildren(...side());
    });
    const chosen = all.find((f) => findingId(f) === app.finding);
    if (!chosen || !app.showFindingPlace) return;
    app.chooseFinding(app.finding);
    requestAnimationFrame(() => jump(chosen, showFinding)); // after the layout of the page
  }

  /** @param {any} r */
  function take(r) {
    report = r;
    drawn = "";
    draw();
  }

  function ask() {
    again.disabled = true;
    setPending(body, "Examining…");
    note.textContent = "";
    app.model.askDoctor();
  }

  function update() {
    if (!isShown(element)) return;
    const { model } = app;
    again.hidden = !model.source.doctor;
    again.disabled = model.doctorAsked;
    setPending(body, model.doctorAsked ? "Examining…" : "");
    if (model.doctorAsked) {
      head.textContent = "Doctor"; // and not the number of the findings before
      note.textContent = drawn = "";
      return;
    }
    if (model.doctor && model.doctor !== report) return take(model.doctor);
    if (report) draw();
    if (model.doctorProblem) note.textContent = model.doctorProblem;
    else if (report) return;
    else if (model.source.doctor) {
      head.textContent = "Doctor";
      ask();
    } else {
      head.textContent = "Not examined";
      note.textContent = "This page was made without the doctor's findings: scopeview doctor lists them.";
    }
  }

  return { element, update };
}
