// The processes of a merged trace: the upper bits of a goroutine's id contain the number of its process.

/**
 * @typedef {import("../data/meta.js").Meta} Meta
 * @typedef {import("../data/meta.js").Process} Process
 */

/**
 * Returns the process number of a goroutine's id; 0: the trace has a single process.
 * @param {Meta} meta @param {number} key
 */
function numberOf(meta, key) { return meta.shift ? Math.floor(key / 2 ** meta.shift) : 0; }

/**
 * Returns the process of a goroutine; null: the trace has a single process, or it is unknown.
 * @param {Meta} meta @param {number} key @returns {Process|null}
 */
export function processOf(meta, key) {
  const number = numberOf(meta, key);
  return meta.processes?.find((p) => p.number === number) ?? null;
}

/** Ends the open items of ended processes. @param {import("../data/batch.js").Batch} batch @param {Meta} meta */
export function overWithProcess(batch, meta) {
  for (const { key, from, to } of batch.lanes) {
    const process = processOf(meta, key);
    for (let i = from; process && i < to; i++) batch.dur[i] = Math.max(Math.min(batch.dur[i], process.to - batch.start[i]), 0);
  }
}

/** Returns a goroutine's id in its own process; 0: none. @param {Meta} meta @param {number} key */
export function ownGoroutine(meta, key) {
  if (!meta.shift) return key;
  const own = key % 2 ** meta.shift;
  return own >= 2 ** (meta.shift - 1) ? 0 : own;
}

/**
 * Returns the processes that have headings; none: there is at most one process.
 * @param {Meta} meta @returns {Process[]}
 */
export function shownProcesses(meta) { return (meta.processes?.length ?? 0) > 1 ? meta.processes ?? [] : []; }

/** Returns the number of ancestors of a process. @param {Meta} meta @param {Process} process */
export function processDepth(meta, process) {
  let depth = 0;
  for (let at = meta.processes?.find((p) => p.number === process.parent); at && depth < 8; depth++) {
    const { parent } = at;
    at = meta.processes?.find((p) => p.number === parent);
  }
  return depth;
}

/**
 * Describes the error of a process's clock. The offset between wall clocks of processes on
 * one machine does not affect their times.
 * @param {Process} process @param {(ns: number) => string} span
 */
export function clockText({ error, offset, violated }, span) {
  if (error < 0) return "clock unknown";
  if (error === 0) return violated ? "clock contradicted by pairs" : "";
  const set = offset ? `${offset < 0 ? "−" : "+"}${span(Math.abs(offset))} ` : "";
  return `clock ${set}±${span(error)}${violated ? ", contradicted by pairs" : ""}`;
}
