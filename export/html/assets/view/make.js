// The building blocks of the panels. Text reaches the page as text nodes and properties
// only, so that a name cannot become markup.

import { shortText } from "../data/names.js";
import { thousands } from "./numbers.js";

/**
 * Creates an element. class, text and properties of the element (title, type, hidden, …) are set as such. on… are
 * listeners; aria-…, role and data-… are attributes. null and undefined are omitted. Children may be texts.
 * @param {string} tag
 * @param {Object<string, any>|null} [props]
 * @param {...(Node|string|null)} children
 * @returns {any}
 */
export function make(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined) continue;
    if (key === "class") element.className = value;
    else if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "role" || key.includes("-")) element.setAttribute(key, String(value));
    else element[key] = value;
  }
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

/**
 * Creates a button.
 * @param {string} text
 * @param {() => void} onclick
 * @param {Object<string, any>} [props]
 * @returns {HTMLButtonElement}
 */
export function makeButton(text, onclick, props) {
  return make("button", { type: "button", text, onclick, ...props });
}

/** Reports whether an element is on the page and not in a closed tab, so that it is worth filling. */
export function isShown(element) {
  return element.isConnected && !element.closest("[hidden]");
}

/**
 * Limits the rate of calls that may be expensive. After a pause it calls at once, else shortly after the last of
 * several requests, at most a second after the first. The calls take at most a fifth of the time.
 * @param {() => void|Promise<void>} call
 * @returns {() => void}
 */
export function restLater(call) {
  let timer = 0;
  let first = 0;
  let done = -Infinity;
  let took = 0;
  const run = async () => {
    timer = 0;
    const began = performance.now();
    await call();
    done = performance.now();
    took = done - began;
  };
  return () => {
    const now = performance.now();
    if (timer === 0) {
      if (took < 30 && now - done > 120) return void run();
      first = now;
    } else {
      clearTimeout(timer);
    }
    timer = setTimeout(run, Math.max(0, Math.min(120, first + 1000 - now)) + 4 * took);
  };
}

/**
 * Refills an element and restores the focus of the control with the same data-keep.
 * @param {HTMLElement} root
 * @param {() => void} fill
 */
export function keepFocus(root, fill) {
  const keep = root.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.keep : undefined;
  fill();
  if (keep === undefined) return;
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-keep]"))) {
    if (control.dataset.keep === keep) return control.focus({ preventScroll: true });
  }
}

/** Returns a name for display: "(no name)" if empty, shortened if long. */
export function nameText(text) {
  return text === "" || text === undefined ? "(no name)" : shortText(text);
}

/** Formats a number with its noun: "1 scope", "5,000 scopes". */
export function pluralText(n, one, many = one + "s") {
  return `${thousands(n)} ${n === 1 ? one : many}`;
}
