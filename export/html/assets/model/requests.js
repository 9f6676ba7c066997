// Requests: the items of a trace id, across goroutines and processes, as a tree of parents.

import { batchOfTile } from "../data/batch.js";
import { LinkIndex, linkAt } from "../data/itemlinks.js";
import { same } from "./refs.js";
import { processOf } from "./processes.js";

/**
 * @typedef {import("../data/batch.js").Batch} Batch
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("../data/itemlinks.js").ItemLink} ItemLink
 * @typedef {import("./relate.js").Link} Link
 * @typedef {import("./model.js").Model} Model
 *
 * A scope or event of a request; without a ref, a parent that is missing from the trace.
 * @typedef {Object} RequestPart
 * @property {Ref|null} ref
 * @property {string} span
 * @property {string} parent
 * @property {number} key its goroutine
 * @property {number} lane its depth; -1: an event
 * @property {number} start
 * @property {number} end
 * @property {number} self ns not covered by its parts; NaN if missing
 * @property {RequestPart|null} up
 * @property {RequestPart[]} parts
 * @property {number} depth in the tree
 *
 * @typedef {Object} Request
 * @property {string} trace
 * @property {RequestPart[]} list parents before their parts
 * @property {number} from
 * @property {number} to
 * @property {Set<number>} keys its goroutines
 * @property {Link[]} arrows
 * @property {number} more number of further arrows
 * @property {string} lacks description of missing parts; "": none known
 *
 * A server's answer for a request.
 * @typedef {{batch: Batch|null, lacks: string, busy: boolean}} Answer
 */

/** The maximum number of arrows of a request. */
const mostArrows = 400;
/** The maximum number of answers, requests and parents that are kept. */
const mostKept = 8;
const mostParents = 10000;

/** The requests of a model. */
export class Requests {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {WeakMap<Batch, LinkIndex>} */
    this.indexes = new WeakMap();
    /** @type {Map<string, Answer>} */
    this.answers = new Map();
    /** The values computed for a version of the model. */
    this.version = -1;
    /** @type {Map<string, Request>} */
    this.computed = new Map();
    /** By scope id. @type {Map<string, Ref|null>} */
    this.parents = new Map();
  }

  clear() { this.answers = new Map(); }

  /** Drops values of another version and excess ones. */
  freshen() {
    const { version } = this.model;
    if (this.version === version && this.computed.size <= mostKept && this.parents.size <= mostParents) return;
    this.version = version;
    this.computed = new Map();
    this.parents = new Map();
  }

  /** Reports whether the trace has links. */
  get any() { return (this.model.meta.linked ?? 0) > 0; }

  /** Returns the known batches, including the shown tile. @returns {Batch[]} */
  batches() {
    const shown = this.model.details.shown?.batch;
    return [...shown ? [shown] : [], ...this.model.batches()];
  }

  /** @param {Batch} batch */
  indexOf(batch) {
    let index = this.indexes.get(batch);
    if (!index) this.indexes.set(batch, index = new LinkIndex(batch));
    return index;
  }

  /**
   * Returns the link of an item; null: it is merged or not part of a request.
   * @param {Ref} ref @returns {ItemLink|null}
   */
  linkOf({ batch, i }) { return this.any && batch.many(i) === 1 ? linkAt(batch, i) : null; }

  /**
   * Returns a request; null: unknown so far. It is requested from the server, and a change event follows.
   * @param {string} trace
   * @returns {Request|null}
   */
  of(trace) {
    if (trace === "" || !this.any) return null;
    const answer = this.model.reduced ? this.answer(trace) : null;
    if (answer?.busy) return null;
    this.freshen();
    let request = this.computed.get(trace);
    if (!request) this.computed.set(trace, request = makeRequest(this.model, trace, this.refs(trace, answer?.batch ?? null), answer?.lacks ?? ""));
    return request;
  }

  /** Reports whether a request is available without asking the server. @param {string} trace */
  isHere(trace) { return !this.model.reduced || this.answers.has(trace); }

  /** Returns the server's answer for a request, or its error. @param {string} trace @returns {Answer} */
  answer(trace) {
    const had = this.answers.get(trace);
    if (had) return had;
    const answer = { batch: null, lacks: "", busy: false };
    this.answers.set(trace, answer);
    if (this.answers.size > mostKept) this.answers.delete([...this.answers.keys()][0]);
    if (!this.model.source.request) answer.lacks = "Only the scopes that this page stores individually; short ones are merged. scopeview serve shows the whole request.";
    else this.ask(trace, answer);
    return answer;
  }

  /** @param {string} trace @param {Answer} answer */
  async ask(trace, answer) {
    answer.busy = true;
    try {
      const { header, columns } = await /** @type {any} */ (this.model.source).request(trace);
      const { partial, left = 0 } = header.tile ?? {};
      answer.batch = batchOfTile(header.tile ?? {}, columns);
      answer.lacks = [
        left > 0 ? `${left.toLocaleString("en")} more scopes of it are not shown.` : "",
        partial ? "The trace has too many links to search them all: there may be more." : "",
      ].filter((text) => text !== "").join(" ");
    } catch (err) {
      answer.lacks = `The request could not be loaded: ${err instanceof Error ? err.message : String(err)}`;
    }
    answer.busy = false;
    if (this.answers.get(trace) === answer) this.model.changed();
  }

  /**
   * Returns its items, each once: those of the server's answer and those known here.
   * @param {string} trace @param {Batch|null} served @returns {Ref[]}
   */
  refs(trace, served) {
    /** @type {Map<string, Ref>} */
    const found = new Map();
    for (const batch of [...this.batches(), ...served ? [served] : []]) {
      this.indexOf(batch).each("trace", trace, (i) => {
        const { key, depth } = batch.lanes[batch.lane[i]];
        const id = `${key} ${depth} ${batch.start[i]} ${depth < 0 ? batch.strings[batch.args[i]] : ""}`;
        if (!found.has(id)) found.set(id, { batch, i });
      });
    }
    return [...found.values()];
  }

  /** Returns the arrows from an item's parent and to its parts. @param {Ref} ref @returns {Link[]} */
  linksOf(ref) {
    const own = this.linkOf(ref);
    if (!own) return [];
    const idOf = (/** @type {Ref|null} */ r) => r && this.linkOf(r);
    return (this.of(own.trace)?.arrows ?? []).filter(({ from, to }) => {
      const [up, part] = [idOf(from.ref), idOf(to.ref)];
      return part?.parent === up?.span && (same(from.ref, ref) || same(to.ref, ref)); // the others lead back
    });
  }

  /** Returns the parent scope by link; null: none, or not loaded. @param {Ref} ref @returns {Ref|null} */
  parentOf(ref) {
    const link = this.linkOf(ref);
    if (!link || link.parent === "") return null;
    this.freshen();
    let found = this.parents.get(link.parent);
    if (found !== undefined) return found;
    for (const batch of this.batches()) {
      this.indexOf(batch).each("span", link.parent, (i, l) => { if (l.trace === link.trace) found ??= { batch, i }; });
    }
    this.parents.set(link.parent, found ??= null);
    return found;
  }

  /** Returns the trace id with a prefix; "": none is known. @param {string} prefix @returns {Promise<string>} */
  async find(prefix) {
    if (!this.any) return "";
    for (const batch of this.batches()) {
      const trace = this.indexOf(batch).startingWith(prefix);
      if (trace !== "") return trace;
    }
    if (!this.model.reduced || !this.model.source.request) return "";
    try {
      const { header, columns } = await this.model.source.request(prefix);
      return this.indexOf(batchOfTile(header.tile ?? {}, columns)).startingWith(prefix);
    } catch {
      return "";
    }
  }
}

/** @param {Model} model @param {string} trace @param {Ref[]} refs @param {string} lacks @returns {Request} */
function makeRequest(model, trace, refs, lacks) {
  /** @type {Map<string, RequestPart>} */
  const bySpan = new Map();
  const all = refs.map((ref) => {
    const { batch, i } = ref;
    const { key, depth } = batch.lanes[batch.lane[i]];
    const link = /** @type {ItemLink} */ (linkAt(batch, i));
    const part = { ...newPart(link.span), parent: link.parent, ref, key, lane: depth, start: batch.start[i], end: batch.end(i) };
    if (part.span !== "" && !bySpan.has(part.span)) bySpan.set(part.span, part);
    return part;
  }).sort((a, b) => a.start - b.start || b.end - a.end);
  /** @type {RequestPart[]} */
  const roots = [];
  for (const part of all) {
    let up = bySpan.get(part.parent);
    if (!up && part.parent !== "") {
      bySpan.set(part.parent, up = newPart(part.parent));
      roots.push(up);
    }
    if (up && up !== part && !(part.parts.length > 0 && isWithin(up, part))) {
      part.up = up;
      up.parts.push(part);
    } else {
      roots.push(part);
    }
  }
  const list = inOrder(roots);
  const arrows = arrowsOf(model, list);
  return {
    trace, list, lacks, from: all.reduce((t, p) => Math.min(t, p.start), Infinity), to: all.reduce((t, p) => Math.max(t, p.end), -Infinity),
    keys: new Set(all.map((p) => p.key)), arrows: arrows.slice(0, mostArrows), more: Math.max(0, arrows.length - mostArrows),
  };
}

/** @param {string} span @returns {RequestPart} */
function newPart(span) { return { ref: null, span, parent: "", key: 0, lane: 0, start: NaN, end: NaN, self: NaN, up: null, parts: [], depth: 0 }; }

/**
 * Reports whether a part is another or within it. The parents of foreign ids may form cycles.
 * @param {RequestPart|null} part @param {RequestPart} of
 */
function isWithin(part, of) {
  for (; part !== null; part = part.up) if (part === of) return true;
  return false;
}

/** Returns parents before their parts, with depths and self times. @param {RequestPart[]} roots */
function inOrder(roots) {
  /** @type {RequestPart[]} */
  const list = [];
  for (const stack = roots.reverse(); stack.length > 0;) {
    const part = /** @type {RequestPart} */ (stack.pop());
    list.push(part);
    part.depth = part.up ? part.up.depth + 1 : 0;
    let until = part.start;
    part.self = part.end - part.start;
    for (const p of part.parts) { // sorted by start
      const [from, to] = [Math.max(p.start, until), Math.min(p.end, part.end)];
      if (to > from) part.self -= to - from;
      until = Math.max(until, to);
    }
    for (let k = part.parts.length - 1; k >= 0; k--) stack.push(part.parts[k]);
  }
  return list;
}

/**
 * Returns the arrows from a parent to its parts on other rows, and back for parts in other processes.
 * @param {Model} model @param {RequestPart[]} list @returns {Link[]}
 */
function arrowsOf(model, list) {
  return list.flatMap((part) => (part.up?.ref && part.ref && part.up.key !== part.key ? partArrows(model, part.up.ref, part.ref) : []));
}

/**
 * Returns the arrows between a scope and a part of it on another row.
 * @param {Model} model @param {Ref} up @param {Ref} ref @returns {Link[]}
 */
export function partArrows(model, up, ref) {
  const [a, b] = [up, ref].map(({ batch, i }) => batch.lanes[batch.lane[i]].key);
  const within = (/** @type {number} */ t) => Math.max(up.batch.start[up.i], Math.min(t, up.batch.end(up.i))); // clocks may differ
  const [start, end] = [ref.batch.start[ref.i], ref.batch.end(ref.i)];
  /** @type {Link[]} */
  const arrows = [{ kind: "request", from: { rowKey: a, time: within(start), ref: up }, to: { rowKey: b, time: start, ref } }];
  const ended = (ref.batch.flags[ref.i] & 4) === 0 && end > start;
  if (ended && processOf(model.meta, a) !== processOf(model.meta, b)) {
    arrows.push({ kind: "request", from: { rowKey: b, time: end, ref }, to: { rowKey: a, time: within(end), ref: up } });
  }
  return arrows;
}

/** A request's items, highlighted in the timeline like the hits of a search. */
export class LitRequest {
  /** @param {Model} model @param {string} trace */
  constructor(model, trace) {
    this.model = model;
    this.trace = trace;
    /** The items by batch. @type {WeakMap<Batch, Set<number>>} */
    this.items = new WeakMap();
  }

  /** @param {Batch} batch */
  itemsOf(batch) {
    let items = this.items.get(batch);
    if (items) return items;
    const made = items = new Set();
    const { requests } = this.model;
    if (batch.origin === null) requests.indexOf(batch).each("trace", this.trace, (i) => made.add(i));
    else for (let i = 0; i < batch.n; i++) if (requests.linkOf({ batch, i })?.trace === this.trace) made.add(i);
    this.items.set(batch, items);
    return items;
  }

  /** @param {Batch} batch @param {number} i @param {number} j */
  has(batch, i, j = i + 1) {
    const items = this.itemsOf(batch);
    if (j - i === 1 && batch.many(i) === 1) return items.has(i);
    for (const k of items) if (k >= i && k < j) return true;
    return this.model.reduced && this.isMerged(batch, i, j);
  }

  /**
   * Reports whether a part of the request may be among merged scopes.
   * @param {Batch} batch @param {number} i @param {number} j
   */
  isMerged(batch, i, j) {
    const lane = batch.lanes[batch.lane[i]];
    return this.model.requests.of(this.trace)?.list.some((p) => p.key === lane.key && p.lane === lane.depth && p.start >= batch.start[i] && p.end <= batch.end(j - 1)) === true;
  }

  /** @param {number} from @param {number} to @param {number} n */
  bins(from, to, n) {
    const bins = new Uint32Array(n);
    const scale = n / Math.max(to - from, 1);
    for (const { ref, start, end } of this.model.requests.of(this.trace)?.list ?? []) {
      if (!ref) continue;
      for (let b = Math.max(0, Math.floor((start - from) * scale)); b <= Math.min(n - 1, Math.floor((end - from) * scale)); b++) bins[b]++;
    }
    return bins;
  }
}
