// The layout of the boxes of a flame graph. Pure: the same tree gives the same boxes.

/** The maximum number of boxes on the page. */
const flameLimit = 2000;

/** The minimum width of a visible box, in px. */
const flameNarrow = 0.5;

/**
 * A box: x and w are shares of the whole width. node is null for a group of cut boxes that are too narrow to be
 * visible. The arrow keys follow parent, first, before and after: indexes into the list of boxes, -1: none.
 * @typedef {{node:any, cut:number, value:number, depth:number, x:number, w:number,
 *   parent:number, first:number, before:number, after:number}} FlameBox
 */

/**
 * Lays out a node and its descendants breadth-first, so that the limit omits the deepest.
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
    // Rounding must not make the children wider than their parent.
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
 * Finds a node again in a new tree of another version or range.
 * @param {any} tree
 * @param {any[]} path keys from below the root down
 * @param {(node: any) => any} key
 * @returns {any[]} the nodes from the root down, as far as they exist
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
