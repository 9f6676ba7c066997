// Details beyond the coarse base: tiles of the visible range.

import { splitOpen } from "../data/gather.js";
import { barPixels } from "../data/merge.js";
import { batchOfTile } from "../data/batch.js";
import { threadBatch } from "../data/threads.js";

/** The maximum number of tiles that are kept. */
const mostTiles = 6;

/**
 * @typedef {Object} DetailTile
 * @property {import("../data/batch.js").Batch} batch
 * @property {number} from
 * @property {number} to
 * @property {number} res
 * @property {number} asked requested resolution; while the server still reads the trace it may have only a coarser one
 * @property {Set<import("../data/batch.js").Batch>} known batches at the time of the request, whose items the tile also contains
 * @property {import("../data/batch.js").Batch|null} threads the same items by thread, created on first use
 */

/** The tiles of a model, and the one that is shown. */
export class Details {
  /** @param {import("./model.js").Model} model */
  constructor(model) {
    this.model = model;
    /** @type {DetailTile[]} the latest first */
    this.tiles = [];
    /** @type {DetailTile|null} */
    this.shown = null;
    this.epoch = 0; // answers to requests of an earlier epoch are dropped
    this.busy = false;
    /** The visible range, if a tile is still to be requested. @type {number[]|null} */
    this.next = null;
  }

  /** Reports whether the details of the visible range are being loaded. */
  get loading() { return this.busy || this.next !== null; }

  clear() {
    this.epoch++;
    this.tiles = [];
    this.next = null;
    this.busy = false;
    this.shown = null;
  }

  /** @param {number} from @param {number} to @param {number} px */
  want(from, to, px) {
    const { model } = this;
    const res = (to - from) / Math.max(px, 1);
    if (res >= model.base.res) {
      this.next = null;
      return this.show(null);
    }
    const reach = [Math.max(from, 0), Math.min(to, model.end)];
    const fits = this.tiles.find((t) => t.from <= reach[0] && t.to >= reach[1] && (model.meta.loading ? t.asked : t.res) <= barPixels * res);
    if (fits) {
      this.next = null;
      return this.show(fits);
    }
    this.next = [from, to, px];
    if (!this.busy) this.fetch();
  }

  /** Requests a tile for the visible range and as much again on both sides, one tile at a time. */
  async fetch() {
    const { model, epoch } = this;
    while (this.next && epoch === this.epoch) {
      const [from, to, px] = this.next;
      this.next = null;
      this.busy = true;
      const known = new Set([model.base, ...model.increments]);
      const margin = (to - from) / 2;
      const lo = Math.max(Math.floor(from - margin), 0);
      const hi = Math.max(Math.min(Math.ceil(to + margin), Math.ceil(model.end)), lo + 1);
      let answer = null;
      try {
        answer = await model.source.tile?.(lo, hi, Math.ceil(px * (hi - lo) / (to - from)));
      } catch (err) {
        if (epoch === this.epoch) model.trouble = err.message;
      }
      if (epoch !== this.epoch) return;
      this.busy = false;
      if (answer) this.take(answer, lo, hi, (to - from) / Math.max(px, 1), known);
    }
  }

  /**
   * Takes an answer and shows it unless another range is visible by now.
   * @param {import("../data/columns.js").Container} container
   * @param {number} from @param {number} to @param {number} asked @param {Set<import("../data/batch.js").Batch>} known
   */
  take({ header: { tile: tileHeader = {} }, columns }, from, to, asked, known) {
    const batch = splitOpen(batchOfTile(tileHeader, columns)).ended;
    const tile = { batch, from: tileHeader.from ?? from, to: tileHeader.to ?? to, res: batch.res, asked, known, threads: null };
    this.tiles = [tile, ...this.tiles].slice(0, mostTiles);
    this.show(tile);
  }

  /** @param {DetailTile|null} tile */
  show(tile) {
    if (tile === this.shown) return;
    this.shown = tile;
    this.model.goroutines.setDetail(tile?.batch ?? null);
    this.regroup();
    this.model.changed();
  }

  /** Shows the tile in the rows by thread, too. */
  regroup() {
    const { threads } = this.model;
    if (!threads) return;
    const tile = this.shown;
    if (tile) tile.threads ??= threadBatch([tile.batch], null);
    threads.setDetail(tile?.threads ?? null);
  }

  /**
   * Returns the parts of a lane in which all items that touch [from, to] are unmerged; null if there are none.
   * @param {import("./rowset.js").Lane} lane
   * @param {number} from
   * @param {number} to
   * @returns {import("./rowset.js").Part[]|null}
   */
  exact(lane, from, to) {
    const tile = this.shown;
    const rest = lane.open ? [lane.open] : [];
    if (!this.model.reduced) return [...lane.parts, ...rest];
    if (!tile || tile.res > 0 || tile.from > from || tile.to < to) return null;
    return [...lane.detail ? [lane.detail] : [], ...lane.parts.filter((p) => !isKnown(p.batch, tile.known)), ...rest];
  }

  /**
   * Implements Model.eachBar while a tile is shown: the tile covers its range, the base the rest.
   * @param {import("./rowset.js").Lane} lane
   * @param {number} from
   * @param {number} to
   * @param {number} res
   * @param {import("../data/pyramid.js").VisitRun} visit
   */
  eachBar(lane, from, to, res, visit) {
    const tile = /** @type {DetailTile} */ (this.shown);
    const bars = (part, a, b, fn) => part.batch.pyramid(part.lane).each(a, b, res, fn);
    // Items that reach into the tile are complete in it, except for merged runs.
    const inTile = ({ batch, i, j, t0, t1 }) => t1 > tile.from && t0 < tile.to && j - i === 1 && batch.many(i) === 1;
    const before = (run) => {
      if (run.t0 < tile.from && !inTile(run)) visit({ ...run, t1: Math.min(run.t1, tile.from) });
    };
    const behind = (run) => {
      if (run.t1 > tile.to && !inTile(run)) visit({ ...run, t0: Math.max(run.t0, tile.to) });
    };
    const old = lane.parts.filter((p) => isKnown(p.batch, tile.known));
    if (from < tile.from) for (const p of old) bars(p, from, Math.min(to, tile.from), before);
    if (lane.detail) bars(lane.detail, Math.max(from, tile.from), Math.min(to, tile.to), visit);
    if (to > tile.to) for (const p of old) bars(p, Math.max(from, tile.to), to, behind);
    for (const p of lane.parts) if (!old.includes(p)) bars(p, from, to, visit);
  }
}

/** Reports whether a batch, or each source of a batch by thread, is among the known ones. */
function isKnown(batch, known) {
  return batch.origin === null ? known.has(batch) : batch.origin.batches.every((s) => isKnown(s, known));
}
