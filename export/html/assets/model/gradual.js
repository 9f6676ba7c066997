// Values that may take long to compute: at once where there is little to do, else in slices, between which the page
// draws and handles keys.

import { atOnce, inSlices, nextTurn } from "../data/slices.js";

/** The number of scopes, states or rows that are handled at once: some 10 ms. */
const handledAtOnce = 20000;

/** The latest value by key. */
export class Gradual {
  /** @param {(layout: boolean) => void} ready called after a value was computed in slices; layout: the rows depend on it */
  constructor(ready) {
    this.ready = ready;
    /** @type {Map<string, any>} */
    this.values = new Map();
    /** @type {Set<string>} */
    this.running = new Set();
    this.epoch = 0;
  }

  clear() {
    this.epoch++;
    this.values.clear();
    this.running.clear();
  }

  /** Returns the latest value; undefined: there is none yet. @param {string} key */
  get(key) { return this.values.get(key); }

  /**
   * Computes a value anew, unless it is being computed: then the caller asks again once that is ready.
   * @template T
   * @param {string} key
   * @param {number} work the number of things to handle
   * @param {() => Generator<unknown, T>} steps
   * @param {boolean} [layout] the rows depend on the value
   * @returns {T|undefined} the value; in slices, the latest one
   */
  make(key, work, steps, layout = false) {
    if (work <= handledAtOnce) this.values.set(key, atOnce(steps()));
    else if (!this.running.has(key)) this.begin(key, steps(), layout);
    return this.values.get(key);
  }

  /** @param {string} key @param {Generator<unknown, any>} steps @param {boolean} layout */
  async begin(key, steps, layout) {
    const { epoch } = this;
    this.running.add(key);
    await nextTurn(); // the page is being drawn
    const value = await inSlices(steps, () => this.epoch !== epoch);
    if (this.epoch !== epoch) return;
    this.running.delete(key);
    this.values.set(key, value);
    this.ready(layout);
  }
}

/** Reports whether two lists have the same elements. @param {readonly any[]} a @param {readonly any[]} b */
export function sameList(a, b) { return a === b || a.length === b.length && a.every((x, k) => x === b[k]); }
