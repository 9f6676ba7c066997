// The container: deflated columns, as internal/timeline of the Go side writes them. Reading
// ends for all input; invalid bytes cause an Error with a message.

import { atOnce, breathe, inSlices } from "./slices.js";

/**
 * @typedef {Uint8Array|Uint32Array|Float64Array} Column
 * @typedef {{header: Header, columns: Map<string, Column>}} Container
 *
 * The header of a container: any of these parts.
 * @typedef {Object} Header
 * @property {import("./meta.js").MetaNews=} meta
 * @property {TileHeader=} tile
 * @property {OpenHeader=} open
 * @property {StatesHeader=} states
 * @property {LocksHeader=} locks
 * @property {import("./samples.js").SamplesHeader=} samples
 * @property {boolean=} pending better states and locks will be available
 * @property {string[]=} problems
 * @property {import("./meta.js").DoctorReport=} doctor
 * @property {import("./meta.js").Advice=} advice
 * @property {[name: string, type: string, values: number, bytes: number][]} columns
 *
 * @typedef {[key: number, name: number]} RowKey a row's goroutine, and its name's id
 * @typedef {Partial<{from: number, to: number, res: number, strings: string[], rows: RowKey[], alone: boolean, left: number, partial: boolean}>} TileHeader alone and left apply to executions of a name, partial and left to a request
 * @typedef {{rows: RowKey[], items: [row: number, depth: number, name: number, kind: number, start: number, thread: number, args: string][]}} OpenHeader
 * @typedef {{from: number, to: number, res: number, names?: string[], frames?: string[], stacks?: number[][], reasons?: string[],
 *   switches?: boolean, facts?: [string, string][], known?: [number, number][], procs?: number, countFrom?: number, bin?: number}} StatesHeader
 * @typedef {{from: number, to: number, res?: number, locks?: LockHeader[], more?: number}} LocksHeader
 * @typedef {{name: number, addr: string, kind: string, waits: number, wait: number, waitMax: number, holds: number, hold: number,
 *   holdMax: number, most: number, held: number, steps: number, sums?: LockSums}} LockHeader
 * @typedef {{had: number, not: number, short: number, brief: number}} LockSums counts of the whole recording
 */

const magicBytes = [0x53, 0x56, 0x43, 0x31]; // SVC1
const maxExact = 2 ** 53;

/** The number of bytes that are decompressed at once: some ms. */
const packedAtOnce = 1 << 15;

/** Decompresses deflate-raw data. @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function inflate(bytes) {
  const unpack = rawInflater();
  try {
    let next = 0;
    const packed = new ReadableStream({
      pull(to) {
        if (next < bytes.length) to.enqueue(bytes.subarray(next, next += packedAtOnce));
        else to.close();
      },
    });
    const body = packed.pipeThrough(unpack).getReader();
    const parts = [];
    let size = 0;
    for (let part; !(part = await body.read()).done; await breathe()) { // all at once would be one long task
      parts.push(part.value);
      size += part.value.length;
    }
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  } catch (err) {
    throw new Error(`The timeline's data cannot be unpacked: they are truncated or damaged (${err.message}).`);
  }
}

function rawInflater() {
  try {
    return new DecompressionStream("deflate-raw");
  } catch {
    throw new Error("This browser cannot unpack the timeline's data: it has no DecompressionStream for deflate-raw. Chrome and Edge from 103, Firefox from 113 and Safari from 16.4 on have it.");
  }
}

/** Decodes base64. @param {string} text @returns {Uint8Array} */
export function fromBase64(text) {
  const plain = text.trim();
  try {
    const own = /** @type {{fromBase64?: (text: string) => Uint8Array}} */ (Uint8Array).fromBase64;
    return own ? own.call(Uint8Array, plain) : base64InPieces(plain);
  } catch (err) {
    throw new Error(`The timeline's data are not base64: the page was truncated or changed (${err.message}).`);
  }
}

/** Decodes base64 in pieces, because atob returns the whole input as a string. */
function base64InPieces(text) {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const out = new Uint8Array(Math.floor(text.length / 4) * 3 - padding);
  const step = 1 << 16; // a multiple of 4
  let at = 0;
  for (let from = 0; from < text.length; from += step) {
    const piece = atob(text.slice(from, from + step));
    for (let i = 0; i < piece.length; i++) out[at++] = piece.charCodeAt(i);
  }
  return out;
}

/** Reads a decompressed container. @param {Uint8Array} bytes @returns {Container} */
export function readContainer(bytes) { return atOnce(containerSteps(bytes)); }

/**
 * As readContainer, in slices between which the page draws.
 * @param {Uint8Array} bytes @returns {Promise<Container>}
 */
export async function readContainerGently(bytes) { return /** @type {Container} */ (await inSlices(containerSteps(bytes), () => false)); }

/** @param {Uint8Array} bytes @returns {Generator<void, Container>} */
function* containerSteps(bytes) {
  if (bytes.length < 8 || magicBytes.some((b, i) => bytes[i] !== b)) {
    throw new Error("The timeline's data have no timeline header.");
  }
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  if (headerLength > bytes.length - 8) {
    throw new Error(`The timeline's data are truncated: a header of ${headerLength} bytes in ${bytes.length}.`);
  }
  const header = parseHeader(bytes.subarray(8, 8 + headerLength));
  const columns = new Map();
  let at = 8 + headerLength;
  for (const [name, type, count, length] of header.columns) {
    if (length > bytes.length - at) {
      throw new Error(`The timeline's data are truncated in column ${name}: ${bytes.length - at} of ${length} bytes.`);
    }
    columns.set(name, decodeColumn(name, type, count, bytes.subarray(at, at + length)));
    at += length;
    yield;
  }
  return { header, columns };
}

function parseHeader(bytes) {
  let header;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes));
  } catch (err) {
    throw new Error(`The timeline's header is not JSON: ${err.message}`);
  }
  if (header === null || typeof header !== "object") throw new Error("The timeline's header is not an object.");
  header.columns ??= [];
  const size = (n) => Number.isSafeInteger(n) && n >= 0;
  for (const c of header.columns) {
    if (!Array.isArray(c) || typeof c[0] !== "string" || !size(c[2]) || !size(c[3])) {
      throw new Error("The timeline's header lists an invalid column.");
    }
  }
  return header;
}

/**
 * Decodes one column. Each value takes at least one byte, so a wrong count cannot allocate
 * more memory than there is data.
 * @param {string} name
 * @param {string} type
 * @param {number} count
 * @param {Uint8Array} bytes
 * @returns {Column}
 */
export function decodeColumn(name, type, count, bytes) {
  const width = type === "f" ? 8 : 1;
  if (count * width > bytes.length || (type === "b" || type === "f") && count * width !== bytes.length) {
    throw new Error(`Column ${name} should have ${count} values, but has ${bytes.length} bytes.`);
  }
  switch (type) {
    case "b": return bytes.slice();
    case "f": return decodeFloats(bytes, count);
    case "u": return decodeUnsigned(name, bytes, count);
    case "z": return decodeSigned(name, bytes, count, false);
    case "d": return decodeSigned(name, bytes, count, true);
  }
  throw new Error(`Column ${name} has the type ${type}, unknown to this page: the page is older than the data.`);
}

function decodeFloats(bytes, count) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = view.getFloat64(8 * i, true);
  return out;
}

/** Decodes varints to a Uint32Array, or to a Float64Array if one needs it. */
function decodeUnsigned(name, bytes, count) {
  /** @type {Column} */
  let out = new Uint32Array(count);
  let p = 0;
  for (let i = 0; i < count; i++) {
    let x = bytes[p++];
    if (x > 127) {
      let y = bytes[p++];
      x = (x & 127) | (y & 127) << 7;
      for (let shift = 14; y > 127 && shift < 28; shift += 7) {
        y = bytes[p++];
        x |= (y & 127) << shift;
      }
      for (let m = 2 ** 28; y > 127; m *= 128) {
        y = bytes[p++];
        x += (y & 127) * m;
        if (x > maxExact) throw tooLarge(name);
      }
      if (x > 0xffffffff && out instanceof Uint32Array) {
        const wide = new Float64Array(count);
        wide.set(out.subarray(0, i));
        out = wide;
      }
    }
    out[i] = x;
  }
  checkEnd(name, p, bytes);
  return out;
}

/** Decodes zigzag varints. running: each value is the difference from the previous one. */
function decodeSigned(name, bytes, count, running) {
  const out = new Float64Array(count);
  const keep = running ? 1 : 0;
  let p = 0;
  let last = 0;
  for (let i = 0; i < count; i++) {
    const first = bytes[p++];
    // The lowest bit is the sign; without it the number stays exact up to 2^53.
    let x = (first & 127) >> 1;
    if (first > 127) {
      let y = bytes[p++];
      x |= (y & 127) << 6;
      for (let shift = 13; y > 127 && shift < 27; shift += 7) {
        y = bytes[p++];
        x |= (y & 127) << shift;
      }
      for (let m = 2 ** 27; y > 127; m *= 128) {
        y = bytes[p++];
        x += (y & 127) * m;
        if (x > maxExact) throw tooLarge(name);
      }
    }
    last = (first & 1 ? -x - 1 : x) + last * keep;
    out[i] = last;
  }
  checkEnd(name, p, bytes);
  return out;
}

function tooLarge(name) {
  return new Error(`Column ${name} has a number above 2^53.`);
}

function checkEnd(name, p, bytes) {
  if (p > bytes.length || bytes[p - 1] > 127) throw new Error(`Column ${name} ends in the middle of a number.`);
  if (p < bytes.length) throw new Error(`Column ${name} has ${bytes.length - p} bytes too many.`);
}

/**
 * Returns a function that finds columns by name and throws if one is missing.
 * @param {Map<string, Column>} columns
 * @returns {(name: string) => Column}
 */
export function columnFinder(columns) {
  return (name) => {
    const c = columns.get(name);
    if (c === undefined) throw new Error(`The timeline's data lack the column ${name}.`);
    return c;
  };
}
