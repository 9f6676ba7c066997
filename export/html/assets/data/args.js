// Arguments as text.

/**
 * Returns the keys and values of arguments. It does not use JSON.parse, which moves numeric
 * keys to the front and rounds large integers; each value stays text.
 * @param {string} text a flat JSON object as package args writes it, or ""
 * @returns {[string, string][]}
 */
export function argsList(text) {
  /** @type {[string, string][]} */
  const list = [];
  const piece = /\s*("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|\{[^{}]*\}|[^,{}"]+)\s*[,}]/y;
  piece.lastIndex = 1;
  for (let m = piece.exec(text); m; m = piece.exec(text)) {
    list.push([argUnquoted(m[1]), argUnquoted(m[2])]);
  }
  return list;
}

/** Returns the text of a JSON string; anything else unchanged. */
function argUnquoted(json) {
  if (!json.startsWith('"')) return json.trim();
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Returns arguments as one line of text. @param {string} json as package args writes it */
export function argumentsText(json) {
  return argsList(json).map(([k, v]) => (/^\d+$/.test(k) ? v : `${k}=${v}`)).join("  ").slice(0, 300);
}
