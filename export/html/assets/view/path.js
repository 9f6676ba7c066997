// The critical path on the rows: the steps on which the end of the run depended.

import { bisect } from "../data/bisect.js";

/**
 * Draws a line along the top of a row, or of its group, during each step of the path, and a vertical line to the next.
 * @param {import("./draw.js").Painter} p
 * @param {import("../app.js").App} app
 * @param {(key: number) => {y: number}|null} placeOf
 */
export function drawPath(p, app, placeOf) {
  const steps = app.path && app.by === "goroutine" ? p.model.doctor?.critical_path?.find((c) => c.of === "")?.steps ?? [] : [];
  const { ctx } = p;
  /** @type {{x: number, y: number, until: number}|null} the end of the step before */
  let last = null;
  const first = bisect(0, steps.length, (k) => steps[k][2] < p.from);
  for (let k = Math.max(0, first - 1); k < steps.length && steps[k][1] <= p.to; k++) {
    const [goid, from, to] = steps[k];
    const place = placeOf(goid);
    if (!place) {
      last = null;
      continue;
    }
    const x0 = Math.max(-4, (from - p.from) * p.scale);
    const x1 = Math.min(p.width + 4, Math.max(x0 + 1, (to - p.from) * p.scale));
    const y = place.y - 1;
    p.drawn.path++;
    for (const [color, more] of /** @type {[string, number][]} */ ([[p.colors.bg, 1], [p.colors.selected, 0]])) {
      ctx.fillStyle = color;
      ctx.fillRect(x0, y - more, x1 - x0, 3 + 2 * more);
      if (last && last.until === from) ctx.fillRect(x0 - 1 - more, Math.min(last.y, y), 2 + 2 * more, Math.abs(last.y - y) + 3);
    }
    last = { x: x1, y, until: to };
  }
}
