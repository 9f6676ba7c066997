// The values of heartbeats at a time or in a range of time; a value of another time is marked.

/**
 * @typedef {import("../data/meta.js").Beats} Beats
 * @typedef {import("../data/meta.js").BeatField} BeatField
 *
 * The minimum and maximum of values. at: there is no value in the range; this is the last
 * one before, of that time.
 * @typedef {{low: number, high: number, at: number|null}} Sampled
 */

/**
 * Returns the CPUs used by the process between beat k and the previous one; NaN: unknown.
 * @param {Beats} b @param {BeatField} part @param {number} k
 */
export function usedCPUs(b, part, k) {
  const v = b[part]?.[k];
  const d = b.time[k] - b.time[k - 1];
  return v === null || v === undefined || !(d > 0) ? NaN : v / d;
}

/** Returns the value sampled with beat k; NaN: unknown. @param {Beats} b @param {BeatField} part @param {number} k */
export function sampledValue(b, part, k) { return b[part]?.[k] ?? NaN; }

/**
 * Returns the CPUs used in [from, to]; null: unknown for all of it.
 * @param {Beats} b @param {(k: number) => number} value between beat k and the previous one
 * @param {number} from @param {number} to
 * @returns {Sampled|null}
 */
export function usedIn(b, value, from, to) {
  const list = [];
  for (let k = 1; k < b.time.length; k++) if (b.time[k] >= from && b.time[k - 1] <= to && !Number.isNaN(value(k))) list.push(value(k));
  return list.length === 0 ? null : { low: Math.min(...list), high: Math.max(...list), at: null };
}

/**
 * Returns the values sampled in [from, to], or the last one before; null: none.
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
 * Formats values; with the time if it is before the range.
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
