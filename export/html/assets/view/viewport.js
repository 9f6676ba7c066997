// The limits of the view, and the computation of the next one.

/** @import { Stretch } from "../app.js" */
/** @import { Model } from "../model/model.js" */

/** The minimum width of a view, in ns. */
const narrowest = 20;

/** The share of a view's width below which an item is zoomed to. */
const mostNarrow = 400;

/** Returns the extent of the data, including those of a trace beside it. @param {Model} model @returns {Stretch} */
function extentOfAll({ end, reach }) { return { from: Math.min(0, reach?.from ?? 0), to: Math.max(end, 1000, reach?.to ?? 0) }; }

/**
 * Returns the view of the whole trace. For a ring that is the part without a gap: before it
 * there are only scopes that are still open. For an excerpt it is its range.
 * @param {Model} model
 * @returns {Stretch}
 */
export function viewOfAll(model) {
  const [begin, last] = model.meta.excerpt ?? [0, model.end];
  const end = Math.max(last, model.reach?.to ?? 0);
  const from = Math.min(Math.max(model.meta.whole ?? 0, begin), last, model.reach?.from ?? Infinity);
  return { from, to: from + Math.max(end - from, 1000) * 1.01 };
}

/** Returns a view's width within the limits. @param {Model} model @param {number} width */
export function limitedWidth(model, width) {
  const { from, to } = extentOfAll(model);
  return Math.min(Math.max(width, narrowest), (to - from) * 1.1);
}

/**
 * Returns the view for a requested [from, to]. It is neither too narrow nor too wide, and contains a part of the trace.
 * @param {Model} model @param {number} from @param {number} to
 * @returns {Stretch}
 */
export function limitedView(model, from, to) {
  const width = limitedWidth(model, to - from);
  const all = extentOfAll(model);
  from = Math.max(all.from - 0.05 * width, Math.min((from + to) / 2 - width / 2, all.to + 0.05 * width - width * 0.1));
  return { from, to: from + width };
}

/**
 * Returns a view of the same width with the live end in view, and some room after it.
 * @param {Model} model @param {Stretch} view @returns {Stretch}
 */
export function viewAtEnd(model, { from, to }) { return { from: model.end - (to - from) * 0.96, to: model.end + (to - from) * 0.04 }; }

/** Returns [from, to] with a margin. @param {number} from @param {number} to @returns {Stretch} */
export function viewAround(from, to) {
  const margin = Math.max((to - from) * 0.08, narrowest / 2);
  return { from: from - margin, to: to + margin };
}

/**
 * Returns the view nearest to another that shows [start, end] well; null: the other one does. It has the same width
 * unless the item would be too narrow or too wide in it. An instant is visible in any view.
 * @param {Stretch} view @param {number} start @param {number} end
 * @returns {Stretch|null}
 */
export function viewThatShows({ from, to }, start, end) {
  const width = to - from;
  const dur = end - start;
  const narrow = dur > 0 && dur < width / mostNarrow;
  if (start >= from && end <= to && !narrow) return null;
  if (dur > width) return { from: start - dur / 2, to: end + dur / 2 };
  if (narrow) return { from: start - dur * 9.5, to: end + dur * 9.5 };
  return { from: (start + end - width) / 2, to: (start + end + width) / 2 };
}
