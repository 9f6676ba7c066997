// The chain of a wait: from the wait to the wait of the object's holder, and so on, up to a
// goroutine that did not wait.

import { shortText } from "../data/names.js";
import { stateText } from "../data/states.js";
import { innermostAt } from "./relate.js";
import { activitiesOf, explain, isAwaited, longestPieces, waitOfItem, waitOfState } from "./explain.js";

/**
 * @typedef {import("./explain.js").Wait} Wait
 * @typedef {import("./explain.js").WaitPart} WaitPart
 * @typedef {import("./model.js").Model} Model
 *
 * The begin of a chain: the selection.
 * @typedef {{selection: import("../app.js").Selection|null, stretch: import("../app.js").StateSelection|null}} Origin
 *
 * One goroutine of a chain. part is its part of the previous wait; null at the beginning.
 * wait is its own wait during that part; null: it did not wait, and root describes what it
 * did or why that is unknown.
 * @typedef {Object} ChainStep
 * @property {number} key
 * @property {WaitPart|null} part
 * @property {import("./explain.js").HeldPiece|null} longest piece of that part
 * @property {number} share of the previous wait
 * @property {string} object the object it held; "": unknown, or an object without a holder
 * @property {Wait|null} wait
 * @property {import("./explain.js").Activity|null} activity its activity for most of the part
 * @property {number} activityShare share of the part that the activity took
 * @property {string} root
 */

/** The maximum number of steps of a chain. */
const mostSteps = 16;

/**
 * Returns the selected wait; null: none is selected.
 * @param {Model} model @param {Origin} origin @returns {Wait|null}
 */
export function originOf(model, { selection, stretch }) {
  if (stretch) return stretch.run.n === 1 ? waitOfState(model, stretch.key, stretch.set, stretch.run.i) : null;
  return selection && selection.j === undefined ? waitOfItem(model, selection) : null;
}

/**
 * Returns the chain of the selection; the first step is the wait itself. Empty: the selection is not a wait.
 * @param {Model} model @param {Origin|null} origin
 * @returns {ChainStep[]}
 */
export function chainOf(model, origin) {
  const had = model.cache.get("chain");
  if (had?.version === model.version && had.value.origin === origin) return had.value.steps;
  const wait = origin && originOf(model, origin);
  const steps = wait ? stepsFrom(model, wait) : [];
  model.cache.set("chain", { version: model.version, value: { origin, steps } });
  return steps;
}

/** @param {Model} model @param {Wait} first @returns {ChainStep[]} */
function stepsFrom(model, first) {
  /** @type {ChainStep[]} */
  const steps = [{ key: first.key, part: null, longest: null, share: 1, object: "", wait: first, activity: null, activityShare: 0, root: "" }];
  for (;;) {
    const last = steps[steps.length - 1];
    const wait = last.wait;
    if (!wait) return steps;
    const part = explain(model, wait).parts[0];
    last.root = endReason(steps, wait, part);
    if (last.root || !part) return steps;
    const { activities, states, ns } = activitiesOf(model, part, first);
    // Without states only waits are known: the rest may have been anything.
    const activity = activities.find((d) => states || d.wait) ?? null;
    const next = activity?.wait && isAwaited(activity.wait) && (states || 2 * activity.ns > ns) ? activity.wait : null;
    steps.push({
      key: part.key, part, longest: longestPieces(part.pieces, 1)[0], share: part.ns / (wait.to - wait.from), object: part.kind === "waker" ? "" : wait.name, wait: next, activity, activityShare: activity ? activity.ns / ns : 0,
      root: next ? "" : states && activity ? activityText(model, part.key, activity) : `activity unknown: no states of goroutine ${part.key}`,
    });
  }
}

/**
 * Returns why a chain ends at a wait; "": it continues.
 * @param {ChainStep[]} steps @param {Wait} wait @param {WaitPart|undefined} part the largest
 */
function endReason(steps, wait, part) {
  if (!part) return "it took no time";
  if (!isAwaited(wait)) return "it waited for no other goroutine";
  if (part.kind === "own") return `the longest part: itself ${stateText(part.state)}`;
  if (part.kind === "unknown") return wait.held ? "the holder is unknown" : "the goroutine that ended the wait is unknown";
  if (part.kind === "merged") return `${part.many} holds of it, merged here`;
  if (steps.some((s) => s.key === part.key)) return `back at goroutine ${part.key}: each waits for the next`;
  return steps.length >= mostSteps ? `${mostSteps} steps at most are followed` : "";
}

/**
 * Describes the activity of a goroutine that did not wait.
 * @param {Model} model @param {number} key @param {import("./explain.js").Activity} activity
 */
function activityText(model, key, { state, longest }) {
  const row = model.goroutines.rows.get(key);
  const scope = row ? innermostAt(row, longest.from, Infinity) : null;
  return `${state ? stateText(state) : "activity unknown"}${scope ? `, in ${shortText(model.name(scope.batch.name[scope.i])) || "(no name)"}` : ""}`;
}

/**
 * Returns the arrows of a chain: from each holder to the goroutine that waited for it.
 * @param {ChainStep[]} steps @returns {import("./relate.js").Link[]}
 */
export function chainLinks(steps) {
  return steps.slice(1).flatMap(({ key, part, longest }, k) => {
    if (!longest) return [];
    const time = part?.kind === "waker" ? longest.to : longest.from;
    return [{ kind: "chain", from: { rowKey: key, time, ref: null }, to: { rowKey: steps[k].key, time, ref: steps[k].wait?.ref ?? null } }];
  });
}
