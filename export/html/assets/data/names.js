// Names may be 64 KiB long. Where one is shown for people, it is cut.

/** A longer name is cut where it is shown. */
export const longestName = 300;
/** A longer one is cut in a tooltip, which would else cover the screen. */
export const longestTitle = 1000;

/** A text, or its beginning. @param {string} text */
export function shortText(text, most = longestName) { return text.length > most ? `${text.slice(0, most)}…` : text; }
