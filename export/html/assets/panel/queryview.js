// The Query view: SQL over the trace. The answer's rows lead to their bars, and can be drawn as a track.

import { answerTrack, placeOfAnswer } from "../model/answertrack.js";
import { isShown, make, makeButton, pluralText } from "../view/make.js";
import { setPending } from "./answer.js";
import { copyText, shellFile, shellWord } from "./copy.js";
import { createSortable } from "./sortable.js";

/** @import { App } from "../app.js" */
/** @typedef {import("../model/answertrack.js").QueryAnswer} QueryAnswer */

/** Questions to begin with, by title. @type {[string, string][]} */
export const queryExamples = [
  ["The longest scopes", "SELECT name, goroutine, depth, start_ns, dur_ns FROM scopes\nORDER BY dur_ns DESC LIMIT 50"],
  ["Scopes by name", "SELECT name, count(*) AS n, sum(dur_ns) AS total_ns, max(dur_ns) AS max_ns FROM scopes\nGROUP BY name ORDER BY total_ns DESC"],
  ["Waits of more than 1 ms", "SELECT name, goroutine, start_ns, dur_ns, holder FROM waits\nWHERE dur_ns > 1000000 ORDER BY dur_ns DESC LIMIT 100"],
  ["Scopes by their first argument", "SELECT name, args ->> '0' AS argument, count(*) AS n, max(dur_ns) AS max_ns FROM scopes\nGROUP BY name, argument ORDER BY max_ns DESC LIMIT 50"],
  ["Begun in each 10 ms", "SELECT start_ns / 10000000 * 10000000 AS time_ns, count(*) AS begun FROM scopes\nGROUP BY 1"],
  ["Where goroutines were blocked", "SELECT state, at, count(*) AS n, sum(dur_ns) AS total_ns FROM states\nGROUP BY state, at ORDER BY total_ns DESC LIMIT 50"],
  ["Tables and columns", "SELECT * FROM columns"],
];

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createQuery(app) {
  const { model } = app;
  const text = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "mono", rows: 4, spellcheck: false, autocomplete: "off", "aria-label": "Question in SQL", value: queryExamples[0][1] }));
  const ask = makeButton("Ask", () => void run(), { title: "Answer the question (Ctrl+Enter)" });
  const stop = makeButton("Stop", () => asked?.abort.abort(), { hidden: true });
  const draw = makeButton("Draw as track", () => addTrack(), { hidden: true, title: "Draw the rows above the timeline: start_ns with dur_ns as bars, a time with a number as a plot" });
  const copy = makeButton("Copy the command", () => void copyText(app, command(), "the command"), { title: "The command that answers the question" });
  const examples = make("select", { "aria-label": "Example questions" }, make("option", { value: "", text: "Examples" }), ...queryExamples.map(([title], k) => make("option", { value: String(k), text: title })));
  const note = make("p", { class: "quiet", role: "status" });
  const shown = make("div", { class: "query-answer" });
  const element = make("div", { class: "query" }, make("div", { class: "bar-of-tools" }, ask, stop, examples, draw, copy), text, note, shown);
  /** The question that is being answered. @type {{text: string, abort: AbortController}|null} */
  let asked = null;
  /** The question whose answer is shown; null: none. @type {string|null} */
  let answered = null;
  /** @type {QueryAnswer|null} */
  let answer = null;
  let tracks = 0;

  examples.addEventListener("change", () => {
    if (examples.value === "") return;
    text.value = queryExamples[Number(examples.value)][1];
    examples.value = "";
    look();
    if (model.source.query) void run();
    else text.focus();
  });
  text.addEventListener("input", look);
  text.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (!(e.ctrlKey || e.metaKey) || e.code !== "Enter" && e.code !== "NumpadEnter") return;
    e.preventDefault();
    void run();
  });

  /** Returns the command that answers the question. */
  function command() { return `scopeview sql ${shellFile(model.meta.path || "TRACE")} ${shellWord(text.value.trim())}`; }

  /** Shows the answer only as long as it is that of the question in the field. */
  function look() {
    ask.hidden = !model.source.query;
    stop.hidden = asked === null;
    draw.hidden = answer === null || answered !== text.value || !answer.rows.some((row) => placeOfAnswer(answer?.columns ?? [], row));
    if (!model.source.query) {
      note.textContent = `A page in a file has no engine for questions. This command answers it: ${command()}`;
      return setPending(shown, "");
    }
    setPending(shown, asked?.text === text.value ? "Asking…" : answered === null || answered === text.value ? "" : "The question was changed: Ctrl+Enter asks it.");
  }

  async function run() {
    if (!model.source.query) return;
    asked?.abort.abort();
    const mine = { text: text.value, abort: new AbortController() };
    asked = mine;
    note.textContent = "";
    look();
    let problem = "";
    let got = /** @type {QueryAnswer|null} */ (null);
    try {
      got = await model.source.query(mine.text, mine.abort.signal);
    } catch (err) {
      problem = mine.abort.signal.aborted ? "Stopped." : err.message;
    }
    if (asked !== mine) return;
    asked = null;
    answered = mine.text;
    answer = got;
    if (got?.refused) [problem, got, answer] = [got.refused, null, null];
    note.textContent = got ? sayOf(got) : problem;
    shown.replaceChildren(...got ? [tableOf(got)] : []);
    look();
  }

  /** Describes an answer besides its rows. @param {QueryAnswer} got */
  function sayOf(got) {
    return [`${pluralText(got.rows.length, "row")}${got.more}.`, ...got.notes.map((n) => `Note: ${n}.`), got.problem].filter((s) => s !== "").join(" ");
  }

  /** @param {QueryAnswer} got */
  function tableOf(got) {
    const names = got.columns.map((name, k) => (got.columns.indexOf(name) === k ? name : `${name} ${k + 1}`));
    const leads = got.rows.some((row) => placeOfAnswer(got.columns, row));
    const first = Math.max(0, got.columns.indexOf("name"));
    const columns = names.map((key, k) => {
      const numeric = got.rows.some((r) => typeof r[k] === "number") && !got.rows.some((r) => typeof r[k] === "string");
      return { key, title: key, numeric, pick: leads && k === first, value: (r) => r.row[k], text: (r) => (r.row[k] === null ? (leads && k === first ? "(none)" : "") : String(r.row[k])) };
    });
    const order = { key: "#", title: "#", hint: "The order of the answer", numeric: true, value: (r) => r.n };
    const table = createSortable({
      caption: "Answer", columns: [order, ...columns], by: "#", descending: false, empty: "No rows.", id: (r) => r.n,
      pick(r) {
        const place = placeOfAnswer(got.columns, r.row);
        if (place) app.showAnswerPlace(place);
        else app.announce("the row has no time", true);
      },
    });
    table.set(got.rows.map((row, n) => ({ row, n: n + 1 })));
    return table.element;
  }

  function addTrack() {
    if (!answer) return;
    const track = answerTrack(answer, `q${++tracks}`, `Answer ${tracks}`);
    if (track) app.addAnswerTrack(track);
  }

  function update() {
    if (isShown(element)) look();
  }

  return { element, update };
}
