// Long computations are generators that yield every few thousand steps. So the page can
// do them in slices, between which it draws and hears keys.

/** A slice takes so many ms: less than a frame. */
const slice = 12;

/** Has the browser do what else there is. A timer would wait for 4 ms each time. */
function nextTurn() {
  return /** @type {Promise<void>} */ (new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close(); // node would wait for it
      done();
    };
    port2.postMessage(0);
  }));
}

/**
 * Does steps in slices, until stale says that nobody wants the result any more.
 * @template T
 * @param {Generator<unknown, T>} steps
 * @param {() => boolean} stale
 * @returns {Promise<T|undefined>} what they return; undefined: they were given up
 */
export async function inSlices(steps, stale) {
  for (let until = performance.now() + slice; ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < until) continue;
    await nextTurn();
    if (stale()) return undefined;
    until = performance.now() + slice;
  }
}

/**
 * Has one computation run at a time. One for another question has it given up. One for
 * the same question, as news came meanwhile, has again called when it is done: news that
 * come faster than it is done would else keep it from ever ending.
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
   * @returns {Promise<T|undefined>} undefined: it was given up, or not begun
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

/**
 * Does all steps at once.
 * @template T
 * @param {Generator<unknown, T>} steps
 * @returns {T}
 */
export function atOnce(steps) {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Up to so many values are sorted between two yields. */
const sortedAtOnce = 1 << 14;

/**
 * Sorts a list, equals staying in their order. It becomes scratch space.
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

/** Numbers by their size. @param {number} a @param {number} b */
export function byNumber(a, b) { return a - b; }
