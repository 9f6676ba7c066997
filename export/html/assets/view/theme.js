// Light or dark: as the system has it, until the reader chooses.

import { remember, remembered } from "./remembered.js";

/** The theme to show: light or dark. */
export function usualTheme() {
  const chosen = remembered("theme");
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Has a theme shown next time too. @param {string} theme */
export function rememberTheme(theme) { remember("theme", theme); }
