// Export of the selected range as a trace of ours. A server writes it; for a page in a file there is a command, which
// needs the trace.

import { copyText, shellFile } from "./copy.js";
import { make } from "../view/make.js";
import { bytes } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/**
 * Returns the range to export, in whole ns within the trace.
 * @param {{readonly from: number, readonly to: number}} range @param {number} end of the trace
 */
export function excerptRange({ from, to }, end) {
  return { from: Math.min(Math.max(0, Math.floor(from)), end), to: Math.min(Math.max(1, Math.ceil(to)), end) };
}

/** Returns a time as the commands take it, exactly: 1.5s. @param {number} ns */
export function exactSeconds(ns) {
  const rest = String(ns % 1e9).padStart(9, "0").replace(/0+$/, "");
  return `${Math.floor(ns / 1e9)}${rest && "."}${rest}s`;
}

/** Returns the command that makes the excerpt. @param {string} path of the trace @param {number} from @param {number} to ns */
export function excerptCommand(path, from, to) {
  return `scopeview snapshot ${shellFile(path)} --from ${exactSeconds(from)} --to ${exactSeconds(to)}`;
}

/**
 * Creates the button. While the server writes, another click cancels.
 * @param {App} app @param {(blob: Blob, title: string|undefined, suffix: string) => void} offer
 * @returns {HTMLElement}
 */
export function createExcerptExport(app, offer) {
  const label = "Trace (.scope)";
  let abort = /** @type {AbortController|null} */ (null);
  const rows = () => (app.area === null ? "" : ", with all rows of the range");
  const button = make("button", { type: "button", text: label, onclick: () => void click() });
  const update = () => {
    button.title = app.model.source.excerpt ? "The selected range, or else the view, of all rows, to open again with scopeview" : "Copy the command that makes a trace of the selected range, or else the view, of all rows";
  };
  const setBusy = (/** @type {AbortController|null} */ now) => {
    abort = now;
    button.textContent = now ? `Cancel: ${label}` : label;
    button.setAttribute("aria-busy", String(now !== null));
  };
  async function click() {
    if (abort) return abort.abort();
    const { meta, end, source } = app.model;
    const { from, to } = excerptRange(app.range ?? app.view, end);
    if (!source.excerpt) return copyText(app, excerptCommand(meta.path || "TRACE", from, to), `the command for a trace of this range${rows()}`);
    const now = new AbortController();
    setBusy(now);
    app.announce("The range is being copied…", true);
    try {
      const blob = await source.excerpt(from, to, now.signal);
      offer(blob, `${meta.title || "trace"}-${exactSeconds(from)}-${exactSeconds(to)}`, "scope");
      app.announce(`Trace of ${bytes(blob.size)} saved${rows()}.`, true);
    } catch (err) {
      app.announce(now.signal.aborted ? "The copy was cancelled." : `No trace was saved: ${err.message}`, true);
    } finally {
      setBusy(null);
    }
  }
  update();
  app.on("model", update);
  return button;
}
