// Links that open a source position in an editor or on a web site.

/** @typedef {import("../data/places.js").Place} Place */

/**
 * The chosen editor. The path prefix from, of a trace recorded elsewhere, is replaced by to.
 * @typedef {{template: string, from: string, to: string}} Editor
 */

/** Editors and their templates. @type {readonly (readonly [name: string, template: string])[]} */
export const editors = Object.freeze([
  ["VS Code", "vscode://file/{path}:{line}"],
  ["Cursor", "cursor://file/{path}:{line}"],
  ["Zed", "zed://file/{path}:{line}"],
  ["GoLand", "goland://open?file={path}&line={line}"],
  ["IntelliJ IDEA", "idea://open?file={path}&line={line}"],
  ["Sublime Text", "subl://open?url=file://{path}&line={line}"],
]);

/** The permitted schemes of a link: sites, and programs that open files. Others may run something. */
const editorSchemes = new Set("http https vscode vscode-insiders vscodium cursor windsurf zed idea goland jetbrains fleet subl txmt mvim nvim emacs atom lapce".split(" "));

/** The key under which the choice is stored. */
const editorKey = "scopeview.editor";

/** Returns the problem of a template, as a sentence; "": none. @param {string} template */
export function editorProblem(template) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(template)?.[1] ?? "";
  if (!editorSchemes.has(scheme)) return `A link must begin with http://, https:// or the scheme of an editor: ${[...editorSchemes].slice(2).join(", ")}.`;
  return template.includes("{path}") ? "" : "The template has no {path}: all links would be the same.";
}

/** Returns a place's path on this machine. @param {Editor} editor @param {Place} place */
function editorPath({ from, to }, { file }) {
  return (from !== "" && file.startsWith(from) ? to + file.slice(from.length) : file).replaceAll("\\", "/");
}

/**
 * Returns the link to a place; "": none. Editors only get absolute paths.
 * @param {Editor} editor @param {Place} place
 */
export function editorLink(editor, place) {
  if (editorProblem(editor.template) !== "") return "";
  const path = editorPath(editor, place);
  const whole = /^(\/|[A-Za-z]:\/)/.test(path);
  if (!whole && !/^https?:/.test(editor.template)) return "";
  const parts = { path: path.split("/").map((part) => (/^[A-Za-z]:$/.test(part) ? part : encodeText(part))).join("/"), line: String(place.line), func: encodeText(place.func) };
  // Between the template and the path there is exactly one slash.
  const template = path.startsWith("/") ? editor.template.replace(/\/\{path\}/, "{path}") : editor.template;
  return template.replace(/\{(path|line|func)\}/g, (_, key) => parts[/** @type {keyof typeof parts} */ (key)]);
}

/** Returns a text encoded for a link. Unpaired surrogates of UTF-16 are replaced. @param {string} text */
function encodeText(text) { return encodeURIComponent(text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")); }

/** Returns the stored choice; without a template: none. A page in a file may not have storage. @returns {Editor} */
export function rememberedEditor() {
  const none = { template: "", from: "", to: "" };
  try {
    const kept = JSON.parse(localStorage.getItem(editorKey) ?? "{}");
    for (const key of /** @type {const} */ (["template", "from", "to"])) if (typeof kept[key] === "string") none[key] = kept[key];
  } catch {
    // An unreadable choice counts as none.
  }
  return none;
}

/** @param {Editor} editor @returns {boolean} whether it will be there the next time */
export function rememberEditor(editor) {
  try {
    localStorage.setItem(editorKey, JSON.stringify(editor));
    return true;
  } catch {
    return false;
  }
}
