// Shortening of names, which may be 64 KiB long.

/** The maximum length of a name that is displayed. */
export const longestName = 300;
/** The maximum length of a tooltip, which would otherwise cover the screen. */
export const longestTitle = 1000;

/** Returns a text, shortened to most characters. @param {string} text */
export function shortText(text, most = longestName) { return text.length > most ? `${text.slice(0, most)}…` : text; }
