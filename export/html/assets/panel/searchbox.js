// The box for searching, with its count of hits and its buttons.

import { thousands } from "../view/time.js";

/** @import { App } from "../app.js" */

/** @param {App} app */
export function createSearchBox(app) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("search"));
  const input = /** @type {HTMLInputElement} */ (document.getElementById("search-text"));
  const count = /** @type {HTMLElement} */ (document.getElementById("search-count"));
  const buttons = { "-1": /** @type {HTMLElement} */ (document.getElementById("search-prev")), 1: /** @type {HTMLElement} */ (document.getElementById("search-next")) };
  let searched = "";
  let version = -1;
  let timer = 0;

  function run() {
    const text = input.value.trim();
    if (text === searched && version === app.model.version) return;
    searched = text;
    version = app.model.version;
    app.find(text);
    const n = app.hits?.count ?? 0;
    count.textContent = app.hits ? `${app.hits.exact === false ? "≥ " : ""}${thousands(n)} ${n === 1 ? "hit" : "hits"}` : "";
    for (const b of Object.values(buttons)) b.hidden = n === 0;
  }

  /** To the next hit after what is selected, or in the view. @param {1|-1} dir */
  function step(dir) {
    run();
    if (!app.hits) return false;
    const at = app.selection && app.hits.has(app.selection.batch, app.selection.i, app.selection.i + 1)
      ? app.selection : dir > 0 ? app.aim.from - 1 : app.aim.to + 1;
    let ref = app.hits.next(at, dir);
    if (!ref) {
      ref = app.hits.next(dir > 0 ? -1 : Infinity, dir);
      if (ref) app.announce("from the other end");
    }
    if (ref) app.select(ref, { reveal: true });
    else app.announce("no hits");
    return true;
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
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
