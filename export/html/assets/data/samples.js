// Samples and waits with their stacks, as in a container.

/**
 * @typedef {import("./columns.js").Column} Column
 *
 * @typedef {{name: string, title: string, unit: string, sampled?: boolean, of?: number[]}} Metric
 * @typedef {[name: number, count: number, slow: number, limit: number]} Slowness
 * @typedef {{file: number, from: number, lines: string[], code?: number[]}} Excerpt code: lines that have code; undefined: unknown
 * @typedef {{from: string, to: string, file?: number, line?: number, text: string}} HotCall the compiler's treatment of a call; file 0: unknown
 * @typedef {{metrics: Metric[], preset: string, funcs: string[], files: string[], slow: Slowness[], res?: number, notes: string[], sources?: Excerpt[], calls?: HotCall[]}} SamplesHeader
 */

/**
 * The samples of a container. Stacks, frames and scopes are numbers; 0 is none, and a parent
 * has a smaller number than its child.
 */
export class Samples {
  /** @param {SamplesHeader} header @param {Map<string, Column>} columns */
  constructor(header, columns) {
    const column = (/** @type {string} */ name) => columns.get(name) ?? new Uint32Array(0);
    this.metrics = header.metrics ?? [];
    this.preset = Math.max(0, this.metrics.findIndex((m) => m.name === header.preset));
    this.funcs = header.funcs ?? [""];
    this.files = header.files ?? [""];
    /** By name. @type {Map<number, {count: number, slow: number, limit: number}>} */
    this.slow = new Map((header.slow ?? []).map(([name, count, slow, limit]) => [name, { count, slow, limit }]));
    this.res = header.res ?? 0;
    this.notes = header.notes ?? [];
    this.sources = header.sources ?? [];
    this.calls = header.calls ?? [];
    this.funcOwn = column("funcOwn"); // 1: a function of the program's own
    this.frameFunc = column("frameFunc");
    this.frameFile = column("frameFile");
    this.frameLine = column("frameLine");
    this.stackUp = column("stackUp");
    this.stackFrame = column("stackFrame");
    this.inUp = column("inUp");
    this.inName = column("inName");
    this.inSlow = column("inSlow");
    this.at = column("at");
    this.over = column("over");
    this.goid = column("goid");
    this.metric = column("metric");
    this.value = Float64Array.from(column("more"), (v, i) => v + this.over[i]);
    this.stack = column("stack");
    this.in = column("in");
    /** By stack: 1 if no enclosing frame has the leaf's function; see callgraph.js. @type {Uint8Array|null} */
    this.outer = null;
    /** @type {Map<number, number[]>|null} */
    this.byGoid = null;
    this.n = this.at.length;
    this.stacks = this.stackUp.length;
    this.check();
    /** The function of each stack's leaf. */
    this.func = Uint32Array.from(this.stackFrame, (f) => this.frameFunc[f]);
  }

  /** Checks all indexes, so that invalid numbers cause neither out-of-range accesses nor endless loops. */
  check() {
    const within = (/** @type {string} */ what, /** @type {Column} */ list, /** @type {number} */ end) => {
      for (let i = 0; i < list.length; i++) if (list[i] >= end) throw new Error(`The timeline's samples refer to a missing ${what}: ${list[i]} of ${end}.`);
    };
    const inner = (/** @type {string} */ what, /** @type {Column} */ list) => {
      for (let i = 1; i < list.length; i++) if (list[i] >= i) throw new Error(`The timeline's samples have a ${what} inside itself.`);
    };
    const same = (/** @type {Column[]} */ ...lists) => {
      if (lists.some((l) => l.length !== lists[0].length)) throw new Error("The timeline's samples have columns of different lengths.");
    };
    same(this.at, this.over, this.goid, this.metric, this.value, this.stack, this.in);
    same(this.frameFunc, this.frameFile, this.frameLine);
    same(this.stackUp, this.stackFrame);
    same(this.inUp, this.inName, this.inSlow);
    if (this.funcOwn.length !== this.funcs.length) throw new Error("The timeline's samples have functions without an owner.");
    within("function", this.frameFunc, this.funcs.length);
    within("file", this.frameFile, this.files.length);
    within("frame", this.stackFrame, this.frameFunc.length);
    within("stack", this.stack, this.stacks);
    within("scope", this.in, this.inUp.length);
    within("metric", this.metric, this.metrics.length);
    inner("stack", this.stackUp);
    inner("scope", this.inUp);
    for (const m of this.metrics) within("metric", Uint32Array.from(m.of ?? []), this.metrics.length);
  }

  /** Returns the index of a metric by name; -1: none. @param {string} name */
  metricOf(name) { return this.metrics.findIndex((m) => m.name === name); }

  /** Returns the metrics that add up to m, or m itself. @param {number} m */
  parts(m) { return this.metrics[m].of ?? [m]; }

  /**
   * Returns the samples of a goroutine that are estimates, in order of time.
   * @param {number} goid @returns {number[]}
   */
  ticks(goid) {
    if (!this.byGoid) {
      this.byGoid = new Map();
      for (let i = 0; i < this.n; i++) {
        if (!this.metrics[this.metric[i]].sampled) continue;
        const list = this.byGoid.get(this.goid[i]);
        if (list) list.push(i);
        else this.byGoid.set(this.goid[i], [i]);
      }
    }
    return this.byGoid.get(goid) ?? [];
  }

  /** Returns the frames of a stack, the leaf first. @param {number} stack @returns {number[]} */
  frames(stack) {
    const list = [];
    for (; stack !== 0; stack = this.stackUp[stack]) list.push(this.stackFrame[stack]);
    return list;
  }
}
