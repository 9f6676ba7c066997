// The tree by name of what ran: who was in whom, and what belonged to each.

import { Flag, Kind, Quality, isScope } from "../data/kinds.js";
import { Replay, RowItems, hasMoments, itemsAtOnce } from "./replay.js";

/**
 * @typedef {Object} FlameNode
 * @property {number} nameId -1: the root
 * @property {number} kind 0: the root
 * @property {number} value ns in the range, of what is inside too
 * @property {number} self ns that belonged to nothing inside
 * @property {number} count scopes that touch the range
 * @property {FlameNode[]} children the largest first
 */

/**
 * Makes the tree.
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {"wall"|"cpu"} metric cpu: as far as it is known; of a scope that is partly in the range, that part of it
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
    if (row.key === 0 || row.first > to || row.last < from) continue; // 0: who is in whom is unknown
    replay.start(-Infinity);
    for (const items = new RowItems(row, from, to); items.next();) {
      if (++n % itemsAtOnce === 0) yield;
      const { batch, i } = items;
      if (!hasMoments(batch.kind[i])) continue;
      const start = batch.start[i];
      replay.comeTo(start);
      const node = tree.child(Math.max(replay.top(), 0), batch.name[i], isScope(batch.kind[i]) ? Kind.task : batch.kind[i]);
      tree.count[node] += batch.many(i);
      if (cpu) tree.inclusive[node] += cpuInside(batch, i, from, to);
      replay.begin(start + batch.dur[i], node);
    }
    replay.finish();
  }
  return tree.made(cpu);
}

/** What is known of an item's CPU time, as much of it as the item is in the range. */
function cpuInside(batch, i, from, to) {
  const known = batch.quality[i] === Quality.exact || batch.quality[i] === Quality.likely;
  if (!known || batch.kind[i] === Kind.process || batch.flags[i] & (Flag.unended | Flag.across)) return 0;
  const dur = batch.dur[i];
  if (dur <= 0) return batch.cpu[i];
  const inside = Math.min(batch.start[i] + dur, to) - Math.max(batch.start[i], from);
  return batch.cpu[i] * Math.max(inside, 0) / dur;
}

/** A tree under way: nodes have numbers, parents before their children. */
class Tree {
  constructor() {
    this.above = [-1];
    this.name = [-1];
    this.kind = [0];
    this.self = [0];
    this.count = [0];
    this.inclusive = [0];
    /** By kind and name, of each node. @type {Map<number, number>[]} */
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
   * CPU time is known by scope. What is inside is taken off for self. Where a scope's
   * own is unknown there is at least that of those inside.
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
