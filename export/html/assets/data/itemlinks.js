// Which request an item is part of, and of which of its scopes: that is told among its
// arguments. An index finds items by these ids.

/**
 * Ids in hexadecimal; "": none.
 * @typedef {{trace: string, span: string, parent: string}} ItemLink
 * @typedef {import("./batch.js").Batch} Batch
 */

const traceField = '"trace_id":"';
const spanField = '"span_id":"';
const linkFields = /"(trace|span|parent)_id":"([0-9a-f]{32}|[0-9a-f]{16})"/g;

/** The link that arguments tell of; null: none. @param {string} text a flat JSON object @returns {ItemLink|null} */
export function linkIn(text) {
  if (!text.includes(traceField)) return null;
  const link = { trace: "", span: "", parent: "" };
  for (const [, field, id] of text.matchAll(linkFields)) if ((id.length === 32) === (field === "trace")) link[field] = id;
  return link.trace === "" ? null : link;
}

/** Arguments without the ids, which say little where there is little room. @param {string} text */
export function withoutLink(text) { return text.includes(traceField) ? text.replace(/"(?:trace|span|parent)_id":"[0-9a-f]+",?/g, "") : text; }

/** The link of an item. @param {Batch} batch @param {number} i @returns {ItemLink|null} */
export function linkAt(batch, i) { return batch.args[i] === 0 ? null : linkIn(batch.strings[batch.args[i]]); }

/** Of so many items of a batch the place fits beside the hash into a number. */
const placeBits = 2 ** 26;

/** 27 bits of an id: of its end, as ids of other tracers begin alike. @param {string} id */
function hashOf(id) { return hashBefore(id, id.length); }

/** The same of an id that ends before a place. @param {string} text @param {number} end */
function hashBefore(text, end) {
  let hash = 0;
  for (let k = Math.max(0, end - 7); k < end; k++) {
    const c = text.charCodeAt(k);
    hash = hash << 4 | (c < 58 ? c - 48 : c - 87) & 15;
  }
  return hash >>> 1;
}

/** The items of a batch that have links, by hashes: 16 bytes for each. */
export class LinkIndex {
  /** @param {Batch} batch */
  constructor(batch) {
    this.batch = batch;
    const most = Math.min(batch.n, placeBits);
    const traces = new Float64Array(most);
    const spans = new Float64Array(most);
    let n = 0;
    for (let i = 0; i < most; i++) { // what is no id, though it looks like one, is told apart when it is found
      if (batch.args[i] === 0) continue;
      const text = batch.strings[batch.args[i]];
      const trace = text.indexOf(traceField);
      if (trace < 0) continue;
      const span = text.indexOf(spanField);
      traces[n] = hashBefore(text, trace + traceField.length + 32) * placeBits + i;
      spans[n++] = (span < 0 ? 0 : hashBefore(text, span + spanField.length + 16)) * placeBits + i;
    }
    this.traces = traces.slice(0, n).sort();
    this.spans = spans.slice(0, n).sort();
  }

  /** Calls visit with the items of an id. @param {"trace"|"span"} field @param {string} id @param {(i: number, link: ItemLink) => void} visit */
  each(field, id, visit) {
    const list = field === "trace" ? this.traces : this.spans;
    const begin = hashOf(id) * placeBits;
    let lo = 0;
    for (let hi = list.length; lo < hi;) {
      const mid = (lo + hi) >>> 1;
      if (list[mid] < begin) lo = mid + 1;
      else hi = mid;
    }
    for (; lo < list.length && list[lo] < begin + placeBits; lo++) {
      const i = list[lo] - begin;
      const link = linkAt(this.batch, i);
      if (link && link[field] === id) visit(i, link);
    }
  }

  /** The first trace id that begins with some digits; "": none. @param {string} prefix */
  startingWith(prefix) {
    for (const at of this.traces) {
      const link = linkAt(this.batch, at % placeBits);
      if (link?.trace.startsWith(prefix)) return link.trace;
    }
    return "";
  }
}
