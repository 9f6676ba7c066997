// A source position with a link that opens it in an editor, and the dialog for choosing the editor.

import { shortFunc } from "../data/names.js";
import { placeText, shortPlace } from "../data/places.js";
import { editorLink, editorProblem, editors, rememberEditor, rememberedEditor } from "../model/editor.js";
import { keepFocus, make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */
/** @typedef {import("../data/places.js").Place} Place */

/** The current choice; null: not loaded yet. @type {import("../model/editor.js").Editor|null} */
let chosenEditor = null;

/** Updates the link of the fact that is shown after a choice. */
let refillFact = () => {};

function editorNow() { return (chosenEditor ??= rememberedEditor()); }

/**
 * Returns the source position of a name, with a link to the editor; null: unknown.
 * @param {App} app @param {number} name its id
 */
export function sourceFact(app, name) {
  const place = app.model.meta.places.get(name);
  if (!place) return null;
  const fact = make("dd", { class: "source" });
  const fill = () => {
    const href = editorLink(editorNow(), place);
    const site = /^https?:/.test(href);
    fact.replaceChildren(
      make("span", { class: "mono", text: `${shortPlace(place)} (${shortFunc(place.func)})`, title: placeText(place) }), " ",
      href === "" ? "" : make("a", { href, text: "open", target: site ? "_blank" : "", rel: "noopener noreferrer", "aria-label": `Open ${placeText(place)}`, title: href, "data-keep": "open-source" }), " ",
      makeButton("editor…", () => chooseEditor(app, place), { "data-keep": "choose-editor", title: "Choose the editor that opens sources", "aria-haspopup": "dialog" }),
    );
  };
  refillFact = () => keepFocus(fact, fill);
  fill();
  return fact;
}

/** Opens the dialog for choosing the editor. @param {App} app @param {Place|null} place shown as an example */
export function chooseEditor(app, place) {
  const old = editorNow();
  const example = place ?? app.model.meta.places.values().next().value ?? { file: "/src/main.go", line: 7, func: "main.main" };
  const known = make("select", null, make("option", { value: "", text: "other" }), ...editors.map(([text, value]) => make("option", { value, text })));
  const [template, from, to] = [old.template, old.from, old.to].map((value) => make("input", { type: "text", value, autocomplete: "off", spellcheck: false, size: 44 }));
  const message = make("p", { class: "mono", "aria-live": "polite" });
  const save = makeButton("Use it", () => {
    chosenEditor = now();
    if (!rememberEditor(chosenEditor)) app.announce("The browser does not let this page store the choice of the editor: it lasts until the page is closed.");
    dialog.close();
    refillFact();
  });
  const now = () => ({ template: template.value.trim(), from: from.value.trim(), to: to.value.trim() });
  const check = () => {
    const { template: text } = now();
    const problem = text === "" ? "" : editorProblem(text);
    const link = editorLink(now(), example);
    known.value = editors.some((e) => e[1] === text) ? text : "";
    message.textContent = problem || link || (text === "" ? "Without a template there is no link." : `There is no link to ${example.file}: it is not an absolute path. Enter the prefix that it has here.`);
    save.disabled = problem !== "";
  };
  known.addEventListener("change", () => { template.value = known.value; check(); });
  for (const input of [template, from, to]) input.addEventListener("input", check);
  const label = (/** @type {string} */ text, /** @type {HTMLElement} */ control) => make("label", null, make("span", { text }), control);
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { class: "help editor", "aria-label": "Open sources in an editor" },
    make("div", { class: "help-bar" }, make("h2", { text: "Open sources in an editor" }), makeButton("Close", () => dialog.close(), { class: "quiet" })),
    label("Editor", known), label("Link, with {path}, {line}, {func}", template),
    label("Path prefix in the trace", from), label("Path prefix here", to), message, save));
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // keeps the key from the timeline
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  check();
  dialog.showModal();
  known.focus();
}
