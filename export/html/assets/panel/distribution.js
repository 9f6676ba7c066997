// The place of a duration among all durations of its name: a small histogram on a logarithmic scale.

import { make, nameText } from "../view/make.js";
import { percentText, thousands } from "../view/numbers.js";

/** @import { App } from "../app.js" */

/**
 * Returns the sentence with the number of scopes of the name that were shorter.
 * @param {{rank:number, of:number}} d rank: number of shorter ones
 * @returns {string}
 */
export function distributionText(d) {
  if (d.of <= 1) return "the only one of its name that ended";
  const all = `${thousands(d.of)} of its name`;
  if (d.rank >= d.of - 1) return `the longest of ${all}`;
  if (d.rank <= 0) return `the shortest of ${all}`;
  return `longer than ${percentText(d.rank / d.of)} of ${all}`;
}

/**
 * Returns the bars of a histogram.
 * @param {App} app
 * @param {{lo: number, hi: number, count: number}[]} buckets
 * @param {string} color
 * @param {number} [marked] one with a different color
 * @returns {HTMLElement[]}
 */
export function bucketBars(app, buckets, color, marked) {
  const most = buckets.reduce((m, b) => Math.max(m, b.count), 1);
  return buckets.map((b, k) => {
    const fill = make("span");
    fill.style.height = b.count > 0 ? `max(2px, ${((b.count / most) * 100).toFixed(1)}%)` : "0";
    if (k !== marked) fill.style.backgroundColor = color;
    return make("span", { class: "bucket" + (k === marked ? " here" : ""), title: `${app.span(b.lo)} – ${app.span(b.hi)}: ${thousands(b.count)}` }, fill);
  });
}

/**
 * Returns the view of a distribution.
 * @param {App} app
 * @param {{buckets:{lo:number, hi:number, count:number}[], rank:number, of:number}} d
 * @param {string} name
 * @param {number} dur the one that is marked
 * @param {string} color
 * @returns {HTMLElement}
 */
export function distributionView(app, d, name, dur, color) {
  const text = distributionText(d);
  const marked = d.buckets.findIndex((b, k) => dur >= b.lo && (dur < b.hi || k === d.buckets.length - 1));
  const bars = bucketBars(app, d.buckets, color, marked);
  const first = d.buckets[0];
  const last = d.buckets[d.buckets.length - 1];
  return make("figure", { class: "distribution" },
    make("figcaption", { text }),
    d.of > 1 && first
      ? make("div", { class: "plotted", role: "img", "aria-label": `Durations of ${nameText(name)}, from ${app.span(first.lo)} to ${app.span(last.hi)}; this one is ${text}` }, ...bars)
      : null,
    d.of > 1 && first
      ? make("div", { class: "scale", "aria-hidden": "true" }, make("span", { text: app.span(first.lo) }), make("span", { text: "log" }), make("span", { text: app.span(last.hi) }))
      : null);
}
