// The processes of a merged trace: a goroutine's id has the number of its process in its
// upper bits.

/**
 * @typedef {import("../data/meta.js").Meta} Meta
 * @typedef {import("../data/meta.js").Process} Process
 */

/** What of a goroutine's id is the number of its process; 0: the trace is of one process. @param {Meta} meta @param {number} key */
function numberOf(meta, key) { return meta.shift ? Math.floor(key / 2 ** meta.shift) : 0; }

/** The process of a goroutine; null: the trace is of one process, or it is not known. @param {Meta} meta @param {number} key @returns {Process|null} */
export function processOf(meta, key) {
  const number = numberOf(meta, key);
  return meta.processes?.find((p) => p.number === number) ?? null;
}

/** What is open is over when its process is. @param {import("../data/batch.js").Batch} batch @param {Meta} meta */
export function overWithProcess(batch, meta) {
  for (const { key, from, to } of batch.lanes) {
    const process = processOf(meta, key);
    for (let i = from; process && i < to; i++) batch.dur[i] = Math.max(Math.min(batch.dur[i], process.to - batch.start[i]), 0);
  }
}

/** What the process itself calls a goroutine; 0: nothing. @param {Meta} meta @param {number} key */
export function ownGoroutine(meta, key) {
  if (!meta.shift) return key;
  const own = key % 2 ** meta.shift;
  return own >= 2 ** (meta.shift - 1) ? 0 : own;
}

/** The processes that rows are put under; none: there is one at most. @param {Meta} meta @returns {Process[]} */
export function shownProcesses(meta) { return (meta.processes?.length ?? 0) > 1 ? meta.processes ?? [] : []; }

/** How many processes lie above one. @param {Meta} meta @param {Process} process */
export function processDepth(meta, process) {
  let depth = 0;
  for (let at = meta.processes?.find((p) => p.number === process.parent); at && depth < 8; depth++) {
    const { parent } = at;
    at = meta.processes?.find((p) => p.number === parent);
  }
  return depth;
}

/**
 * How well the clock of a process is known beside the others'. By how much the clocks on the
 * walls of processes on one machine differ says nothing of their times.
 * @param {Process} process @param {(ns: number) => string} span
 */
export function clockText({ error, offset, violated }, span) {
  if (error < 0) return "clock unknown";
  if (error === 0) return violated ? "clock contradicted by pairs" : "";
  const set = offset ? `${offset < 0 ? "−" : "+"}${span(Math.abs(offset))} ` : "";
  return `clock ${set}±${span(error)}${violated ? ", contradicted by pairs" : ""}`;
}
