// Arguments as text.

/**
 * The keys and values of arguments. JSON.parse would put keys that are numbers
 * first and round large integers, so the text of each value is kept.
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

/** A JSON string as text; anything else as it is. */
function argUnquoted(json) {
  if (!json.startsWith('"')) return json.trim();
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Arguments in a line. @param {string} json as package args writes it */
export function argumentsText(json) {
  return argsList(json).map(([k, v]) => (/^\d+$/.test(k) ? v : `${k}=${v}`)).join("  ").slice(0, 300);
}
