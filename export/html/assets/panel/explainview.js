// The section at the top of Details that explains the selection: for a wait the holders of
// the object, their activities and the chain to the root; for a scope where its time went.

import { isScope } from "../data/kinds.js";
import { stateText } from "../data/states.js";
import { chainOf, originOf } from "../model/chain.js";
import { activitiesOf, explain, holdAt, isAwaited, longestPieces } from "../model/explain.js";
import { spentIn } from "../model/spent.js";
import { colorOf } from "../view/color.js";
import { make, makeButton, nameText, pluralText } from "../view/make.js";
import { percentText, thousands } from "../view/numbers.js";
import { partText, rootText, stepText } from "../view/waitfacts.js";

/** @import { App } from "../app.js" */

/**
 * A part of a bar, with its text below.
 * @typedef {{text: string, ns: number, color: string, go: (() => void)|null, below: (Node|string|null)[]}} BarPart
 */

/** The maximum number of parts listed; per part, of holds and of the holder's activities. */
const mostParts = 8;
const mostHolds = 6;
const mostActivities = 4;

/** Returns the ordinal of a place in a queue. @param {number} n */
function ordinal(n) {
  const words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
  return words[n - 1] ?? `${thousands(n)}${n % 100 - n % 10 !== 10 && [, "st", "nd", "rd"][n % 10] || "th"}`;
}

/** @param {App} app */
export function createWhy(app) {
  const element = make("section", { class: "why", hidden: true, "aria-label": "Explanation" });

  /**
   * Returns a proportional bar and the list below it.
   * @param {string} title @param {BarPart[]} all @param {number} whole ns @param {...Node} below
   */
  function stacked(title, all, whole, ...below) {
    const known = all.filter((p) => p.color !== "");
    const more = known.slice(mostParts);
    const others = { text: pluralText(more.length, "other"), ns: more.reduce((sum, p) => sum + p.ns, 0), color: "var(--busy)", go: null, below: [] };
    const listed = [...known.slice(0, mostParts), ...more.length > 0 ? [others] : [], ...all.filter((p) => p.color === "")];
    const share = (/** @type {BarPart} */ p) => percentText(p.ns / Math.max(1, whole));
    const bar = make("div", { class: "parts", role: "img", "aria-label": `${title}: ${listed.map((p) => `${p.text} ${share(p)}`).join("; ")}` }, ...listed.map((p) => {
      const part = make("span", { title: `${p.text}: ${share(p)}, ${app.span(p.ns)}`, class: p.color === "" ? "unknown" : "" });
      part.style.flexGrow = String(p.ns / Math.max(1, whole));
      part.style.backgroundColor = p.color;
      return part;
    }));
    const list = make("ul", { class: "shares" }, ...listed.map((p) => {
      const swatch = make("span", { class: `swatch${p.color === "" ? " unknown" : ""}`, "aria-hidden": "true" });
      swatch.style.backgroundColor = p.color;
      return make("li", null, swatch, make("strong", { text: share(p) }), ` ${app.span(p.ns)} `, p.go ? makeButton(p.text, p.go, { class: "link", "data-keep": `part ${p.text}` }) : p.text, ...p.below);
    }));
    return make("div", { class: "stacked" }, make("h3", { text: title }), bar, list, ...below);
  }

  /** @param {import("../model/explain.js").Wait} wait */
  function waitView(wait) {
    if (wait.to <= wait.from) return [];
    const { parts, queue, wanted } = explain(app.model, wait);
    const nodes = [
      stacked(wait.held && wait.object ? "Holders during the wait" : isAwaited(wait) ? "Goroutines it waited for" : "What it waited for", parts.map((p) => barPart(wait, p)), wait.to - wait.from),
      queue ? queueView(queue) : null,
    ];
    if (wanted) nodes.push(make("p", { class: "quiet", text: "Loading more…" }));
    return nodes;
  }

  /** @param {import("../model/explain.js").Wait} wait @param {import("../model/explain.js").WaitPart} part @returns {BarPart} */
  function barPart(wait, part) {
    const held = part.kind === "hold" || part.kind === "shared";
    const goTo = (/** @type {import("../model/explain.js").HeldPiece} */ piece) => {
      const ref = held ? holdAt(app.model, part.key, piece.start) : null;
      if (ref) return app.select(ref, { reveal: true, step: app.step });
      app.rows.reveal(part.key, 0);
      app.fit(piece.from, piece.to);
      app.announce(`${partText(app.model, part)}, at ${app.time(piece.from)}`);
    };
    const pieces = longestPieces(part.pieces, mostHolds);
    const below = [];
    if (held && part.pieces.length > 1) {
      below.push(make("span", { class: "quiet" }, " in ", ...pieces.flatMap((piece, k) => [k ? ", " : "", makeButton(app.span(piece.to - piece.from), () => goTo(piece), { class: "link", "data-keep": `hold ${part.key} ${piece.start}` })]),
        part.pieces.length > mostHolds ? ` and ${thousands(part.pieces.length - mostHolds)} more holds` : ""));
    }
    if (part.kind === "atMost") below.push(make("div", { class: "quiet", text: "it was the holder when the wait began; when it released the lock is unknown" }));
    if (part.kind === "hold" || part.kind === "atMost" || part.kind === "waker") below.push(make("div", { class: "quiet", text: `meanwhile${activitiesText(part, wait)}` }));
    const color = part.kind === "unknown" ? "" : part.kind === "own" ? `var(--state-${part.state})` : part.scope < 0 ? "var(--hold)" : colorOf(nameText(app.model.name(part.scope)));
    return { text: partText(app.model, part), ns: part.ns, color, go: part.key === 0 || part.kind === "own" ? null : () => goTo(pieces[0]), below };
  }

  /**
   * Describes the activities of a holder.
   * @param {import("../model/explain.js").WaitPart} part
   * @param {import("../model/explain.js").Wait} wait
   */
  function activitiesText(part, wait) {
    const { activities, states, pieces, ns } = activitiesOf(app.model, part, wait);
    const known = activities.filter((d) => d.state !== "");
    const list = known.slice(0, mostActivities).map((d) => `${d.name ? `waiting for ${nameText(d.name)}` : stateText(d.state)} ${percentText(d.ns / ns)}`);
    if (known.length > mostActivities) list.push("and other states");
    const rest = ns - known.reduce((sum, d) => sum + d.ns, 0);
    if (!states) list.push(`the states of goroutine ${part.key} are unknown`);
    else if (rest > 0) list.push(`unknown ${percentText(rest / ns)}`);
    return `${pieces < part.pieces.length ? `, in its ${thousands(pieces)} longest holds` : ""}: ${list.join(", ")}`;
  }

  /** @param {import("../model/explain.js").WaitQueue} queue */
  function queueView({ columns, first, min, max, exact }) {
    const ahead = first - 1;
    const line = exact
      ? `${ordinal(first)} in line: ${ahead === 0 ? "none" : thousands(ahead)} waited already when it began; ${min === max ? "" : `${thousands(min)} to `}${thousands(max)} waited meanwhile, including itself.`
      : `At most ${thousands(max)} waited at once meanwhile: here they are merged.`;
    const graph = make("div", { class: "queue", role: "img", "aria-label": `number of waiters: ${line}` }, ...columns.map((n) => {
      const bar = make("span");
      bar.style.height = `${(100 * n) / Math.max(1, max)}%`;
      return bar;
    }));
    return make("div", { class: "waited" }, make("h3", { text: "Number of waiters" }), graph, make("p", { text: line[0].toUpperCase() + line.slice(1) }));
  }

  /** @param {import("../data/batch.js").Ref} ref */
  function spentView(ref) {
    const { parts, merged } = spentIn(app.model, ref);
    const whole = parts.reduce((sum, p) => sum + p.ns, 0);
    const all = parts.map((p) => {
      const { wait } = p;
      const go = wait && (() => (wait.ref ? app.select(wait.ref, { reveal: true }) : wait.interval && app.goToInterval(wait.key, wait.interval)));
      const text = wait ? (p.name ? `waiting for ${nameText(p.name)}` : stateText(p.state)) : p.own ? "itself" : p.name ? `in ${nameText(p.name)}` : p.state ? stateText(p.state) : "unknown";
      const color = wait ? `var(--state-${p.state})` : p.state ? `var(--state-${p.state})` : p.name ? colorOf(p.name) : "";
      return { text, ns: p.ns, color, go, below: wait ? [make("span", { class: "quiet", text: ` the longest ${app.span(wait.to - wait.from)}` })] : [] };
    });
    const below = [];
    if (merged) below.push(make("p", { class: "quiet", text: "Short scopes and waits are merged here, and only longer waits are listed; zoom in to see them all." }));
    if (parts.some((p) => p.wait)) below.push(makeButton("longest wait inside", () => app.followWaits(false), { "data-keep": "wait inside", title: "Go to it (B), or to the root of its chain (Shift+B)" }));
    return [stacked("Where its time went", all, whole, ...below)];
  }

  /** Returns the followed chain, starting at its origin. */
  function chainView() {
    const steps = chainOf(app.model, app.chain);
    if (steps.length === 0) return null;
    const crumbs = steps.map((s, k) => make("li", null, k ? make("span", { "aria-hidden": "true", text: "← " }) : null,
      makeButton(stepText(app.model, steps, k), () => app.toStep(k), { class: "link", "data-keep": `step ${k}`, "aria-current": k === app.step ? "step" : null }),
      s.part ? make("span", { class: "quiet", text: ` ${s.part.kind === "atMost" ? "≤ " : ""}${percentText(s.share)} of it` }) : null));
    return make("div", { class: "chain" }, make("h3", { text: "Chain of waits" }), make("ol", null, ...crumbs), make("p", null, make("strong", { text: rootText(app.model, steps) })),
      steps.length > 1 ? make("span", { class: "buttons" }, makeButton("what blocked the holder", () => app.followWaits(false), { "data-keep": "blocker", title: "B" }), makeButton("to the root", () => app.followWaits(true), { "data-keep": "root", title: "Shift+B" })) : null);
  }

  return {
    element,
    /** Explains the duration of the selection. @param {import("../model/chain.js").Origin|null} what */
    set(what) {
      const wait = what && originOf(app.model, what);
      const ref = what?.selection;
      const nodes = wait ? waitView(wait) : ref && isScope(ref.batch.kind[ref.i]) ? spentView(ref) : [];
      const all = what ? [...nodes, chainView()].filter((n) => n !== null) : [];
      element.hidden = all.length === 0;
      element.replaceChildren(...all);
    },
  };
}
