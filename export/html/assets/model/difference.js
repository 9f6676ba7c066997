// The differences of two selections of samples, by metric and by place. The rules are those
// of the command line's `functions --slowest`.

import { weigh } from "./callgraph.js";

/**
 * @typedef {import("../data/samples.js").Samples} Samples
 * @typedef {import("./callgraph.js").Choice} Choice
 *
 * One side: its samples and their number of executions. With that number, values are per
 * execution; otherwise they are sums.
 * @typedef {{choice: Choice, label: string, executions?: number}} Side
 *
 * The values of both sides in a metric; frame is the place, 0: anywhere. The place of
 * samples is a function, that of waits a line of the program's own code.
 * @typedef {{metric: number, frame: number, a: number, b: number}} Contrast
 *
 * @typedef {{a: Side, b: Side, metrics: Contrast[], places: Contrast[]}} Difference both lists sorted by the excess of b
 */

/** Compares two selections, in time. @param {Samples} s @param {Side} a @param {Side} b @returns {Difference} */
export function difference(s, a, b) {
  const metrics = s.metrics.map((_, m) => m).filter((m) => !s.metrics[m].of && s.metrics[m].unit === "nanoseconds");
  const own = ownFrames(s);
  const byMetric = new Map();
  const byPlace = new Map();
  const count = (to, metric, frame, side, v) => {
    const key = frame * s.metrics.length + metric;
    let c = to.get(key);
    if (!c) to.set(key, c = { metric, frame, a: 0, b: 0 });
    c[side] += v;
  };
  for (const [name, side] of /** @type {["a"|"b", Side][]} */ ([["a", a], ["b", b]])) {
    weigh(s, side.choice, metrics).forEach((weight, k) => {
      const m = metrics[k];
      const places = s.metrics[m].sampled ? leaves(s) : own;
      for (let at = 1; at < s.stacks; at++) {
        if (weight[at] === 0) continue;
        const v = weight[at] / Math.max(1, side.executions ?? 1);
        count(byMetric, m, 0, name, v);
        count(byPlace, m, places[at], name, v);
      }
    });
  }
  const sorted = (of) => [...of.values()].sort((x, y) => y.b - y.a - (x.b - x.a) || x.metric - y.metric || x.frame - y.frame);
  return { a, b, metrics: sorted(byMetric), places: sorted(byPlace) };
}

/** Returns by stack the first frame with its leaf's function: a function has several samples, a line hardly any. */
function leaves(s) {
  const first = new Map();
  const list = new Uint32Array(s.stacks);
  for (let k = 1; k < s.stacks; k++) {
    const f = s.stackFrame[k];
    const key = s.frameFunc[f] * s.files.length + s.frameFile[f];
    if (!first.has(key)) first.set(key, f);
    list[k] = first.get(key);
  }
  return list;
}

/** Returns by stack the innermost frame of the program's own code; the leaf if there is none. */
function ownFrames(s) {
  const own = new Uint32Array(s.stacks);
  for (let k = 1; k < s.stacks; k++) own[k] = s.funcOwn[s.func[k]] ? s.stackFrame[k] : own[s.stackUp[k]];
  for (let k = 1; k < s.stacks; k++) if (own[k] === 0) own[k] = s.stackFrame[k];
  return own;
}

/**
 * Describes the largest part of the difference and its place; "" if b has no more than a.
 * @param {Samples} s @param {Difference} d
 * @param {{span(ns: number): string, share(x: number): string, place(metric: number, frame: number): string}} words
 */
export function differenceText(s, d, words) {
  const syscall = s.metricOf("syscall"); // may have had a CPU and be counted already
  const all = d.metrics.reduce((sum, c) => sum + (c.metric === syscall ? 0 : c.b - c.a), 0);
  const [most] = d.metrics;
  if (!most || all <= 0 || most.b <= most.a) return "";
  const where = d.places.find((p) => p.metric === most.metric);
  const longer = d.b.executions !== undefined ? `a slow execution takes ${words.span(all)} longer` : `${d.b.label} has ${words.span(all)} more than ${d.a.label}`;
  return `${longer}, ${words.share(Math.min((most.b - most.a) / all, 1))} of it: ${s.metrics[most.metric].title}` + (where ? `, most in ${words.place(most.metric, where.frame)}` : "");
}
