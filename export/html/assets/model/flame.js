// The flame tree: scopes by name and nesting, with the time of each.

import { Flag, Kind, Quality, isScope } from "../data/kinds.js";
import { Replay, RowItems, hasMoments, itemsAtOnce } from "./replay.js";

/**
 * @typedef {Object} FlameNode
 * @property {number} nameId -1: the root
 * @property {number} kind 0: the root
 * @property {number} value ns in the range, including children
 * @property {number} self ns outside of children
 * @property {number} count scopes that touch the range
 * @property {FlameNode[]} children the largest first
 */

/**
 * Builds the tree.
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {"wall"|"cpu"} metric cpu: where known; of a scope partly in the range, the same part of its CPU time
 * @param {import("./rowset.js").Row[]} rows by goroutine
 * @returns {Generator<void, FlameNode>}
 */
export function* flameSteps(model, from, to, metric, rows = model.rows("goroutine")) {
  const tree = new Tree();
  const cpu = metric === "cpu";
  const replay = new Replay((node, a, b) => {
    if (!cpu) tree.self[node] += Math.max(Math.min(b, to) - Math.max(a, from), 0);
  }, () => {});
  let n = 0;
  for (const row of rows) {
    if (row.key === 0 || row.first > to || row.last < from) continue; // 0: the nesting is unknown
    replay.start(-Infinity);
    for (const items = new RowItems(row, from, to); items.next();) {
      if (++n % itemsAtOnce === 0) yield;
      const { batch, i } = items;
      if (!hasMoments(batch.kind[i])) continue;
      const start = batch.start[i];
      replay.advanceToItem(start);
      const node = tree.child(Math.max(replay.top(), 0), batch.name[i], isScope(batch.kind[i]) ? Kind.task : batch.kind[i]);
      tree.count[node] += batch.many(i);
      if (cpu) tree.inclusive[node] += cpuInside(batch, i, from, to);
      replay.begin(start + batch.dur[i], node);
    }
    replay.finish();
  }
  return tree.made(cpu);
}

/** Returns the known CPU time of an item, scaled to the part of the item in the range. */
function cpuInside(batch, i, from, to) {
  const known = batch.quality[i] === Quality.exact || batch.quality[i] === Quality.likely;
  if (!known || batch.kind[i] === Kind.process || batch.flags[i] & (Flag.unended | Flag.across)) return 0;
  const dur = batch.dur[i];
  if (dur <= 0) return batch.cpu[i];
  const inside = Math.min(batch.start[i] + dur, to) - Math.max(batch.start[i], from);
  return batch.cpu[i] * Math.max(inside, 0) / dur;
}

/** A tree under construction: nodes are numbered, parents before children. */
class Tree {
  constructor() {
    this.above = [-1];
    this.name = [-1];
    this.kind = [0];
    this.self = [0];
    this.count = [0];
    this.inclusive = [0];
    /** By node: the child of each kind and name. @type {Map<number, number>[]} */
    this.below = [new Map()];
  }

  child(parent, name, kind) {
    const key = kind * 65536 + name;
    let node = this.below[parent].get(key);
    if (node === undefined) {
      node = this.name.push(name) - 1;
      this.below[parent].set(key, node);
      this.above.push(parent);
      this.kind.push(kind);
      this.self.push(0);
      this.count.push(0);
      this.inclusive.push(0);
      this.below.push(new Map());
    }
    return node;
  }

  /**
   * Builds the nodes. CPU time is known per scope; self is without the children. A scope
   * with unknown CPU time has at least that of its children.
   * @returns {FlameNode}
   */
  made(cpu) {
    /** @type {FlameNode[]} */
    const nodes = this.name.map((nameId, k) => ({ nameId, kind: this.kind[k], value: this.self[k], self: this.self[k], count: this.count[k], children: [] }));
    for (let k = nodes.length - 1; k >= 0; k--) {
      const node = nodes[k];
      node.children.sort((a, b) => b.value - a.value || a.nameId - b.nameId || a.kind - b.kind);
      if (cpu) {
        const inside = node.children.reduce((sum, c) => sum + c.value, 0);
        node.value = Math.max(this.inclusive[k], inside);
        node.self = node.value - inside;
      }
      if (k === 0) break;
      const up = nodes[this.above[k]];
      if (!cpu) up.value += node.value;
      up.children.push(node);
    }
    return nodes[0];
  }
}
