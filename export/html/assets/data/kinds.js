// The meaning of the numbers in the columns, as in the trace format.

/** The kinds of items. */
export const Kind = Object.freeze({ task: 1, process: 2, event: 3, pending: 4, counter: 5, wait: 6, hold: 7, taskf: 12 });

/**
 * The bits of an item's flags; the two lowest are its Quality. Open items have not ended;
 * left ones ended with their goroutine. Neither has an end in the trace.
 */
export const Flag = Object.freeze({ quality: 3, open: 4, across: 8, left: 16, calledOff: 32, unended: 4 | 16 });

/** How well an item's CPU time is known. */
export const Quality = Object.freeze({ unknown: 0, exact: 1, likely: 2, atMost: 3 });

/**
 * Reports whether items of a kind are scopes. Waits and holds are not: they belong to locks.
 * @param {number} kind
 * @returns {boolean}
 */
export function isScope(kind) {
  return kind === Kind.task || kind === Kind.taskf || kind === Kind.process;
}
