// Shortening of names, which may be 64 KiB long.

/** The maximum length of a name that is displayed. */
export const longestName = 300;
/** The maximum length of a tooltip, which would otherwise cover the screen. */
export const longestTitle = 1000;

/** Returns a text, shortened to most characters. @param {string} text */
export function shortText(text, most = longestName) { return text.length > most ? `${text.slice(0, most)}…` : text; }

/** Returns a function's name without the directories of its package, as the Go side's format.ShortFunction. @param {string} name */
export function shortFunc(name) {
  const had = shortFuncs.get(name);
  if (had !== undefined) return had;
  if (shortFuncs.size >= mostShortFuncs) shortFuncs.clear();
  const short = shortFuncOf(name);
  shortFuncs.set(name, short);
  return short;
}

/** The functions' names that were shortened: many goroutines begin with few functions. @type {Map<string, string>} */
const shortFuncs = new Map();
const mostShortFuncs = 10000;

/** @param {string} name */
function shortFuncOf(name) {
  const path = name.split("[", 1)[0]; // types follow, with paths of their own
  const slash = path.lastIndexOf("/");
  const [, last, rest] = /** @type {RegExpExecArray} */ (/^([^.]*)(.*)$/s.exec(name.slice(slash + 1)));
  if (rest === "") return shortText(last);
  const pkg = slash > 0 && /^v(?!1$)[1-9]\d*$/.test(last) ? path.slice(path.lastIndexOf("/", slash - 1) + 1, slash) : last;
  return shortText(pkg.replace(/(?:%[0-9a-f]{2})+/g, decodedBytes) + rest);
}

/** Decodes a text of %xx; it is unchanged if it is no UTF-8. @param {string} text */
function decodedBytes(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
