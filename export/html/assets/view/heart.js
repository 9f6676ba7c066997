// The graphs above the rows: the process's CPU time against its limit, memory, and the
// number of goroutines. Their legends show the values at the pointer, or of the view.

import { awaitedOf, drawAwaited } from "./awaited.js";
import { sampledIn, sampledText, sampledValue, usedCPUs, usedIn } from "./beats.js";
import { drawCounts, highestCounts, countsText } from "./countplot.js";
import { makeButton, make } from "./make.js";
import { createPlot, drawScale, niceBytes, niceNumber } from "./plot.js";
import { momentText } from "./ruler.js";
import { bytes, digits3, thousands } from "./numbers.js";

/** @import { App } from "../app.js" */

const graphHeight = 28;

/**
 * @param {App} app
 * @returns {{element: DocumentFragment, update(): void, draw(colors: Record<string, string>): void}}
 */
export function createHeart(app) {
  const cpu = createPlot("cpu", graphHeight, "CPU used by the process, and the CPUs that it may use");
  const count = createPlot("goroutines", graphHeight, "Goroutines that ran, were runnable, and waited");
  const memory = createPlot("memory", graphHeight, "Memory of the process");
  const line = make("div", { class: "heart-line" });
  const more = makeButton("▾", () => app.nextGraphs(), { class: "heart-more", title: "Graphs: two, with memory, none (Shift+Q)" });
  const element = document.createDocumentFragment();
  element.append(more, line, cpu.element, count.element, memory.element);
  for (const plot of [cpu, memory, count]) {
    plot.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => app.hover(e.offsetX / plot.canvas.clientWidth));
    plot.canvas.addEventListener("pointerleave", () => app.hover(null));
  }
  app.on("graphs", arrange);
  app.on("model", arrange);
  arrange();

  /** @returns {import("../data/meta.js").Beats} */
  function beats() { return app.model.meta.beats ?? { time: [] }; }
  function time(/** @type {number} */ ns) { return momentText(app, ns, Math.min(1e8, (app.view.to - app.view.from) / 10)); }
  /** The interval between two beats. */
  function used(/** @type {number} */ k) { return usedCPUs(beats(), "user", k) + usedCPUs(beats(), "sys", k); }

  /** Shows the chosen graphs, or their line if there is nothing to draw. */
  function arrange() {
    const graphs = app.graphs !== "line" && (app.growing || beats().time.length > 1 || (app.model.waits.states?.complete.length ?? 0) > 0);
    line.hidden = graphs;
    cpu.element.hidden = count.element.hidden = !graphs;
    memory.element.hidden = !graphs || app.graphs !== "all";
    more.textContent = graphs ? "▾" : "▸";
    more.setAttribute("aria-label", `Graphs: ${app.graphs}. Change (Shift+Q)`);
  }

  /**
   * Returns the contents of the legends.
   * @returns {{cpu: [string, string][], memory: [string, string][], count: [string, string, string?][]}}
   */
  function facts() {
    const b = beats();
    const [from, to] = app.cursor === null ? [app.view.from, app.view.to] : [app.cursor, app.cursor];
    const cpus = app.model.meta.cpus ?? 0;
    const words = (/** @type {import("./beats.js").Sampled|null} */ s) => sampledText(s, digits3, time);
    const size = (/** @type {import("../data/meta.js").BeatField} */ part) => sampledText(sampledIn(b, part, from, to), bytes, time);
    const why = b.time.length === 0 ? "no heartbeat" : b.time.length === 1 ? "only one heartbeat: no rate" : "";
    const of = cpus > 0 ? ` of ${digits3(cpus)}` : "";
    return {
      cpu: why ? [["CPU", why]] : [["CPU", words(usedIn(b, used, from, to)) + of], ["user", words(usedIn(b, (k) => usedCPUs(b, "user", k), from, to))], ["system", words(usedIn(b, (k) => usedCPUs(b, "sys", k), from, to))]],
      memory: b.time.length === 0 ? [["memory", "unknown"]] : [["memory", size("rss")], ["heap", size("heap")]],
      count: countsText(app.model.waits.counts, from, to) ?? [["goroutines", b.time.length === 0 ? "unknown" : sampledText(sampledIn(b, "goroutines", from, to), thousands, time)]],
    };
  }

  function update() {
    const f = facts();
    const text = (/** @type {[string, string, string?][]} */ list) => list.map(([name, value]) => `${name} ${value}`).join(", ");
    if (!line.hidden) {
      const summary = `${text(f.cpu)}  ·  ${text(f.count)}  ·  ${text(f.memory)}`;
      if (line.textContent !== summary) line.textContent = summary;
      return;
    }
    cpu.setLegend([f.cpu.slice(0, 1), app.cursor === null && memory.element.hidden ? f.memory.slice(0, 1) : f.cpu.slice(1)]);
    count.setLegend([f.count.slice(0, 2), f.count.slice(2)]);
    memory.setLegend([f.memory.slice(0, 1), f.memory.slice(1)]);
  }

  /**
   * Draws steps of values over the beats' intervals, with a scale.
   * @param {import("./plot.js").Plot} plot @param {{value: (k: number) => number, color: string, fill: boolean, base?: (k: number) => number}[]} layers
   * @param {number} top the value at the top @param {string} label
   */
  function steps(plot, layers, top, label) {
    const { ctx, width, height } = plot.begin(app.colors);
    const { time: at } = beats();
    const scale = width / (app.view.to - app.view.from);
    const x = (/** @type {number} */ t) => (t - app.view.from) * scale;
    const y = (/** @type {number} */ v) => height - 1 - (v / top) * (height - 4);
    for (const layer of layers) {
      ctx.fillStyle = layer.color;
      for (let k = 1; k < at.length; k++) {
        const v = layer.value(k);
        const x0 = Math.max(0, x(at[k - 1]));
        const x1 = Math.min(width, x(at[k]));
        if (Number.isNaN(v) || x1 <= x0) continue;
        const bottom = layer.base ? y(layer.base(k)) : height - 1;
        if (layer.fill) ctx.fillRect(x0, y(v), x1 - x0, bottom - y(v));
        else ctx.fillRect(x0, y(v) - 0.75, x1 - x0, 1.5);
      }
    }
    drawScale(ctx, app.colors, label, y(top), width);
    return { ctx, x, y, width, height };
  }

  /** Draws the pointer's line. @param {{ctx: CanvasRenderingContext2D, x: (t: number) => number, height: number}} g */
  function pointAt({ ctx, x, height }) {
    if (app.cursor === null) return;
    ctx.fillStyle = app.colors.fg;
    ctx.fillRect(Math.round(x(app.cursor)), 0, 1, height);
  }

  /** @param {Record<string, string>} colors */
  function drawCPU(colors) {
    const b = beats();
    const cpus = app.model.meta.cpus ?? 0;
    let top = cpus > 0 ? cpus : 1;
    for (let k = 1; k < b.time.length; k++) top = Math.max(top, used(k) || 0);
    top = niceNumber(top);
    const user = (/** @type {number} */ k) => usedCPUs(b, "user", k);
    const c = steps(cpu, [{ value: user, color: colors["cpu-user"], fill: true }, { value: used, base: user, color: colors["cpu-system"], fill: true }], top, `${digits3(top)} CPUs`);
    if (cpus > 0 && cpus < top) {
      c.ctx.strokeStyle = colors["cpu-limit"];
      c.ctx.setLineDash([4, 3]);
      c.ctx.beginPath();
      c.ctx.moveTo(0, Math.round(c.y(cpus)) + 0.5);
      c.ctx.lineTo(c.width, Math.round(c.y(cpus)) + 0.5);
      c.ctx.stroke();
      c.ctx.setLineDash([]);
    }
    pointAt(c);
  }

  /** @param {Record<string, string>} colors */
  function drawMemory(colors) {
    const b = beats();
    const known = [...b.rss ?? [], ...b.heap ?? []].filter((v) => v !== null);
    const top = niceBytes(Math.max(1, ...known));
    pointAt(steps(memory, [
      { value: (k) => sampledValue(b, "rss", k), color: colors.memory, fill: true },
      { value: (k) => sampledValue(b, "heap", k), color: colors.heap, fill: false },
    ], top, bytes(top)));
  }

  /**
   * Draws the number of goroutines: counted from the Go execution trace, otherwise sampled.
   * @param {Record<string, string>} colors
   */
  function drawGoroutines(colors) {
    const b = beats();
    const { counts } = app.model.waits;
    const value = (/** @type {number} */ k) => (counts.some((c) => c.between(b.time[k - 1], b.time[k]) !== null) ? NaN : sampledValue(b, "goroutines", k));
    const most = Math.max(1, ...b.time.map((_, k) => value(k) || 0));
    const top = counts.length > 0 ? Math.max(most, highestCounts(counts, app.view.from, app.view.to).all) : niceNumber(most);
    const g = steps(count, [{ value, color: colors.count, fill: false }], top, counts.length > 0 ? "" : thousands(top));
    if (counts.length > 0) drawCounts(g.ctx, app, colors, counts, g.width, g.height);
    const awaited = awaitedOf(g.ctx, app);
    drawAwaited({ ctx: g.ctx, from: app.view.from, scale: g.width / (app.view.to - app.view.from), awaited, drawn: { awaited: 0 } }, awaited.derived, 0, g.height);
    drawCycles(g, colors["fg-dim"]);
    pointAt(g);
  }

  /** GC cycles: their number since the last beat is known, not their moments. @param {{ctx: CanvasRenderingContext2D, x: (t: number) => number, width: number, height: number}} g @param {string} color */
  function drawCycles({ ctx, x: xOf, width, height }, color) {
    const b = beats();
    ctx.fillStyle = color;
    for (let k = 1; k < b.time.length; k++) {
      if (!b.gc?.[k]) continue;
      const x0 = xOf(b.time[k - 1]);
      const x1 = xOf(b.time[k]);
      const n = Math.min(b.gc[k] ?? 0, Math.max(1, Math.floor((x1 - x0) / 6)));
      for (let i = 0; i < n; i++) {
        const x = x0 + ((i + 0.5) * (x1 - x0)) / n;
        if (x < 0 || x > width) continue;
        ctx.beginPath();
        ctx.moveTo(x - 3, height - 6);
        ctx.lineTo(x + 3, height - 6);
        ctx.lineTo(x, height - 1);
        ctx.fill();
      }
    }
  }

  /** @param {Record<string, string>} colors */
  function draw(colors) {
    if (cpu.element.hidden) return;
    drawCPU(colors);
    drawGoroutines(colors);
    if (!memory.element.hidden) drawMemory(colors);
  }
  return { element, update, draw };
}
