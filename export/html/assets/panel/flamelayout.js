// Where the boxes of a flame graph lie. Pure: the same tree gives the same boxes.

/** No more boxes than this are put on the page. */
const flameLimit = 2000;

/** Narrower than this, in px, a box can't be seen. */
const flameNarrow = 0.5;

/**
 * A box: x and w are shares of the whole width. node is null where boxes too narrow
 * to be seen, cut of them, lie together. The arrow keys follow parent, first, before
 * and after: places in the list of boxes, -1 for none.
 * @typedef {{node:any, cut:number, value:number, depth:number, x:number, w:number,
 *   parent:number, first:number, before:number, after:number}} FlameBox
 */

/**
 * Lays out what lies below (and including) a node, by breadth, so that the limit
 * cuts the deepest.
 * @param {any} root
 * @param {number} width px
 * @param {number} [limit]
 * @returns {FlameBox[]}
 */
export function flameBoxes(root, width, limit = flameLimit) {
  const boxes = [];
  const put = (node, cut, value, depth, x, w, parent) => {
    boxes.push({ node, cut, value, depth, x, w, parent, first: -1, before: -1, after: -1 });
    return boxes.length - 1;
  };
  if (!(root && root.value > 0) || width <= 0) return boxes;
  put(root, 0, root.value, 0, 0, 1, -1);
  for (let at = 0; at < boxes.length; at++) {
    const box = boxes[at];
    if (!box.node || box.node.children.length === 0) continue;
    // Rounding must not let the children stick out of their parent.
    const sum = box.node.children.reduce((s, c) => s + c.value, 0);
    const scale = box.w / Math.max(sum, box.node.value, 1);
    let x = box.x;
    let before = -1;
    let narrow = 0;
    let rest = 0;
    for (const child of box.node.children) {
      const w = child.value * scale;
      if (w * width < flameNarrow || boxes.length >= limit - 1) {
        narrow++;
        rest += child.value;
        continue;
      }
      const here = put(child, 0, child.value, box.depth + 1, x, w, at);
      if (before < 0) box.first = here;
      else {
        boxes[before].after = here;
        boxes[here].before = before;
      }
      before = here;
      x += w;
    }
    if (narrow > 0 && rest * scale * width >= flameNarrow && boxes.length < limit) {
      put(null, narrow, rest, box.depth + 1, x, rest * scale, at);
    }
  }
  return boxes;
}

/**
 * Finds the node again in a new tree: the trace may have grown, or the range may be
 * another.
 * @param {any} tree
 * @param {any[]} path keys from below the root down
 * @param {(node: any) => any} key
 * @returns {any[]} the nodes from the root down, as far as they are there
 */
export function flamePath(tree, path, key) {
  const nodes = [tree];
  for (const at of path) {
    const next = nodes[nodes.length - 1].children.find((c) => key(c) === at);
    if (!next) break;
    nodes.push(next);
  }
  return nodes;
}
