// Which stretch of time a view shows, and which one comes next.

/** @import { Stretch } from "../app.js" */
/** @import { Model } from "../model/model.js" */

/** The narrowest view, in ns. */
const narrowest = 20;

/** What is narrower than this part of a view is zoomed to. */
const mostNarrow = 400;

/** From where to where there is something, also of a trace beside it. @param {Model} model @returns {Stretch} */
function extentOfAll({ end, reach }) { return { from: Math.min(0, reach?.from ?? 0), to: Math.max(end, 1000, reach?.to ?? 0) }; }

/**
 * The view of the whole. Of a ring that is what is there without a gap: before it
 * lie hours of nothing, but for scopes that are open since.
 * @param {Model} model
 * @returns {Stretch}
 */
export function viewOfAll(model) {
  const end = Math.max(model.end, model.reach?.to ?? 0);
  const from = Math.min(model.meta.whole ?? 0, model.end, model.reach?.from ?? Infinity);
  return { from, to: from + Math.max(end - from, 1000) * 1.01 };
}

/** How long a view may be that is asked to be so long. @param {Model} model @param {number} width */
export function limitedWidth(model, width) {
  const { from, to } = extentOfAll(model);
  return Math.min(Math.max(width, narrowest), (to - from) * 1.1);
}

/**
 * Finds the view that is shown where [from, to] is asked for. It is neither too narrow
 * nor too wide, and has a part of the trace in it.
 * @param {Model} model @param {number} from @param {number} to
 * @returns {Stretch}
 */
export function limitedView(model, from, to) {
  const width = limitedWidth(model, to - from);
  const all = extentOfAll(model);
  from = Math.max(all.from - 0.05 * width, Math.min((from + to) / 2 - width / 2, all.to + 0.05 * width - width * 0.1));
  return { from, to: from + width };
}

/** A view as long as another where the live end is in sight, and some room behind it. @param {Model} model @param {Stretch} view @returns {Stretch} */
export function viewAtEnd(model, { from, to }) { return { from: model.end - (to - from) * 0.96, to: model.end + (to - from) * 0.04 }; }

/** [from, to] with a margin. @param {number} from @param {number} to @returns {Stretch} */
export function viewAround(from, to) {
  const margin = Math.max((to - from) * 0.08, narrowest / 2);
  return { from: from - margin, to: to + margin };
}

/**
 * The view nearest to another that shows [start, end] well; null: that one does. It is
 * as wide as the other, but for what would be too narrow to be seen in it, or too wide. An
 * instant is seen in any.
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
