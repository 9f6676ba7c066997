// Sums of samples: by function, line, caller and callee, and as trees. The rules are those
// of the Go side's internal/callgraph, which the tests compare: a function counts once per
// stack, and if it occurs several times on a stack, the call nearest the leaf counts.

/**
 * @typedef {import("../data/samples.js").Samples} Samples
 *
 * The selection of samples.
 * @typedef {Object} Choice
 * @property {number} from
 * @property {number} to
 * @property {ReadonlySet<number>|null} rows goroutines; null: all
 * @property {number|null} scope name of an enclosing scope; null: any or none
 * @property {"all"|"slow"|"others"} executions of that scope
 *
 * The exclusive values of each stack, by its number, in some metrics.
 * @typedef {Float64Array[]} Weights
 *
 * @typedef {{func: number, excl: number[], incl: number[], least?: boolean[]}} Cost by metric; least: incl is a lower bound
 * @typedef {{func: number, attr: number[], cost: Cost}} Edge
 *
 * A node of a tree: func is a function, -1 the root.
 * @typedef {{nameId: number, kind: number, value: number, self: number, count: number, parts: number[], children: any[]}} CallNode
 */

/** The function <Total>, which does not occur in the samples. */
export const totalFunc = -1;

/**
 * Sums up the samples of a choice by stack, for metrics that are not sums.
 * @param {Samples} s @param {Choice} choice @param {number[]} metrics
 * @returns {Weights}
 */
export function weigh(s, choice, metrics) {
  const place = new Int32Array(s.metrics.length).fill(-1);
  metrics.forEach((m, k) => (place[m] = k));
  const weights = metrics.map(() => new Float64Array(s.stacks));
  const wanted = scopesWanted(s, choice);
  const { from, to, rows } = choice;
  for (let i = 0; i < s.n; i++) {
    const k = place[s.metric[i]];
    if (k < 0 || s.at[i] >= to || s.at[i] + s.over[i] < from || wanted && !wanted[s.in[i]] || rows && !rows.has(s.goid[i])) continue;
    weights[k][s.stack[i]] += s.value[i] * inside(s, i, from, to);
  }
  return weights;
}

/** Returns the share of a sample that lies in a range. */
function inside(s, i, from, to) {
  const over = s.over[i];
  const at = s.at[i];
  if (over === 0) return at >= from ? 1 : 0;
  if (at >= from && at + over <= to) return 1;
  return Math.max(0, Math.min(at + over, to) - Math.max(at, from)) / over;
}

/** Returns by scope whether its samples are selected; null: all are. The outermost of nested executions counts. */
function scopesWanted(s, { scope, executions }) {
  if (scope === null) return null;
  const state = new Uint8Array(s.inUp.length); // 1: in a fast execution, 2: in a slow one
  for (let k = 1; k < state.length; k++) {
    state[k] = state[s.inUp[k]] || (s.inName[k] !== scope ? 0 : s.inSlow[k] ? 2 : 1);
  }
  return state.map((v) => Number(executions === "all" ? v > 0 : v === (executions === "slow" ? 2 : 1)));
}

/** Returns by stack whether no enclosing stack has its leaf's function. @param {Samples} s */
function outermost(s) {
  if (s.outer) return s.outer;
  const outer = new Uint8Array(s.stacks);
  // Stacks are numbered in the order of their first use, not in that of a walk, so each one searches upwards.
  for (let k = 1; k < s.stacks; k++) {
    let up = s.stackUp[k];
    while (up !== 0 && s.func[up] !== s.func[k]) up = s.stackUp[up];
    outer[k] = up === 0 ? 1 : 0;
  }
  s.outer = outer;
  return outer;
}

/** Returns the inclusive values of stacks. @param {Samples} s @param {Float64Array} weight */
function withInner(s, weight) {
  const all = weight.slice();
  for (let k = s.stacks - 1; k > 0; k--) all[s.stackUp[k]] += all[k];
  return all;
}

/**
 * Returns the values by function.
 * @param {Samples} s @param {Weights} weights
 * @returns {Map<number, Cost>} only functions with nonzero values
 */
export function functionCosts(s, weights) {
  const outer = outermost(s);
  const incl = weights.map(() => new Float64Array(s.funcs.length));
  const excl = weights.map(() => new Float64Array(s.funcs.length));
  const lacking = weights.map((weight) => lackingCosts(s, weight, outer));
  weights.forEach((weight, m) => {
    const all = withInner(s, weight);
    for (let k = 1; k < s.stacks; k++) {
      excl[m][s.func[k]] += weight[k];
      if (outer[k]) incl[m][s.func[k]] += all[k];
    }
  });
  const costs = new Map();
  for (let f = 1; f < s.funcs.length; f++) {
    if (incl.some((of) => of[f] !== 0)) costs.set(f, { func: f, excl: excl.map((of) => of[f]), incl: incl.map((of) => of[f]), least: lacking.map((of) => of !== null && of[f] >= 0.5) });
  }
  return costs;
}

/**
 * Returns by function the values of truncated stacks that lack the function: the most it may
 * have in addition. null: no stack is truncated.
 * @param {Samples} s @param {Float64Array} weight @param {Uint8Array} outer
 */
function lackingCosts(s, weight, outer) {
  const truncated = s.funcs.indexOf("<truncated>");
  if (truncated < 0) return null;
  const lacks = new Uint8Array(s.stacks);
  const cut = new Float64Array(s.stacks);
  for (let k = 1; k < s.stacks; k++) {
    lacks[k] = lacks[s.stackUp[k]] || Number(s.func[k] === truncated);
    if (lacks[k]) cut[k] = weight[k];
  }
  const left = new Float64Array(s.funcs.length).fill(cut.reduce((sum, v) => sum + v, 0));
  const all = withInner(s, cut);
  for (let k = 1; k < s.stacks; k++) if (outer[k]) left[s.func[k]] -= all[k];
  return left;
}

/** Returns the values of <Total>. @param {Weights} weights @returns {Cost} */
export function totalCost(weights) {
  const all = weights.map((w) => w.reduce((sum, v) => sum + v, 0));
  return { func: totalFunc, excl: all, incl: all };
}

/**
 * Returns by stack the enclosing stack on which a function is nearest the leaf, and the
 * stack of its callee there; 0: none.
 * @param {Samples} s @param {number} func
 */
function nearestCall(s, func) {
  const near = new Uint32Array(s.stacks);
  const callee = new Uint32Array(s.stacks);
  for (let k = 1; k < s.stacks; k++) {
    const up = s.stackUp[k];
    if (s.func[k] === func) near[k] = k;
    else if (near[up] !== 0) {
      near[k] = near[up];
      callee[k] = near[up] === up ? k : callee[up];
    }
  }
  return { near, callee };
}

/**
 * Returns the callers and callees of a function, with the values of the calls between them.
 * @param {Samples} s @param {Weights} weights @param {number} func not <Total>
 * @param {Map<number, Cost>} costs
 * @returns {{callers: Edge[], callees: Edge[]}}
 */
export function callersOf(s, weights, func, costs) {
  const { near, callee } = nearestCall(s, func);
  const total = totalCost(weights);
  const callers = new Map();
  const callees = new Map();
  const count = (to, of, m, v) => {
    if (!to.has(of)) to.set(of, { func: of, attr: weights.map(() => 0), cost: of === totalFunc ? total : costs.get(of) });
    to.get(of).attr[m] += v;
  };
  weights.forEach((weight, m) => {
    for (let k = 1; k < s.stacks; k++) {
      if (near[k] === 0 || weight[k] === 0) continue;
      const up = s.stackUp[near[k]];
      count(callers, up === 0 ? totalFunc : s.func[up], m, weight[k]);
      if (callee[k] !== 0) count(callees, s.func[callee[k]], m, weight[k]);
    }
  });
  return { callers: [...callers.values()], callees: [...callees.values()] };
}

/** A call tree under construction: one node for each path of functions from the root. */
class CallTree {
  /** @param {number} parts */
  constructor(parts) {
    this.parts = parts;
    this.root = this.node(totalFunc);
  }

  /** @param {number} func @returns {CallNode & {below: Map<number, any>}} */
  node(func) { return { nameId: func, kind: 0, value: 0, self: 0, count: 0, parts: new Array(this.parts).fill(0), children: [], below: new Map() }; }

  child(node, func) {
    let c = node.below.get(func);
    if (!c) {
      c = this.node(func);
      node.below.set(func, c);
      node.children.push(c);
    }
    return c;
  }

  /** Sums up from the leaves, without recursion, because stacks may be deep. @returns {CallNode} */
  made() {
    const order = [this.root];
    for (let k = 0; k < order.length; k++) for (const c of order[k].children) order.push(c);
    for (const n of order.reverse()) {
      for (const c of n.children) for (let p = 0; p < this.parts; p++) n.parts[p] += c.parts[p];
      n.value = n.parts.reduce((sum, v) => sum + v, 0);
      n.children = n.children.filter((c) => c.value > 0).sort((a, b) => b.value - a.value || a.nameId - b.nameId);
    }
    return this.root;
  }

  /** Adds a value to a node, and so to its ancestors. */
  add(node, part, v) {
    node.parts[part] += v;
    node.self += v;
  }
}

/**
 * Returns the call tree from <Total> or from a function on; parts are the weights of a node.
 * @param {Samples} s @param {Weights} weights @param {number} [func] of several calls on a stack the one nearest the leaf counts
 * @returns {CallNode}
 */
export function callTree(s, weights, func = totalFunc) {
  const tree = new CallTree(weights.length);
  const near = func === totalFunc ? null : nearestCall(s, func).near;
  const at = new Array(s.stacks);
  at[0] = tree.root;
  for (let k = 1; k < s.stacks; k++) {
    if (near && near[k] === 0) continue;
    if (near && near[k] === k) at[k] = tree.root;
    else at[k] = tree.child(at[s.stackUp[k]], s.func[k]);
    weights.forEach((weight, m) => { if (weight[k] !== 0) tree.add(at[k], m, weight[k]); });
  }
  const root = tree.made();
  if (near) root.nameId = func;
  return root;
}

/**
 * Returns the tree of the callers of a function, up to <Total>.
 * @param {Samples} s @param {Weights} weights @param {number} func
 * @returns {CallNode}
 */
export function callerTree(s, weights, func) {
  const tree = new CallTree(weights.length);
  const { near } = nearestCall(s, func);
  const of = weights.map(() => new Float64Array(s.stacks)); // by the stack at which the function is found
  weights.forEach((weight, m) => {
    for (let k = 1; k < s.stacks; k++) if (near[k] !== 0) of[m][near[k]] += weight[k];
  });
  for (let k = 1; k < s.stacks; k++) {
    if (near[k] !== k || of.every((w) => w[k] === 0)) continue;
    let node = tree.root;
    for (let up = s.stackUp[k]; up !== 0; up = s.stackUp[up]) node = tree.child(node, s.func[up]);
    of.forEach((w, m) => { if (w[k] !== 0) tree.add(node, m, w[k]); });
  }
  const root = tree.made();
  root.nameId = func;
  return root;
}

/**
 * Returns the values by line of a file; inlined code counts at the line where it was written.
 * @param {Samples} s @param {Weights} weights @param {number} file
 * @returns {Map<number, Cost>} by line; func is the line
 */
export function lineCosts(s, weights, file) {
  const costs = new Map();
  const line = new Uint32Array(s.stacks); // 0: another file
  for (let k = 1; k < s.stacks; k++) if (s.frameFile[s.stackFrame[k]] === file) line[k] = s.frameLine[s.stackFrame[k]];
  weights.forEach((weight, m) => {
    const all = withInner(s, weight);
    for (let k = 1; k < s.stacks; k++) {
      if (line[k] === 0 || all[k] === 0) continue;
      let cost = costs.get(line[k]);
      if (!cost) costs.set(line[k], cost = { func: line[k], excl: weights.map(() => 0), incl: weights.map(() => 0) });
      cost.excl[m] += weight[k];
      let up = s.stackUp[k];
      while (up !== 0 && line[up] !== line[k]) up = s.stackUp[up];
      if (up === 0) cost.incl[m] += all[k];
    }
  });
  return costs;
}
