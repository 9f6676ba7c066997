// How a place in the source is opened: by a link that an editor, or a site, understands.

/** @typedef {import("../data/places.js").Place} Place */

/**
 * What was chosen. Paths of a trace that was made elsewhere begin with from here, and with to there.
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

/** What a link may begin with: sites, and programs that open files. Anything else may run something. */
const editorSchemes = new Set("http https vscode vscode-insiders vscodium cursor windsurf zed idea goland jetbrains fleet subl txmt mvim nvim emacs atom lapce".split(" "));

/** Where the choice is kept. */
const editorKey = "scopeview.editor";

/** What is wrong with a template, as a sentence; "": nothing. @param {string} template */
export function editorProblem(template) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(template)?.[1] ?? "";
  if (!editorSchemes.has(scheme)) return `A link must begin with http://, https:// or what an editor has for it: ${[...editorSchemes].slice(2).join(", ")}.`;
  return template.includes("{path}") ? "" : "The template has no {path}, so that every link would be the same.";
}

/** The place's path on this machine. @param {Editor} editor @param {Place} place */
function editorPath({ from, to }, { file }) {
  return (from !== "" && file.startsWith(from) ? to + file.slice(from.length) : file).replaceAll("\\", "/");
}

/**
 * The link to a place; "": there is none. An editor is only asked for a whole path.
 * @param {Editor} editor @param {Place} place
 */
export function editorLink(editor, place) {
  if (editorProblem(editor.template) !== "") return "";
  const path = editorPath(editor, place);
  const whole = /^(\/|[A-Za-z]:\/)/.test(path);
  if (!whole && !/^https?:/.test(editor.template)) return "";
  const parts = { path: path.split("/").map((part) => (/^[A-Za-z]:$/.test(part) ? part : encodeText(part))).join("/"), line: String(place.line), func: encodeText(place.func) };
  // Between the template's slash and the path's there is one.
  const template = path.startsWith("/") ? editor.template.replace(/\/\{path\}/, "{path}") : editor.template;
  return template.replace(/\{(path|line|func)\}/g, (_, key) => parts[/** @type {keyof typeof parts} */ (key)]);
}

/** A text in a link. What is no text, half of a pair of UTF-16, is replaced. @param {string} text */
function encodeText(text) { return encodeURIComponent(text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")); }

/** What was chosen; without a template: nothing. A page in a file may not be allowed to remember. @returns {Editor} */
export function rememberedEditor() {
  const none = { template: "", from: "", to: "" };
  try {
    const kept = JSON.parse(localStorage.getItem(editorKey) ?? "{}");
    for (const key of /** @type {const} */ (["template", "from", "to"])) if (typeof kept[key] === "string") none[key] = kept[key];
  } catch {
    // It is chosen anew.
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
