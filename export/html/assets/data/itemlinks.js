// The links of items to requests. The arguments of an item contain the id of its request, of
// its own scope and of the parent scope; an index finds items by these ids.

/**
 * Ids are hexadecimal; "": none.
 * @typedef {{trace: string, span: string, parent: string}} ItemLink
 * @typedef {import("./batch.js").Batch} Batch
 */

const traceField = '"trace_id":"';
const spanField = '"span_id":"';
const linkFields = /"(trace|span|parent)_id":"([0-9a-f]{32}|[0-9a-f]{16})"/g;

/** Returns the link in arguments; null: none. @param {string} text a flat JSON object @returns {ItemLink|null} */
export function linkIn(text) {
  if (!text.includes(traceField)) return null;
  const link = { trace: "", span: "", parent: "" };
  for (const [, field, id] of text.matchAll(linkFields)) if ((id.length === 32) === (field === "trace")) link[field] = id;
  return link.trace === "" ? null : link;
}

/** Returns arguments without the ids, for places with little room. @param {string} text */
export function withoutLink(text) { return text.includes(traceField) ? text.replace(/"(?:trace|span|parent)_id":"[0-9a-f]+",?/g, "") : text; }

/** Returns the link of an item; null: none. @param {Batch} batch @param {number} i @returns {ItemLink|null} */
export function linkAt(batch, i) { return batch.args[i] === 0 ? null : linkIn(batch.strings[batch.args[i]]); }

/** The number of items of a batch whose index fits beside the hash into one number. */
const placeBits = 2 ** 26;

/** Returns a hash of 27 bits of an id's end: ids of other tracers have common prefixes. @param {string} id */
function hashOf(id) { return hashBefore(id, id.length); }

/** Returns the hash of the id that ends at an offset of text. @param {string} text @param {number} end */
function hashBefore(text, end) {
  let hash = 0;
  for (let k = Math.max(0, end - 7); k < end; k++) {
    const c = text.charCodeAt(k);
    hash = hash << 4 | (c < 58 ? c - 48 : c - 87) & 15;
  }
  return hash >>> 1;
}

/** An index of the items of a batch that have links, by hash: 16 bytes per item. */
export class LinkIndex {
  /** @param {Batch} batch */
  constructor(batch) {
    this.batch = batch;
    const most = Math.min(batch.n, placeBits);
    const traces = new Float64Array(most);
    const spans = new Float64Array(most);
    let n = 0;
    for (let i = 0; i < most; i++) { // texts that only look like ids are filtered out when they are found
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

  /**
   * Calls visit with the items that have an id.
   * @param {"trace"|"span"} field
   * @param {string} id
   * @param {(i: number, link: ItemLink) => void} visit
   */
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

  /** Returns the first trace id with a prefix; "": none. @param {string} prefix */
  startingWith(prefix) {
    for (const at of this.traces) {
      const link = linkAt(this.batch, at % placeBits);
      if (link?.trace.startsWith(prefix)) return link.trace;
    }
    return "";
  }
}
