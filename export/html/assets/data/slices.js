// Long computations are generators that yield every few thousand steps. The page runs them
// in slices, between which it draws and handles keys.

/** The duration of a slice, in ms: less than a frame. */
const slice = 12;

/** Waits for the next turn of the event loop. A timer would wait at least 4 ms. */
export function nextTurn() {
  return /** @type {Promise<void>} */ (new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close(); // node would wait for an open port
      done();
    };
    port2.postMessage(0);
  }));
}

/** The end of the slice of the running turn, which all computations that begin in it share; 0: none has begun. */
let sliceEnd = 0;

/** Begins a slice, in a new turn. */
function beginSlice() {
  const end = performance.now() + slice;
  sliceEnd = end;
  nextTurn().then(() => { if (sliceEnd === end) sliceEnd = 0; });
  return end;
}

/** Waits for the next turn, if the slice of this one is over. */
export async function breathe() {
  if (performance.now() < (sliceEnd || beginSlice())) return;
  await nextTurn();
  beginSlice();
}

/**
 * Runs steps in slices until they end or stale returns true.
 * @template T
 * @param {Generator<unknown, T>} steps
 * @param {() => boolean} stale
 * @returns {Promise<T|undefined>} their result; undefined: abandoned
 */
export async function inSlices(steps, stale) {
  for (let end = sliceEnd || beginSlice(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < end) continue;
    await nextTurn();
    if (stale()) return undefined;
    end = beginSlice();
  }
}

/**
 * Returns a function that runs one computation at a time. A new question abandons the
 * running computation. The same question, after an update, lets it finish and then calls
 * again: otherwise updates faster than the computation would keep it from ever ending.
 * @param {() => void} again
 */
export function oneAtATime(again) {
  /** @type {string|null} */
  let asked = null;
  let last = 0;
  let missed = false;
  /**
   * @template T
   * @param {string} question
   * @param {(stale: () => boolean) => Promise<T|undefined>} compute
   * @returns {Promise<T|undefined>} undefined: abandoned, or not started
   */
  return async function run(question, compute) {
    if (question === asked) {
      missed = true;
      return undefined;
    }
    const mine = ++last;
    asked = question;
    missed = false;
    try {
      const result = await compute(() => mine !== last);
      return mine === last ? result : undefined;
    } finally {
      if (mine === last) {
        asked = null;
        if (missed) again();
      }
    }
  };
}

/** Runs all steps at once. @template T @param {Generator<unknown, T>} steps @returns {T} */
export function atOnce(steps) {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The number of values sorted between two yields. */
const sortedAtOnce = 1 << 14;

/**
 * Sorts a list, stably. The list becomes scratch space.
 * @template {Float64Array|Uint32Array|any[]} L
 * @param {L} list
 * @param {(a: any, b: any) => number} compare
 * @returns {Generator<void, L>}
 */
export function* sortSteps(list, compare) {
  const n = list.length;
  for (let k = 0; k < n; k += sortedAtOnce) {
    const part = list.slice(k, k + sortedAtOnce).sort(compare);
    for (let j = 0; j < part.length; j++) list[k + j] = part[j];
    yield;
  }
  let source = list;
  let target = /** @type {L} */ (n > sortedAtOnce ? list.slice() : list);
  for (let wide = sortedAtOnce; wide < n; wide *= 2) {
    for (let from = 0; from < n; from += 2 * wide) {
      const mid = Math.min(from + wide, n);
      const to = Math.min(mid + wide, n);
      for (let a = from, b = mid, at = from; at < to;) {
        if (b >= to || a < mid && compare(source[a], source[b]) <= 0) target[at++] = source[a++];
        else target[at++] = source[b++];
        if ((at & 0x3fff) === 0) yield;
      }
    }
    [source, target] = [target, source];
  }
  return source;
}

/** Compares numbers. @param {number} a @param {number} b */
export function byNumber(a, b) { return a - b; }
