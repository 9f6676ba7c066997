// The list of marks, each with a link to its place, a name field and a button to remove it.

import { isShown, keepFocus, make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** @param {App} app @returns {{element: HTMLElement, update(): void}} */
export function createMarks(app) {
  const list = make("ul");
  const none = make("p", { class: "quiet", text: "Press M to mark the time at the pointer or the start of the selected scope, Shift+M to mark the range or the scope." });
  const element = make("section", { class: "marks", "aria-label": "Marks" }, make("h2", { text: "Marks" }), list, none);

  /** @param {import("../state.js").Mark} mark @param {number} k */
  function line(mark, k) {
    const at = app.time(mark.from) + (mark.to > mark.from ? `, ${app.span(mark.to - mark.from)}` : "");
    const name = make("input", { type: "text", value: mark.name, placeholder: "name", "aria-label": `Name of the mark at ${at}`, "data-keep": `name ${k}` });
    name.addEventListener("input", () => {
      app.nameMark(mark, name.value);
      if (name.value !== mark.name) name.value = mark.name; // it has been shortened
    });
    name.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      if (!/^(Enter|NumpadEnter|Escape)$/.test(e.code)) return;
      e.preventDefault();
      app.rows.element.focus();
    });
    const lead = makeButton(at, () => app.visitMark(mark), { class: "link", "data-keep": `at ${k}`, title: "Go to the mark; Delete removes it" });
    lead.addEventListener("keydown", (e) => {
      if (e.code === "Delete") app.removeMark(mark);
    });
    return make("li", null, lead, name, makeButton("×", () => app.removeMark(mark), { class: "quiet", "data-keep": `gone ${k}`, "aria-label": `Remove the mark at ${at}` }));
  }

  function update() {
    if (!isShown(element)) return;
    keepFocus(element, () => list.replaceChildren(...app.marks.map(line)));
    none.hidden = app.marks.length > 0;
  }

  app.on("marks", update);
  app.on("clock", update);
  return { element, update };
}
