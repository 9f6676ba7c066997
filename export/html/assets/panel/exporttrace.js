// Export of the visible range as a trace in Chrome's JSON format, which Perfetto, Speedscope
// and others open: like `scopeview export chrome`, as far as the page has the data.

import { Flag, Kind, Quality } from "../data/kinds.js";
import { rowsOfArea } from "../model/area.js";

/** @typedef {import("../data/batch.js").Batch} Batch */

const traceKinds = {
  [Kind.task]: "task", [Kind.taskf]: "task", [Kind.process]: "process", [Kind.event]: "event", [Kind.pending]: "pending", [Kind.wait]: "wait", [Kind.hold]: "hold",
};

/** The number of events per piece. */
const traceChunk = 1 << 12;

/** The viewer's threads of one row. On each of them events nest, as viewers require. */
class NestedThreads {
  constructor() {
    /** By thread, the ends of the open events. @type {number[][]} */
    this.open = [];
  }

  /**
   * Returns the first thread on which [start, end] nests in the open events or follows them.
   * @param {number} start @param {number} end
   */
  put(start, end) {
    for (let k = 0; ; k++) {
      const ends = this.open[k] ??= [];
      while (ends.length > 0 && ends[ends.length - 1] <= start) ends.pop();
      if (ends.length > 0 && ends[ends.length - 1] < end) continue;
      ends.push(end);
      return k;
    }
  }
}

/**
 * Yields the events of all items that touch the range, in pieces. Merged scopes are left out and counted in skipped.
 * @param {import("../model/model.js").Model} model
 * @param {number} from @param {number} to
 * @param {{merged: number}} skipped
 * @param {ReadonlySet<string>|null} [area] the rows of the range; null: all
 * @returns {Generator<string>}
 */
export function* tracePieces(model, from, to, skipped, area = null) {
  let first = true;
  /** @type {string[]} */
  let lines = [];
  const put = (/** @type {object} */ event) => {
    lines.push(`${first ? "" : ","}\n${JSON.stringify(event)}`);
    first = false;
  };
  yield '{"displayTimeUnit":"ns","traceEvents":[';
  put({ ph: "M", pid: 1, name: "process_name", args: { name: model.meta.title || "scopeview" } });
  let tid = 1;
  for (const row of rowsOfArea(model, area)) {
    /** @type {{batch: Batch, i: number, depth: number}[]} */
    const items = [];
    for (const lane of [...row.lanes, row.flags]) {
      model.eachBar(lane, from, to, 0, ({ batch, i, j }) => {
        for (; i < j; i++) {
          if (batch.many(i) > 1) skipped.merged += batch.many(i);
          else if (traceKinds[batch.kind[i]]) items.push({ batch, i, depth: lane.depth });
        }
      });
    }
    if (items.length === 0) continue;
    items.sort((a, b) => a.batch.start[a.i] - b.batch.start[b.i] || b.batch.end(b.i) - a.batch.end(a.i) || a.depth - b.depth);
    const threads = new NestedThreads();
    for (const { batch, i, depth } of items) {
      put(eventOf(model, batch, i, depth < 0 ? tid : tid + threads.put(batch.start[i], batch.end(i))));
      if (lines.length < traceChunk) continue;
      yield lines.join("");
      lines = [];
    }
    const n = Math.max(1, threads.open.length);
    for (let k = 0; k < n; k++) {
      put({ ph: "M", pid: 1, tid: tid + k, name: "thread_name", args: { name: k === 0 ? row.title : `${row.title} (${k + 1})` } });
      put({ ph: "M", pid: 1, tid: tid + k, name: "thread_sort_index", args: { sort_index: tid + k } });
    }
    tid += n;
  }
  yield `${lines.join("")}\n]}\n`;
}

/** @param {import("../model/model.js").Model} model @param {Batch} batch @param {number} i @param {number} tid */
function eventOf(model, batch, i, tid) {
  const kind = batch.kind[i];
  const open = (batch.flags[i] & Flag.unended) !== 0;
  const args = JSON.parse(model.argsText(batch, i) || "{}");
  if (open) args.open = true;
  const event = { name: model.name(batch.name[i]), cat: traceKinds[kind], pid: 1, tid, ts: batch.start[i] / 1000, args };
  if (kind === Kind.event || kind === Kind.pending) return { ...event, ph: "i", s: "t" };
  const quality = batch.quality[i];
  if (quality === Quality.atMost) args.cpu_max_ns = batch.cpu[i];
  const known = !open && kind !== Kind.process && (quality === Quality.exact || quality === Quality.likely);
  return { ...event, ph: "X", dur: batch.dur[i] / 1000, ...known ? { tdur: batch.cpu[i] / 1000 } : {} };
}
