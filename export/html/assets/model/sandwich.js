// Other forms of a flame tree: turned over, so that what takes the time is the root and what it is in is above it; and
// a name between what it is in and what is in it.

/** @typedef {import("./flame.js").FlameNode} FlameNode */

/** @param {number} nameId @param {number} kind @returns {FlameNode} */
function emptyNode(nameId, kind) { return { nameId, kind, value: 0, self: 0, count: 0, children: [] }; }

/** Returns the child of a node for another node's name and kind, created if necessary. @param {FlameNode} of @param {FlameNode} like */
function childLike(of, like) {
  let child = of.children.find((c) => c.nameId === like.nameId && c.kind === like.kind);
  if (!child) of.children.push(child = emptyNode(like.nameId, like.kind));
  return child;
}

/** Sorts all children, the largest first. @param {FlameNode} node @returns {FlameNode} */
function sorted(node) {
  node.children.sort((a, b) => b.value - a.value || a.nameId - b.nameId || a.kind - b.kind);
  node.children.forEach(sorted);
  return node;
}

/**
 * Calls visit with each node below the root and the nodes around it, the innermost first, without the root.
 * @param {FlameNode} tree @param {(node: FlameNode, around: FlameNode[]) => void} visit
 */
function eachNode(tree, visit) {
  const walk = (/** @type {FlameNode} */ node, /** @type {FlameNode[]} */ around) => {
    for (const child of node.children) {
      visit(child, around);
      walk(child, [child, ...around]);
    }
  };
  walk(tree, []);
}

/**
 * Returns the tree turned over: below the root the names by their own time, in each what they are in.
 * @param {FlameNode} tree @returns {FlameNode}
 */
export function turnedOver(tree) {
  const root = emptyNode(-1, 0);
  eachNode(tree, (node, around) => {
    if (node.self <= 0) return;
    root.value += node.self;
    let at = root;
    for (const part of [node, ...around]) {
      at = childLike(at, part);
      at.value += node.self;
      if (part === node) at.count += node.count;
    }
    at.self += node.self;
  });
  return sorted(root);
}

/**
 * Returns a name between what it is in and what is in it; of nested scopes of the name the outermost counts.
 * @param {FlameNode} tree @param {number} nameId @param {number} kind
 * @returns {{above: FlameNode, below: FlameNode}} both have the name as their root
 */
export function sandwich(tree, nameId, kind) {
  const is = (/** @type {FlameNode} */ n) => n.nameId === nameId && n.kind === kind;
  const [above, below] = [emptyNode(nameId, kind), emptyNode(nameId, kind)];
  const addBelow = (/** @type {FlameNode} */ to, /** @type {FlameNode} */ node) => {
    to.value += node.value;
    to.self += node.self;
    to.count += node.count;
    for (const child of node.children) addBelow(childLike(to, child), child);
  };
  eachNode(tree, (node, around) => {
    if (!is(node) || around.some(is)) return;
    addBelow(below, node);
    let at = above;
    for (const part of [node, ...around]) {
      if (part !== node) at = childLike(at, part);
      at.value += node.value;
      at.count += part === node ? node.count : 0;
    }
    at.self += node.value;
  });
  return { above: sorted(above), below: sorted(below) };
}

/** Returns the names in a tree with their kinds, those with the most own time first. @param {FlameNode} tree @returns {{nameId: number, kind: number, self: number}[]} */
export function namesIn(tree) {
  const own = new Map();
  eachNode(tree, ({ nameId, kind, self }) => {
    const key = kind * 65536 + nameId;
    const had = own.get(key);
    if (had) had.self += self;
    else own.set(key, { nameId, kind, self });
  });
  return [...own.values()].sort((a, b) => b.self - a.self || a.nameId - b.nameId);
}
