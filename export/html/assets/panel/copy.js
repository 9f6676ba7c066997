// Copying text: the selection, and the link to the current state.

import { make, makeButton } from "../view/make.js";

/** @import { App } from "../app.js" */

/** @param {App} app @param {string} text @param {string} what description of the text */
export async function copyText(app, text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyOfOld(text); // without TLS a remote page has no clipboard API
  }
  app.announce(`copied: ${what}`, true);
}

/** Returns a word for a shell. @param {string} word */
export function shellWord(word) { return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`; }

/** Returns a file's name for a shell, which no command takes for a flag. @param {string} path */
export function shellFile(path) { return shellWord(path.startsWith("-") ? `./${path}` : path); }

/** Copies by means of a text field. @param {string} text */
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
 * Returns buttons that copy the facts of the selection.
 * @param {App} app
 * @param {Record<string, string>} parts by description; empty ones have no button
 * @param {HTMLElement} facts the lists to copy as lines, with the first part of each fact
 */
export function copyButtons(app, parts, facts) {
  const lines = () => [parts.name, ...Array.from(facts.querySelectorAll("dt"), (dt) => `${dt.textContent}: ${dt.nextElementSibling?.firstChild?.textContent ?? ""}`)].join("\n");
  const button = (/** @type {string} */ what, /** @type {() => string} */ text) => makeButton(what, () => copyText(app, text(), what), { "data-keep": `copy ${what}`, "aria-label": `Copy ${what}` });
  return make("span", { class: "buttons quiet" }, "copy", ...Object.keys(parts).filter((what) => parts[what] !== "").map((what) => button(what, () => parts[what])),
    button("all facts", lines), button("link", () => app.steps.link()));
}
