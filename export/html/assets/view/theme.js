// Light or dark theme: the system's, unless the reader has chosen one.

import { remember, remembered } from "./remembered.js";

/** Returns the theme to show: light or dark. */
export function usualTheme() {
  const chosen = remembered("theme");
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Stores the chosen theme. @param {string} theme */
export function rememberTheme(theme) { remember("theme", theme); }
