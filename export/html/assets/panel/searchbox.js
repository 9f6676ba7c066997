// The search box with its count of hits and its buttons. Rows with matching names follow the
// last hit, and a button leads to them.

import { rowId } from "../view/layout.js";
import { makeButton, pluralText } from "../view/make.js";
import { thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/** @param {App} app */
export function createSearchBox(app) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("search"));
  const input = /** @type {HTMLInputElement} */ (document.getElementById("search-text"));
  const count = /** @type {HTMLElement} */ (document.getElementById("search-count"));
  const buttons = { "-1": /** @type {HTMLElement} */ (document.getElementById("search-prev")), 1: /** @type {HTMLElement} */ (document.getElementById("search-next")) };
  const rowButton = makeButton("", () => lookAt(rows(), (rowAt + 1) % rows().length), { hidden: true, title: "Go to the rows whose names contain the text" });
  const requestButton = makeButton("request", () => app.showTab(lookAtRequest()), { hidden: true, title: "Show the request with this trace id" });
  count.before(requestButton, rowButton);
  /** The trace id whose prefix is the searched text; "": none. */
  let trace = "";
  let searched = "";
  let version = -1;
  let timer = 0;
  /** The index of the current row among the found ones; -1: none, a hit is current. */
  let rowAt = -1;

  /** Returns the found rows in their order on the screen. */
  function rows() {
    const shown = app.arranged.flatMap((a) => (a.kind === "group" ? a.rows : [a.row]));
    return app.hits ? app.hits.rowsOf(shown) : [];
  }

  /** Searches for a request if the text may be the prefix of its id. */
  async function findRequest() {
    const text = searched.toLowerCase();
    trace = /^[0-9a-f]{8,32}$/.test(text) ? await app.model.requests.find(text) : "";
    if (searched.toLowerCase() === text) requestButton.hidden = trace === "";
  }

  function lookAtRequest() {
    if (app.selection) app.select(null); // otherwise the tab would show the request of the selection
    app.showRequest(trace);
    return /** @type {const} */ ("request");
  }

  /** Shows the number of hits and the current one. */
  function showCount() {
    const { hits, selection: s } = app;
    const n = hits?.count ?? 0;
    const found = rows().length;
    if (s || rowAt >= found) rowAt = -1;
    rowButton.hidden = found === 0;
    rowButton.textContent = rowAt < 0 ? pluralText(found, "row") : `row ${rowAt + 1} of ${found}`;
    const at = hits && s && isHit(s) ? `${thousands(hits.placeOf(s) + 1)} of ` : "";
    count.textContent = hits ? `${at}${hits.exact ? "" : "≥ "}${at ? thousands(n) : pluralText(n, "hit")}` : "";
    for (const b of Object.values(buttons)) b.hidden = n + found === 0;
  }

  /** @param {import("../app.js").Selection|null} s */
  function isHit(s) { return s !== null && app.hits?.has(s.batch, s.i, s.j) === true; }

  /** Shows one of the found rows. @param {import("../model/rowset.js").Row[]} found @param {number} place */
  function lookAt(found, place) {
    const row = found[place];
    app.rows.reveal(row.key, 0); // which opens its group
    app.showRow(rowId(row));
    app.announce(`row ${row.title}`);
    rowAt = place;
    showCount();
    return true;
  }

  function run() {
    const text = input.value.trim();
    if (text === searched && version === app.model.version) return;
    if (text !== searched) rowAt = -1;
    searched = text;
    version = app.model.version;
    app.find(text);
    void findRequest();
    showCount();
  }

  /** Goes to the next or previous row or hit, starting from the current one or the view. @param {1|-1} dir */
  function step(dir) {
    run();
    if (!app.hits) return false;
    if (app.hits.count === 0 && trace !== "") {
      app.showTab(lookAtRequest());
      return true;
    }
    const found = rows();
    const atHit = isHit(app.selection);
    if (rowAt >= 0 && found[rowAt + dir]) return lookAt(found, rowAt + dir);
    const end = dir > 0 ? -1 : Infinity;
    const at = atHit && app.selection || (rowAt >= 0 ? end : dir > 0 ? app.aim.from - 1 : app.aim.to + 1);
    let ref = app.hits.nextIn(app.model.details.shown, at, dir) ?? app.hits.next(at, dir);
    if (!ref && found.length > 0 && (atHit || app.hits.count === 0)) return lookAt(found, dir > 0 ? 0 : found.length - 1);
    ref ??= app.hits.next(end, dir);
    if (ref) app.select(ref, { reveal: true });
    else app.announce("no hits");
    return true;
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (input.value.startsWith(">")) {
      app.palette.open(input.value.slice(1));
      input.value = searched;
      return;
    }
    timer = window.setTimeout(run, 120);
  });
  input.addEventListener("keydown", (e) => {
    if (e.code === "Enter" || e.code === "NumpadEnter") {
      e.preventDefault();
      step(e.shiftKey ? -1 : 1);
    }
  });
  form.addEventListener("submit", (e) => e.preventDefault());
  buttons[1].addEventListener("click", () => step(1));
  buttons[-1].addEventListener("click", () => step(-1));
  app.on("model", () => { if (searched) run(); });
  for (const event of /** @type {const} */ (["selection", "by"])) app.on(event, () => { if (searched) showCount(); });
  return {
    focus() {
      input.focus();
      input.select();
    },
    /** @param {string} text */
    set(text) {
      input.value = text;
      run();
    },
    text() { return searched; },
    step,
  };
}
