// Browser storage that persists across pages. It may be unavailable, for example for files.

/** @param {string} key @returns {string|null} null: none is stored */
export function remembered(key) {
  try {
    return localStorage.getItem(`scopeview-${key}`);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
export function remember(key, value) {
  try {
    localStorage.setItem(`scopeview-${key}`, value);
  } catch {} // the value lasts for this page only
}
