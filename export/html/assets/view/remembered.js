// What a reader's browser keeps from one page to the next. It may keep nothing, as for files.

/** @param {string} key @returns {string|null} null: nothing is known */
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
  } catch {} // it is for this time only
}
