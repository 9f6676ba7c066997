// Fuzzy matching of a few letters with a text.

/**
 * Returns how well the words of a query match a text, in any case and order: best at its begin, then at the begin of a
 * word, then inside a word, then as letters with others between them.
 * @param {string} text
 * @param {string} query
 * @returns {number} higher is better; -1: no match
 */
export function fuzzy(text, query) {
  const low = text.toLowerCase();
  let sum = 0;
  for (const word of query.toLowerCase().split(/\s+/)) {
    if (word === "") continue;
    const score = wordScore(low, word);
    if (score < 0) return -1;
    sum += score;
  }
  return sum + 1 / (1 + text.length); // of two equal matches the shorter text wins
}

/** @param {string} text @param {string} word */
function wordScore(text, word) {
  const at = text.indexOf(word);
  if (at === 0) return 100;
  if (at > 0) return /[\p{L}\p{N}]/u.test(text[at - 1]) && !text.includes(` ${word}`) ? 60 : 80;
  let from = 0;
  let gaps = 0;
  for (const letter of word) {
    const next = text.indexOf(letter, from);
    if (next < 0) return -1;
    if (from > 0) gaps += next - from;
    from = next + letter.length;
  }
  return 40 / (1 + gaps / word.length);
}
