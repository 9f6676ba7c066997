// The arrows: relations of an item to other rows.

import { lockLinks } from "./locklinks.js";
import { innermostAt } from "./relate.js";
import { blockLinks, wakeLinks } from "./waitlinks.js";

/**
 * @typedef {import("../data/batch.js").Ref} Ref
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./relate.js").Link} Link
 */

/**
 * Returns the relations of an item to other rows: the creator of its goroutine and the goroutines it created; of a lock
 * its holder and the previous and next holders; and the goroutine that woke its own meanwhile.
 * @param {Model} model
 * @param {Ref} ref
 * @returns {Link[]}
 */
export function links(model, ref) { return [...goLinks(model, ref), ...blockLinks(model, ref), ...lockLinks(model, ref), ...wakeLinks(model, ref)]; }

/** The maximum number of links of one sort per item. */
const mostLinks = 100;

function goLinks(model, ref) {
  const { key, depth, ref: { batch, i } } = model.place(ref);
  if (key === 0) return [];
  const { byChild, byCreator } = goTables(model);
  const found = [];
  const own = byChild.get(key);
  const first = model.goroutines.rows.get(key)?.first ?? 0;
  if (own) found.push(goLink(model, own, depth === 0 && batch.start[i] === first ? { batch, i } : null));
  const list = byCreator.get(key) ?? [];
  for (let k = 0; k < list.length && found.length < mostLinks; k++) {
    const { created } = list[k];
    if (created >= batch.start[i] && created <= batch.end(i)) found.push(goLink(model, list[k], null));
  }
  return found;
}

/** @returns {Link} */
function goLink(model, go, to) {
  const row = model.goroutines.rows.get(go.creator);
  return {
    kind: "go",
    from: { rowKey: go.creator, time: go.created, ref: row ? innermostAt(row, go.created, Infinity) : null },
    to: { rowKey: go.child, time: go.start, ref: to },
  };
}

/**
 * Returns the creation of a goroutine; null: it is not recorded.
 * @param {Model} model @param {number} key @returns {{creator: number, child: number, created: number, start: number}|null}
 */
export function creatorOf(model, key) { return goTables(model).byChild.get(key) ?? null; }

function goTables(model) {
  return model.cached("gos", () => {
    const byChild = new Map();
    const byCreator = new Map();
    for (const batch of model.batches()) {
      for (const go of batch.gos) {
        byChild.set(go.child, go);
        const list = byCreator.get(go.creator);
        if (list) list.push(go);
        else byCreator.set(go.creator, [go]);
      }
    }
    return { byChild, byCreator };
  });
}
