// The answer of a panel to what its head asks. While the answer is being computed, its place shows that at once, and
// never the answer to the previous question: numbers of another selection look like the right ones.

/**
 * Shows that an element's contents are not known yet; "" shows the contents. Hidden contents keep their room, so that
 * nothing jumps when an answer comes soon.
 * @param {HTMLElement} element @param {string} words such as "Counting…"
 */
export function setPending(element, words) {
  element.classList.toggle("pending", words !== "");
  element.setAttribute("aria-busy", String(words !== ""));
  if (words === "") delete element.dataset.pending;
  else element.dataset.pending = words;
}

/**
 * Returns the state of an answer that is shown in body. The panel calls asks as soon as its head shows a question, and
 * answers once body has the answer. An update of a growing trace is not another question.
 * @param {HTMLElement} body @param {string} words shown while it is computed
 */
export function createAnswer(body, words) {
  /** @type {string|null} */
  let answered = null;
  return {
    /** @param {string} question */
    asks(question) { setPending(body, question === answered ? "" : words); },
    /** @param {string} question */
    answers(question) {
      answered = question;
      setPending(body, "");
    },
    /** Forgets the answer, such as that of another trace. */
    forget() { answered = null; },
  };
}

/** Returns the selected range and rows as a question. @param {import("../app.js").App} app @param {...any} more */
export function rangeQuestion({ range, area }, ...more) { return JSON.stringify([range?.from, range?.to, ...more, ...area ?? []]); }
