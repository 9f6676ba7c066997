// Search over names and arguments.

import { homeOf } from "./refs.js";

/**
 * Finds the items whose name or arguments have text in them, in any case. Names
 * and argument texts are compared once each, then the items are counted.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {Hits}
 */
export function search(model, text) { return new Hits(model, text.toLowerCase()); }

/** What a search found. Good for the model's version at that time. */
export class Hits {
  /** @param {import("./model.js").Model} model @param {string} text in lower case */
  constructor(model, text) {
    this.text = text;
    this.segs = model.segments();
    this.names = Uint8Array.from(model.names, (name) => (name.toLowerCase().includes(text) ? 1 : 0));
    /** How many hits lie before each item. @type {Map<import("../data/segment.js").Segment, Uint32Array>} */
    this.before = new Map();
    this.count = 0;
    for (const seg of this.segs) this.count += this.upTo(seg)[seg.n];
    /** What is merged hides names and arguments. */
    this.exact = !model.reduced;
  }

  /**
   * How many hits of a segment lie before each of its items, and at last before
   * the end: so that a run of any length is looked up at once.
   * @param {import("../data/segment.js").Segment} seg
   */
  upTo(seg) {
    const had = this.before.get(seg);
    if (had) return had;
    const { text, names } = this;
    const { name, args, n } = seg;
    const strings = Uint8Array.from(seg.strings, (s) => (s !== "" && s.toLowerCase().includes(text) ? 1 : 0));
    const before = new Uint32Array(n + 1);
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (names[name[i]] === 1 || strings[args[i]] === 1) count++;
      before[i + 1] = count;
    }
    this.before.set(seg, before);
    return before;
  }

  /**
   * Tells whether there is a hit among the items [i, j) of a segment.
   * @param {import("../data/segment.js").Segment} seg
   * @param {number} i
   * @param {number} j
   */
  has(seg, i, j = i + 1) {
    const before = this.upTo(seg);
    return before[j] > before[i];
  }

  /**
   * How many hits touch each of n equal parts of [from, to].
   * @param {number} from
   * @param {number} to
   * @param {number} n
   * @returns {Uint32Array}
   */
  bins(from, to, n) {
    const bins = new Uint32Array(n);
    const scale = n / Math.max(to - from, 1);
    for (const seg of this.segs) {
      const before = this.upTo(seg);
      const { start, dur } = seg;
      for (let i = 0; i < seg.n; i++) {
        if (before[i + 1] === before[i]) continue;
        const first = Math.floor((start[i] - from) * scale);
        const last = Math.min(Math.floor((start[i] + dur[i] - from) * scale), n - 1);
        for (let b = Math.max(first, 0); b <= last; b++) bins[b]++;
      }
    }
    return bins;
  }

  /**
   * The next hit by its start.
   * @param {number|import("../data/segment.js").Ref} at a time; or a hit, so that those with the same start come too
   * @param {1|-1} dir
   * @returns {import("../data/segment.js").Ref|null}
   */
  next(at, dir) {
    const ref = typeof at === "number" ? null : homeOf(at);
    const time = typeof at === "number" ? at : at.seg.start[at.i];
    const place = ref ? this.segs.indexOf(ref.seg) : -1;
    return nearest(this.segs, time, place, ref ? ref.i : -1, dir, (seg) => {
      const before = this.upTo(seg);
      return (i) => before[i + 1] > before[i];
    });
  }
}

/**
 * The nearest item by start that a test accepts, after (dir 1) or before (-1)
 * item i of segment number place, or after or before a time if place is -1. Looks
 * at each item once, which costs less than keeping an order of them.
 * @param {import("../data/segment.js").Segment[]} segs
 * @param {number} time
 * @param {number} place
 * @param {number} i
 * @param {1|-1} dir
 * @param {(seg: import("../data/segment.js").Segment) => (i: number) => boolean} testOf
 * @returns {import("../data/segment.js").Ref|null}
 */
export function nearest(segs, time, place, i, dir, testOf) {
  let best = null;
  let bestTime = dir * Infinity;
  // Of those with the same start the order is that of segments and places, so
  // going through them from the end on that is looked from, the first one wins.
  for (let count = 0; count < segs.length; count++) {
    const s = dir > 0 ? count : segs.length - 1 - count;
    const seg = segs[s];
    const test = testOf(seg);
    const { start, n } = seg;
    for (let step = 0; step < n; step++) {
      const k = dir > 0 ? step : n - 1 - step;
      const t = start[k];
      if (dir > 0 ? t < time || t >= bestTime : t > time || t <= bestTime) continue;
      if (t === time && (place < 0 || (dir > 0 ? s < place || s === place && k <= i : s > place || s === place && k >= i))) continue;
      if (!test(k)) continue;
      best = { seg, i: k };
      bestTime = t;
    }
  }
  return best;
}
