// The list of a directory's traces: it is fetched repeatedly, searched here, and the ticked traces are compared, or
// joined to one timeline. Everything in it comes from files that others may have named: it becomes text only.

import { bytes, span } from "../../export/html/assets/view/numbers.js";

/**
 * @typedef {{name: string, count: number, total_ns: number, p99_ns: number}} Slow
 * @typedef {{number: number, name: string, start: string|null, bytes: number, state: string, program: string, args: string, pid: number, host: string, module: string, build: string, build_id: string, slow: Slow[]|null, slow_of: string, why: string}} Trace
 * @typedef {{dir: string, traces: Trace[], unseen: boolean}} List
 * @typedef {{trace: Trace, text: string, words: string, row: HTMLTableRowElement|null}} Line
 */

/** Initial number of rows: with more, a browser takes seconds. */
const rowsFirst = 300;
/** Time between fetches, ms: while slow names are being computed, and otherwise. */
const every = { soon: 1000, later: 5000 };

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const searchBox = /** @type {HTMLInputElement} */ (byId("search"));
const compareButton = /** @type {HTMLButtonElement} */ (byId("compare"));
const joinButton = /** @type {HTMLButtonElement} */ (byId("join"));
const body = byId("traces");

/** @type {List} */
let list = { dir: "", traces: [], unseen: false };
/** @type {Map<string, Line>} */
let lines = new Map();
/** @type {Set<number>} */
const ticked = new Set();
let limit = rowsFirst;
/** Time of the server's last answer, ms. */
let answered = Date.now();
/** The server's identity: another one may get its port. */
let server = "";
/** Makes the list be fetched at once. */
let retry = () => {};
let tag = "";

/** A moment in the browser's zone, as 2026-11-27 10:00:00. @param {string|null} iso */
function timeText(iso) {
  if (!iso) return "";
  const d = new Date(iso);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace("T", " ");
}

/** @type {Record<string, string>} */
const states = { running: "running", gone: "ended without Stop", closed: "closed", unknown: "not closed" };
const stateText = (/** @type {Trace} */ t) => (t.why ? "" : states[t.state] ?? t.state);
const programText = (/** @type {Trace} */ t) => t.program.slice(t.program.lastIndexOf("/") + 1);
/** A build without a version is identified by the last part of its id, the hash of its content. @param {Trace} t */
function buildText(t) {
  if (t.build && t.build !== "(devel)") return t.build.replace(/\b([0-9a-f]{12})[0-9a-f]{28}\b/, "$1");
  return `${t.build} ${t.build_id.slice(t.build_id.lastIndexOf("/") + 1).slice(0, 8)}`.trim();
}

/** The text that a search for key:word examines. @type {Record<string, (t: Trace) => string>} */
const columns = {
  trace: (t) => t.name, program: (t) => `${t.program} ${t.args} ${t.module}`, build: (t) => `${t.build} ${t.build_id}`,
  host: (t) => t.host, pid: (t) => (t.pid ? String(t.pid) : ""), state: stateText,
  slow: (t) => (t.slow ?? []).map((s) => s.name).join("\n"), start: (t) => timeText(t.start),
};

/** The time of since: and until:, in ms; NaN if invalid. @param {string} word */
function timeOf(word) {
  const back = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(word);
  if (back) return Date.now() - Number(back[1]) * { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 }[/** @type {"s"|"m"|"h"|"d"} */ (back[2])];
  return new Date(/^\d{4}-\d{2}-\d{2}$/.test(word) ? `${word}T00:00` : word).getTime();
}

/** Returns a function that tests whether a line matches. @param {string} query @returns {(line: Line) => boolean} */
function searchFor(query) {
  const tests = query.toLowerCase().split(/\s+/).filter((w) => w !== "").map((word) => {
    const [, key, value] = /^([a-z]+):(.*)$/.exec(word) ?? [];
    if (key === "since" || key === "until") {
      const at = timeOf(value.toUpperCase().replace(/([SMHD])$/, (u) => u.toLowerCase()));
      return (/** @type {Line} */ { trace: { start } }) => Number.isNaN(at) || (start !== null && (key === "since" ? Date.parse(start) >= at : Date.parse(start) <= at));
    }
    if (key === "pid") return (/** @type {Line} */ { trace }) => columns.pid(trace) === value;
    if (Object.hasOwn(columns, key ?? "")) return (/** @type {Line} */ { trace }) => columns[key](trace).toLowerCase().includes(value);
    return (/** @type {Line} */ line) => line.words.includes(word);
  });
  return (line) => tests.every((test) => test(line));
}

/** @param {string} tagName @param {string} text @param {Record<string, string>} attributes */
function make(tagName, text = "", attributes = {}) {
  const e = document.createElement(tagName);
  e.textContent = text;
  for (const [k, v] of Object.entries(attributes)) if (v) e.setAttribute(k, v);
  return e;
}

/** @param {Trace} t */
function slowText(t) {
  if (!t.slow?.length) return { pending: "…", failed: "can't be read to its end" }[t.slow_of] ?? "";
  return t.slow.map((s) => `${s.name} ${span(s.p99_ns)}, ${span(s.total_ns)}`).join("; ") + ({ begin: " (of its first part)", failed: " (of its readable part)" }[t.slow_of] ?? "");
}

/** @param {Trace} t @returns {HTMLTableRowElement} */
function makeRow(t) {
  const row = /** @type {HTMLTableRowElement} */ (make("tr"));
  row.dataset.name = t.name;
  const tick = make("td"), name = make("td");
  row.append(tick, name);
  if (t.why) {
    name.textContent = t.name;
    row.append(make("td", t.why, { colspan: "7", class: "why" }));
    return row;
  }
  const box = /** @type {HTMLInputElement} */ (make("input", "", { type: "checkbox", "aria-label": `Tick ${t.name}` }));
  box.checked = ticked.has(t.number);
  row.classList.toggle("ticked", box.checked);
  box.addEventListener("change", () => {
    if (box.checked) ticked.add(t.number);
    else ticked.delete(t.number);
    row.classList.toggle("ticked", box.checked);
    showTicks();
  });
  tick.append(box);
  name.append(make("a", t.name, { href: `/t/${t.number}/` }));
  row.append(
    make("td", `${programText(t)} ${t.pid || ""}`, { title: `${t.program}\n${t.args}`.trim() }),
    make("td", buildText(t), { title: [t.module, t.build, t.build_id && `build id ${t.build_id}`].filter(Boolean).join("\n") }),
    make("td", t.host), make("td", timeText(t.start), { class: "when" }), make("td", bytes(t.bytes), { class: "number" }),
    make("td", stateText(t), { class: t.state }), make("td", slowText(t)));
  return row;
}

/** Shows the rows that match; it keeps the elements of unchanged rows. */
function show() {
  const found = [...lines.values()].filter(searchFor(searchBox.value));
  const rows = found.slice(0, limit).map((line) => (line.row ??= makeRow(line.trace)));
  if (rows.length !== body.children.length || rows.some((row, i) => row !== body.children[i])) {
    const active = document.activeElement;
    const key = active?.closest("tr")?.dataset.name;
    body.replaceChildren(...rows);
    // The element with the focus may have been replaced.
    const again = active?.isConnected ? active : key && lines.get(key)?.row?.querySelector(active?.tagName.toLowerCase() ?? "a");
    if (again instanceof HTMLElement && again !== document.body) again.focus({ preventScroll: true });
  }
  /** @type {HTMLElement} */ (body.parentElement).hidden = found.length === 0;
  const more = byId("more");
  more.hidden = found.length <= limit;
  /** @type {HTMLElement} */ (more.firstElementChild).textContent = `Show all ${found.length}`;
  const empty = byId("empty");
  empty.hidden = found.length > 0 || tag === "";
  empty.textContent = lines.size > 0 ? "No trace matches." : `There are no traces in this directory. A program that imports scope writes one here with scope.Start(${JSON.stringify(list.dir)}).`;
  const all = `${lines.size} ${lines.size === 1 ? "trace" : "traces"}`;
  const unread = list.traces.filter((t) => t.why).length;
  status = [found.length < lines.size ? `${found.length} of ${all}` : all, unread ? `${unread} can't be read` : "", list.unseen ? "the directory has more files than the list examines" : ""].filter(Boolean).join("; ");
  showTicks();
}

let status = "";

function showTicks() {
  compareButton.disabled = ticked.size !== 2;
  joinButton.disabled = ticked.size < 2;
  byId("untick").hidden = ticked.size === 0;
  const text = status + (ticked.size ? `; ${ticked.size} ticked` : "");
  if (byId("status").textContent !== text) byId("status").textContent = text;
}

function untick() {
  ticked.clear();
  for (const line of lines.values()) {
    const box = line.row?.querySelector("input");
    if (box) box.checked = false;
    line.row?.classList.remove("ticked");
  }
  showTicks();
}

/** The numbers of the ticked traces, the earliest first. */
function inOrder() {
  const start = (/** @type {Trace} */ t) => Date.parse(t.start ?? "");
  return list.traces.filter((t) => !t.why && ticked.has(t.number)).sort((a, b) => start(a) - start(b)).map((t) => t.number);
}

function compare() {
  const [a, b] = inOrder();
  if (ticked.size === 2 && b !== undefined) location.assign(`/t/${a}/?with=${b}`);
}

function join() {
  if (ticked.size >= 2) location.assign(`/joined?${inOrder().map((n) => `t=${n}`).join("&")}`);
}

/** Replaces the list. @param {List} now */
function take(now) {
  list = now;
  const was = lines;
  lines = new Map();
  for (const trace of now.traces) {
    const text = JSON.stringify(trace);
    const old = was.get(trace.name);
    const line = old?.text === text ? old : { trace, text, words: Object.values(columns).map((of) => of(trace)).concat(trace.why).join("\n").toLowerCase(), row: null };
    if (old?.row && line !== old) line.row = makeRow(trace);
    lines.set(trace.name, line);
  }
  for (const n of ticked) if (!now.traces.some((t) => t.number === n)) ticked.delete(n);
  byId("title").textContent = `Traces in ${now.dir}`;
  document.title = `Traces in ${now.dir} – scopeview`;
  show();
}

/** Shows why the list is not up to date; "": it is. @param {string} text */
function showTrouble(text) {
  const line = byId("server");
  const message = /** @type {HTMLElement} */ (line.firstElementChild);
  if (message.textContent !== text) message.textContent = text;
  line.hidden = text === "";
}

const shownState = () => `The list shows the state at ${new Date(answered).toTimeString().slice(0, 8)}.`;

/** Fetches the list repeatedly, unless it is unchanged. */
async function keepFetching() {
  for (;;) {
    let wait = every.later;
    try {
      const answer = document.hidden ? null : await fetch("/list.json", tag ? { headers: { "If-None-Match": tag } } : {});
      const answers = answer?.headers.get("Scopeview") ?? "";
      if (answer && server === "") server = answers;
      if (answer && answers !== server) throw new Error("another server answers");
      if (answer?.ok) {
        const now = await answer.json();
        tag = answer.headers.get("ETag") ?? "-";
        take(now);
      } else if (answer && answer.status !== 304) {
        showTrouble(`${(await answer.text()).trim()} ${shownState()}`);
      }
      if (answer?.ok || answer?.status === 304) {
        answered = Date.now();
        showTrouble("");
      }
      if (list.traces.some((t) => t.slow_of === "pending" && !t.why)) wait = every.soon;
    } catch {
      showTrouble(`The connection to scopeview serve is lost; trying again. ${shownState()} If the server was restarted, open the address that it prints.`);
    }
    await new Promise((done) => {
      retry = () => done(undefined);
      setTimeout(done, wait);
    });
  }
}

searchBox.value = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
searchBox.addEventListener("input", () => {
  limit = rowsFirst;
  history.replaceState(null, "", searchBox.value ? `#${new URLSearchParams({ q: searchBox.value })}` : location.pathname);
  show();
});
byId("more").addEventListener("click", () => { limit = Infinity; show(); });
compareButton.addEventListener("click", compare);
joinButton.addEventListener("click", join);
byId("server").querySelector("button")?.addEventListener("click", () => retry());
byId("untick").addEventListener("click", untick);
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey) return;
  if (e.target === searchBox) {
    if (e.key === "Enter") /** @type {HTMLElement|null} */ (body.querySelector("a"))?.click();
    if (e.key === "ArrowDown") /** @type {HTMLElement|null} */ (body.querySelector("input"))?.focus();
    return;
  }
  if (e.key === "/") { e.preventDefault(); searchBox.focus(); }
  if (e.key === "c") compare();
  if (e.key === "t") join();
  if (e.key === "Escape") untick();
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    const row = document.activeElement?.closest("tr");
    const to = e.key === "ArrowDown" ? row?.nextElementSibling : row?.previousElementSibling;
    if (to) { e.preventDefault(); /** @type {HTMLElement|null} */ (to.querySelector("input, a"))?.focus(); }
  }
});
keepFetching();
