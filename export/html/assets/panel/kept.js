// What a reader has chosen for the traces of a program, kept for its next one: the order and the look of the rows, the
// graphs, the height of the panel, and the colours of names.

import { colorsOf, setColors } from "../view/color.js";
import { remember, remembered } from "../view/remembered.js";

/** @import { App } from "../app.js" */
/** @import { ViewState } from "../state.js" */

/** The parts of an address that are kept. */
const keptParts = /** @type {const} */ (["sort", "color", "states", "nolocks", "noprocs", "graphs", "oneLine"]);

/** Returns the key of a program's choices. @param {import("../model/model.js").Model} model */
function layoutKey({ meta }) {
  const program = (meta.info ?? []).find(([label]) => label === "program")?.[1] ?? meta.title ?? "";
  return `layout ${String(program).split(" ")[0].split("/").pop()}`;
}

/** @param {import("../model/model.js").Model} model @returns {{view: Partial<ViewState>, panel?: number, colors?: Record<string, number>}} */
function kept(model) {
  try {
    const all = JSON.parse(remembered(layoutKey(model)) ?? "{}");
    return all && typeof all === "object" ? { view: {}, ...all } : { view: {} };
  } catch {
    return { view: {} };
  }
}

/** Applies the kept colours and height, and returns the kept parts of the view. @param {import("../model/model.js").Model} model @param {HTMLElement} panel @returns {Partial<ViewState>} */
export function keptView(model, panel) {
  const { view, panel: high, colors } = kept(model);
  if (colors) setColors(colors);
  if (high) {
    panel.style.flex = `0 0 ${Math.max(60, Math.min(innerHeight * 0.8, high))}px`;
    /** @type {HTMLElement} */ (panel.parentElement).dataset.divided = "true";
  }
  return Object.fromEntries(keptParts.flatMap((part) => (view[part] === undefined ? [] : [[part, view[part]]])));
}

/**
 * Keeps the colours of the trace's names, and the choices whenever the reader changes one: a link that was opened is
 * somebody else's choice.
 * @param {App} app @param {HTMLElement} panel
 */
export function keepChoices(app, panel) {
  const { model, choices } = app;
  const view = () => ({
    sort: choices.sort === "name" ? undefined : choices.sort, color: choices.colorBy === "name" ? undefined : choices.colorBy, states: choices.states === "thin" ? undefined : choices.states,
    nolocks: choices.locks ? undefined : true, noprocs: choices.procs ? undefined : true, graphs: app.graphs === "usual" ? undefined : app.graphs, oneLine: choices.oneLine || undefined,
  });
  let opened = JSON.stringify(view());
  let own = false;
  let pasted = false;
  const save = () => {
    if (pasted) return;
    own ||= JSON.stringify(view()) !== opened;
    const high = /** @type {HTMLElement} */ (panel.parentElement).dataset.divided ? panel.offsetHeight : undefined;
    remember(layoutKey(model), JSON.stringify({ view: own ? view() : kept(model).view, panel: high || kept(model).panel, colors: colorsOf(model) }));
  };
  for (const event of /** @type {const} */ (["by", "filter", "graphs"])) app.on(event, save);
  for (const event of ["pointerup", "keyup"]) document.getElementById("divider")?.addEventListener(event, save);
  addEventListener("popstate", (e) => {
    if (e.state?.stepNumber !== undefined) return; // Back and Forward, not a link
    pasted = true;
    setTimeout(() => {
      [pasted, own, opened] = [false, false, JSON.stringify(view())];
    });
  });
  save();
}
