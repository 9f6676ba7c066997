// What the numbers in the columns mean; they are the trace format's.

/** The kinds of items. */
export const Kind = Object.freeze({ task: 1, process: 2, event: 3, pending: 4, counter: 5, wait: 6, hold: 7, taskf: 12 });

/**
 * The bits of an item's flags; the two lowest are its Quality. What is open goes on; what is left
 * ended with its goroutine. Nobody ended either of them.
 */
export const Flag = Object.freeze({ quality: 3, open: 4, across: 8, left: 16, calledOff: 32, unended: 4 | 16 });

/** What is known of an item's CPU time. */
export const Quality = Object.freeze({ unknown: 0, exact: 1, likely: 2, atMost: 3 });

/**
 * Reports whether items of a kind are scopes: something that a goroutine did.
 * Waits and holds are told apart, as they are of locks.
 * @param {number} kind
 * @returns {boolean}
 */
export function isScope(kind) {
  return kind === Kind.task || kind === Kind.taskf || kind === Kind.process;
}
