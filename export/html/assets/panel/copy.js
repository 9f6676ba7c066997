// Copies text: what is selected, and the link to what is shown.

import { make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** @param {App} app @param {string} text @param {string} what it is, in words */
export async function copyText(app, text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyOfOld(text); // a page from afar without TLS has no clipboard of the new kind
  }
  app.announce(`copied: ${what}`, true);
}

/** Copies by way of a field. @param {string} text */
function copyOfOld(text) {
  const at = /** @type {HTMLElement|null} */ (document.activeElement);
  const field = make("textarea", { class: "unseen", value: text });
  document.body.append(field);
  field.focus();
  field.select();
  document.execCommand("copy");
  field.remove();
  at?.focus();
}

/**
 * Buttons that copy what is known of the selection.
 * @param {App} app
 * @param {Record<string, string>} parts by what they are; empty ones have no button
 * @param {HTMLElement} facts the lists that are copied as lines, of each fact what is first in it
 */
export function copyButtons(app, parts, facts) {
  const lines = () => [parts.name, ...Array.from(facts.querySelectorAll("dt"), (dt) => `${dt.textContent}: ${dt.nextElementSibling?.firstChild?.textContent ?? ""}`)].join("\n");
  const button = (/** @type {string} */ what, /** @type {() => string} */ text) => makeButton(what, () => copyText(app, text(), what), { "data-keep": `copy ${what}`, "aria-label": `Copy ${what}` });
  return make("span", { class: "buttons quiet" }, "copy", ...Object.keys(parts).filter((what) => parts[what] !== "").map((what) => button(what, () => parts[what])),
    button("all facts", lines), button("link", () => app.steps.link()));
}
