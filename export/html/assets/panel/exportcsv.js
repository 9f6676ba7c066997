// Export of the visible range as CSV, with the columns of `scopeview export csv` and its quoting
// rules. Cells that the page has no data for are empty: the processes of counters and
// heartbeats, and all of a heartbeat but memory and goroutines.

import { Flag, Kind, Quality } from "../data/kinds.js";
import { rowsOfArea } from "../model/area.js";

/** The header; the same as internal/export/csv's Header. */
export const CSV_HEADER = "kind,name,track,goroutine,thread,depth,start_ns,dur_ns,cpu_ns,cpu_max_ns,open,args\n";

/** The first cells by kind, as in format.Specs; other kinds have no row. */
const csvKinds = {
  [Kind.task]: "task", [Kind.taskf]: "task", [Kind.process]: "process", [Kind.event]: "event", [Kind.pending]: "pending",
  [Kind.wait]: "wait", [Kind.hold]: "hold",
};

/** The number of rows per piece. */
const csvChunk = 1 << 13;

/**
 * Returns a cell. A text that a spreadsheet may interpret as a formula is neutralised, and
 * one with special characters is quoted.
 * @param {string} text
 * @returns {string}
 */
export function csvCell(text) {
  if (/^[\t\r\n]|^[ \p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text)) text = "'" + text;
  if (text === "" || !(/[,"\r\n]/.test(text) || text.startsWith(" ") || text.endsWith(" ") || text === "\\.")) return text;
  return csvQuoted(text);
}

/** Returns a quoted text, with its quotes doubled. */
export function csvQuoted(text) {
  return '"' + text.replaceAll('"', '""') + '"';
}

/** A cursor over rows in order of time. */
class CsvCursor {
  /** @param {number} n @param {(k:number)=>number} start @param {number} depth @param {(k:number)=>string} line */
  constructor(n, start, depth, line) {
    Object.assign(this, { n, startOf: start, depth, line, k: 0, start: n > 0 ? start(0) : Infinity });
  }
}

/** Reports whether a's next row comes before b's: by start, a parent before its children. */
function csvBefore(a, b) {
  return a.start < b.start || (a.start === b.start && a.depth < b.depth);
}

/** Restores the heap's order below at. */
function csvSink(heap, at) {
  for (;;) {
    let least = at;
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < heap.length && csvBefore(heap[child], heap[least])) least = child;
    }
    if (least === at) return;
    [heap[at], heap[least]] = [heap[least], heap[at]];
    at = least;
  }
}

/**
 * Yields the rows of all items that touch the range, in pieces of some thousands. Merged scopes are left out and
 * counted in skipped. An area excludes the data of the process as a whole.
 * @param {import("../model/model.js").Model} model
 * @param {number} from ns
 * @param {number} to ns
 * @param {{merged:number}} [skipped]
 * @param {ReadonlySet<string>|null} [area] the rows of the range; null: all
 * @returns {Generator<string>}
 */
export function* csvPieces(model, from, to, skipped = { merged: 0 }, area = null) {
  const heap = [];
  const cells = model.meta.names.map(csvCell);
  for (const row of rowsOfArea(model, area)) csvRowCursors(model, cells, row, from, to, heap, skipped);
  if (area === null) csvOtherCursors(model, cells, from, to, heap);
  for (let at = heap.length >> 1; at >= 0; at--) csvSink(heap, at);
  let lines = [CSV_HEADER];
  while (heap.length > 0) {
    const next = heap[0];
    lines.push(next.line(next.k++));
    if (next.k < next.n) next.start = next.startOf(next.k);
    else {
      const last = heap.pop();
      if (last !== next) heap[0] = last;
    }
    csvSink(heap, 0);
    if (lines.length >= csvChunk) {
      yield lines.join("");
      lines = [];
    }
  }
  yield lines.join("");
}

/** Returns the rows of the range as one text. */
export function csvOf(model, from, to) {
  return [...csvPieces(model, from, to)].join("");
}

/** Items in order of time, as runs of the batches that contain them. */
class CsvRuns {
  constructor() {
    this.runs = [];
  }

  add(batch, i) {
    let last = this.runs[this.runs.length - 1];
    if (!last || last.batch !== batch) this.runs.push((last = { batch, at: [] }));
    last.at.push(i);
  }

  /** Adds a cursor for each run to the heap. */
  put(heap, depth, line) {
    for (const { batch, at } of this.runs) {
      heap.push(new CsvCursor(at.length, (k) => batch.start[at[k]], depth, (k) => line(batch, at[k])));
    }
  }
}

/** Adds the cursors of a row: of each lane and of its instants. */
function csvRowCursors(model, cells, row, from, to, heap, skipped) {
  const whose = `${csvCell(row.name || "")},${row.key > 0 ? row.key : ""},`;
  const ends = []; // by depth: end of the last scope written
  for (const lane of row.lanes) {
    const { depth } = lane;
    const runs = new CsvRuns();
    model.eachBar(lane, from, to, 0, ({ batch, i, j }) => {
      for (; i < j; i++) {
        if (batch.many(i) > 1) skipped.merged += batch.many(i);
        else runs.add(batch, i);
      }
    });
    runs.put(heap, depth, (batch, i) => {
      ends[depth] = batch.start[i] + batch.dur[i];
      return csvLine(model, cells, batch, i, whose, depth);
    });
  }
  const instants = new CsvRuns();
  model.eachBar(row.flags, from, to, 0, ({ batch, i, j }) => {
    for (; i < j; i++) instants.add(batch, i);
  });
  instants.put(heap, Infinity, (batch, i) => {
    let depth = ends.length;
    while (depth > 0 && !(ends[depth - 1] > batch.start[i])) depth--;
    return csvLine(model, cells, batch, i, whose, depth);
  });
}

/** Adds the cursors of counters and heartbeats, which belong to no row. */
function csvOtherCursors(model, cells, from, to, heap) {
  for (const { nameId, time, value } of model.series()) {
    const at = csvIndexes(time, from, to);
    const cell = cells[nameId] ?? "";
    heap.push(new CsvCursor(at.length, (k) => time[at[k]], Infinity, (k) =>
      `counter,${cell},,,,,${time[at[k]]},0,,,false,"{""value"":${csvNumber(value[at[k]])}}"\n`));
    if (at.length === 0) heap.pop();
  }
  const beats = model.meta.beats;
  if (!beats || !beats.time) return;
  const at = csvIndexes(beats.time, from, to);
  if (at.length === 0) return;
  const fields = [["rss_bytes", beats.rss], ["goroutines", beats.goroutines], ["heap_bytes", beats.heap]];
  heap.push(new CsvCursor(at.length, (k) => beats.time[at[k]], -1, (k) => {
    const known = fields.filter(([, list]) => list && list[at[k]] !== null && list[at[k]] !== undefined);
    const json = known.length ? csvQuoted(`{${known.map(([key, list]) => `"${key}":${list[at[k]]}`).join(",")}}`) : "";
    return `heartbeat,,,,,,${beats.time[at[k]]},0,,,false,${json}\n`;
  }));
}

/** Formats a number as in JSON; values that JSON lacks as text. */
function csvNumber(v) {
  return Number.isFinite(v) ? String(v) : `""${v === Infinity ? "+Inf" : v === -Infinity ? "-Inf" : "NaN"}""`;
}

/** Returns the indexes of the times in the range, from a sorted list. */
function csvIndexes(times, from, to) {
  const at = [];
  for (let i = 0; i < times.length; i++) {
    if (times[i] >= from && times[i] <= to) at.push(i);
  }
  return at;
}

/** Returns the row of one item; "" if its kind has none. */
function csvLine(model, cells, batch, i, whose, depth) {
  const kind = csvKinds[batch.kind[i]];
  if (!kind) return "";
  const flags = batch.flags[i];
  const open = (flags & Flag.unended) !== 0;
  const instant = batch.kind[i] === Kind.event || batch.kind[i] === Kind.pending;
  const dur = instant ? 0 : flags & Flag.open ? model.end - batch.start[i] : batch.dur[i];
  const quality = flags & Flag.quality;
  const known = !open && quality > 0 && !Number.isNaN(batch.cpu[i]);
  const text = batch.strings[batch.args[i]] || "";
  return `${kind},${cells[batch.name[i]] ?? ""},${whose}${batch.thread[i] || ""},${depth},${batch.start[i]},` +
    `${flags & Flag.across ? "" : dur},${known && quality !== Quality.atMost ? batch.cpu[i] : ""},` +
    `${known && quality === Quality.atMost ? batch.cpu[i] : ""},${open},${text ? csvQuoted(text) : ""}\n`;
}
