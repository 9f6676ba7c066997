// What the heartbeat tells of a moment, or of a stretch of time: never of another one
// without saying so.

/**
 * @typedef {import("../data/meta.js").Beats} Beats
 * @typedef {import("../data/meta.js").BeatField} BeatField
 *
 * Values, from the least to the most. at: none was taken in the stretch, and this is the
 * last one before, of that time.
 * @typedef {{low: number, high: number, at: number|null}} Sampled
 */

/** CPUs that the process used between beat k and the one before; NaN: not known. @param {Beats} b @param {BeatField} part @param {number} k */
export function usedCPUs(b, part, k) {
  const v = b[part]?.[k];
  const d = b.time[k] - b.time[k - 1];
  return v === null || v === undefined || !(d > 0) ? NaN : v / d;
}

/** What was sampled with beat k; NaN: not known. @param {Beats} b @param {BeatField} part @param {number} k */
export function sampledValue(b, part, k) { return b[part]?.[k] ?? NaN; }

/**
 * The CPUs used in [from, to]; null: not known of any of it.
 * @param {Beats} b @param {(k: number) => number} value between beat k and the one before
 * @param {number} from @param {number} to
 * @returns {Sampled|null}
 */
export function usedIn(b, value, from, to) {
  const list = [];
  for (let k = 1; k < b.time.length; k++) if (b.time[k] >= from && b.time[k - 1] <= to && !Number.isNaN(value(k))) list.push(value(k));
  return list.length === 0 ? null : { low: Math.min(...list), high: Math.max(...list), at: null };
}

/**
 * What was sampled in [from, to], or last before; null: nothing.
 * @param {Beats} b @param {BeatField} part @param {number} from @param {number} to
 * @returns {Sampled|null}
 */
export function sampledIn(b, part, from, to) {
  /** @type {Sampled|null} */
  let found = null;
  for (let k = 0; k < b.time.length && b.time[k] <= to; k++) {
    const v = sampledValue(b, part, k);
    if (Number.isNaN(v)) continue;
    if (b.time[k] < from) found = { low: v, high: v, at: b.time[k] };
    else if (found === null || found.at !== null) found = { low: v, high: v, at: null };
    else found = { low: Math.min(found.low, v), high: Math.max(found.high, v), at: null };
  }
  return found;
}

/**
 * Values in words; of one that was taken before, of when it is.
 * @param {Sampled|null} s @param {(v: number) => string} text @param {(t: number) => string} time
 */
export function sampledText(s, text, time) {
  if (s === null) return "unknown";
  const [low, high] = [text(s.low), text(s.high)];
  if (s.at !== null) return `${low}, at ${time(s.at)}`;
  if (low === high) return low;
  // "1.2–1.5 MiB"
  const unit = / \S+$/.exec(high)?.[0] ?? "";
  return `${unit && low.endsWith(unit) ? low.slice(0, -unit.length) : low}–${high}`;
}
