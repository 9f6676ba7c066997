// The heartbeat: the process's CPU against what it may use, memory, goroutines and GC
// cycles. They are steps over the time between two beats, in the view's range.

import { createPlot } from "./plot.js";
import { bytes, digits3, thousands } from "./time.js";

/** @import { App } from "../app.js" */

/**
 * @param {App} app
 * @returns {{element: DocumentFragment, update(): void, draw(colors: Record<string, string>): void}}
 */
export function createHeart(app) {
  const cpu = createPlot("cpu", 46, "CPU used by the process, against the CPUs it may use");
  const memory = createPlot("memory", 24, "Memory of the process");
  const count = createPlot("goroutines", 24, "Goroutines");
  const element = document.createDocumentFragment();
  element.append(cpu.element, memory.element, count.element);
  for (const plot of [cpu, memory, count]) {
    plot.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => app.hover(e.offsetX / plot.canvas.clientWidth));
    plot.canvas.addEventListener("pointerleave", () => app.hover(null));
  }

  /** @param {number} time the index of the beat at whose end time lies, -1: none */
  function beatAt(time) {
    const list = beats().time;
    for (let k = 1; k < list.length; k++) if (time <= list[k]) return time >= list[k - 1] ? k : -1;
    return -1;
  }

  /** @returns {import("../data/meta.js").Beats} */
  function beats() { return app.model.meta.beats ?? { time: [] }; }

  /** CPUs used between two beats. @param {string} part @param {number} k */
  function rate(part, k) {
    const b = beats();
    const v = b[part]?.[k];
    const d = b.time[k] - b.time[k - 1];
    return v === null || v === undefined || !(d > 0) ? NaN : v / d;
  }

  function update() {
    const b = beats();
    const last = b.time.length - 1;
    const k = app.cursor === null ? -1 : beatAt(app.cursor);
    const cpus = app.model.meta.cpus ?? 0;
    const of = cpus > 0 ? ` of ${digits3(cpus)}` : "";
    if (last < 1) {
      const why = last < 0 ? "no heartbeat" : "one beat: nothing to compare";
      cpu.say([["CPU", why]]);
      memory.say([["memory", ""]]);
      count.say([["goroutines", ""]]);
      return;
    }
    if (k > 0) {
      const user = rate("user", k);
      const system = rate("sys", k);
      cpu.say([["CPU", Number.isNaN(user) ? "unknown" : `${digits3(user + system)}${of}`],
        ["", `user ${num(user)}`], ["", `system ${num(system)}`]]);
    } else {
      cpu.say([["CPU", of ? `${of.slice(1)} CPUs` : "CPUs unknown"], ["", "user, system"]]);
    }
    const at = k > 0 ? k : last;
    memory.say([["memory", size(b.rss?.[at])], ["", `heap ${size(b.heap?.[at])}`]]);
    count.say([["goroutines", b.goroutines?.[at] === null || b.goroutines?.[at] === undefined ? "unknown" : thousands(b.goroutines[at])],
      ["", k > 0 && b.gc?.[k] ? `${b.gc[k]} GC` : "▾ GC cycles"]]);
  }

  /** @param {number} v */
  function num(v) { return Number.isNaN(v) ? "unknown" : digits3(v); }
  /** @param {number|null|undefined} v */
  function size(v) { return v === null || v === undefined ? "unknown" : bytes(v); }

  /**
   * Steps of values over the beats' intervals, the highest value at the top.
   * @param {import("./plot.js").Plot} plot @param {{value: (k: number) => number, color: string, fill: boolean, base?: (k: number) => number}[]} layers
   * @param {number} top
   */
  function steps(plot, layers, top, lead = false) {
    const { ctx, width, height } = plot.begin(app.colors);
    const time = beats().time;
    const scale = width / (app.view.to - app.view.from);
    const x = (/** @type {number} */ t) => (t - app.view.from) * scale;
    const y = (/** @type {number} */ v) => height - 1 - (v / top) * (height - 5);
    for (const layer of layers) {
      ctx.fillStyle = layer.color;
      for (let k = 1; k < time.length; k++) {
        const v = layer.value(k);
        const x0 = Math.max(0, x(time[k - 1]));
        const x1 = Math.min(width, x(time[k]));
        if (Number.isNaN(v) || x1 <= x0) continue;
        const bottom = layer.base ? y(layer.base(k)) : height - 1;
        if (layer.fill) ctx.fillRect(x0, y(v), x1 - x0, bottom - y(v));
        else ctx.fillRect(x0, y(v) - 0.75, x1 - x0, 1.5);
      }
    }
    if (lead && app.cursor !== null) {
      ctx.fillStyle = app.colors.fg;
      ctx.fillRect(Math.round(x(app.cursor)), 0, 1, height);
    }
    return { ctx, x, y, width, height };
  }

  /** @param {Record<string, string>} colors */
  function draw(colors) {
    const b = beats();
    const value = (/** @type {string} */ part) => (/** @type {number} */ k) => {
      const v = b[part]?.[k];
      return v === null || v === undefined ? NaN : v;
    };
    const cpus = app.model.meta.cpus ?? 0;
    let top = cpus > 0 ? cpus : 1;
    for (let k = 1; k < b.time.length; k++) top = Math.max(top, (rate("user", k) + rate("sys", k)) || 0);
    const c = steps(cpu, [
      { value: (k) => rate("user", k), color: colors["cpu-user"], fill: true },
      { value: (k) => rate("user", k) + rate("sys", k), base: (k) => rate("user", k), color: colors["cpu-system"], fill: true },
    ], top * 1.05, true);
    if (cpus > 0) {
      c.ctx.strokeStyle = colors["cpu-limit"];
      c.ctx.setLineDash([4, 3]);
      c.ctx.beginPath();
      c.ctx.moveTo(0, Math.round(c.y(cpus)) + 0.5);
      c.ctx.lineTo(c.width, Math.round(c.y(cpus)) + 0.5);
      c.ctx.stroke();
      c.ctx.setLineDash([]);
    }
    const most = (/** @type {string[]} */ parts) => Math.max(1, ...parts.flatMap((p) => (b[p] ?? []).filter((/** @type {any} */ v) => v !== null)));
    steps(memory, [
      { value: value("rss"), color: colors.memory, fill: true },
      { value: value("heap"), color: colors.heap, fill: false },
    ], most(["rss", "heap"]) * 1.05, true);
    const g = steps(count, [{ value: value("goroutines"), color: colors.count, fill: false }], most(["goroutines"]) * 1.15, true);
    g.ctx.fillStyle = colors["fg-dim"];
    for (let k = 1; k < b.time.length; k++) {
      if (!b.gc?.[k]) continue;
      // Only the number of cycles since the last beat is known, not their moments.
      const x0 = g.x(b.time[k - 1]);
      const x1 = g.x(b.time[k]);
      const n = Math.min(b.gc[k] ?? 0, Math.max(1, Math.floor((x1 - x0) / 6)));
      for (let i = 0; i < n; i++) {
        const x = x0 + ((i + 0.5) * (x1 - x0)) / n;
        if (x < 0 || x > g.width) continue;
        g.ctx.beginPath();
        g.ctx.moveTo(x - 3, g.height - 6);
        g.ctx.lineTo(x + 3, g.height - 6);
        g.ctx.lineTo(x, g.height - 1);
        g.ctx.fill();
      }
    }
  }
  return { element, update, draw };
}
