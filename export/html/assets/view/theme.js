// Light or dark: as the system has it, until the reader chooses.

const themeKey = "scopeview-theme";

/** The theme to show: light or dark. */
export function usualTheme() {
  try {
    const chosen = localStorage.getItem(themeKey);
    if (chosen === "light" || chosen === "dark") return chosen;
  } catch {} // a browser may keep nothing for a page
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Has a theme shown next time too. @param {string} theme */
export function rememberTheme(theme) {
  try {
    localStorage.setItem(themeKey, theme);
  } catch {} // it is for this time only
}
