// Draws the bars of a track of an answer.

import { lowerBound } from "../data/bisect.js";
import { baseline } from "./bar.js";
import { colorOf } from "./color.js";
import { cutText } from "./label.js";
import { sizes } from "./layout.js";

/** @typedef {import("../model/answertrack.js").AnswerTrack} AnswerTrack */

/** The width from which on a bar has a label, px. */
const labelAnswer = 24;

/** @param {import("./draw.js").Painter} p @param {AnswerTrack} track @param {number} top @param {string} row its title */
export function drawAnswer(p, track, top, row) {
  const { ctx } = p;
  track.lines.forEach((line, k) => {
    const y = top + k * sizes.line;
    let until = -Infinity; // a bar that ends before this px is covered
    for (let i = lowerBound(line.ends, p.from); i < line.starts.length && line.starts[i] <= p.to; i++) {
      const x0 = Math.max((line.starts[i] - p.from) * p.scale, -2);
      const x1 = Math.min(Math.max((line.ends[i] - p.from) * p.scale, x0 + 1), p.width + 2);
      if (x1 < until + 0.5) continue;
      until = x1;
      ctx.fillStyle = colorOf(line.labels[i]);
      ctx.fillRect(x0, y + 1, x1 - x0, sizes.line - 3);
      p.drawn.answers++;
      if (x1 - x0 < labelAnswer) continue;
      const text = cutText(p, line.labels[i], Math.min(x1, p.width) - Math.max(x0, 0) - 5);
      if (text === "") continue;
      ctx.fillStyle = p.colors["bar-text"];
      ctx.fillText(text, Math.max(x0, 0) + 3, y + baseline());
      p.drawn.labels.push({ label: line.labels[i], row });
    }
  });
}

/**
 * Returns the place of the bar at a point; null: none.
 * @param {AnswerTrack} track @param {number} inside px below the track's top @param {number} t @param {number} near ns
 */
export function answerAt(track, inside, t, near) {
  const line = track.lines[Math.floor(inside / sizes.line)];
  if (!line) return null;
  const i = lowerBound(line.ends, t - near);
  return i < line.starts.length && line.starts[i] <= t + near ? line.places[i] : null;
}
