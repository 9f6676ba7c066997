// What stretch of time is looked at, and how one moves along it.

import { extentOf } from "../model/refs.js";

/** The narrowest view, in ns. */
const narrowest = 20;

/** How long a view of the whole has to be, in ns. @param {any} model */
export function wholeOf(model) { return Math.max(model.end, 1000); }

/**
 * The view of the whole. Of a ring that is what is there without a gap: before it
 * lie hours of nothing, but for scopes that are open since.
 * @param {any} model
 */
export function viewOfAll(model) {
  const from = Math.min(model.meta.whole ?? 0, model.end);
  return { from, to: from + Math.max(model.end - from, 1000) * 1.01 };
}

/** The app's methods that move the view. @param {any} app */
export function viewport(app) {
  const { model } = app;
  let animation = 0;

  /** Where the live end is in sight, and some room behind it. */
  function atEnd() {
    const width = app.view.to - app.view.from;
    return { from: model.end - width * 0.96, to: model.end + width * 0.04 };
  }

  return {
    /** @param {number} from @param {number} to @param {{animate?: boolean}=} how */
    setView(from, to, how) {
      const most = wholeOf(model) * 1.1;
      const width = Math.min(Math.max(to - from, narrowest), most);
      const middle = (from + to) / 2;
      from = Math.max(-0.05 * width, Math.min(middle - width / 2, wholeOf(model) + 0.05 * width - width * 0.1));
      to = from + width;
      if (app.follow && to < model.end) app.setFollow(false);
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      cancelAnimationFrame(animation);
      if (!how?.animate || calm) {
        app.view = { from, to };
        app.viewChanged();
        return;
      }
      const old = app.view;
      const began = performance.now();
      const step = () => {
        const k = Math.min(1, (performance.now() - began) / 160);
        const e = 1 - (1 - k) ** 3;
        app.view = k === 1 ? { from, to } : { from: old.from + (from - old.from) * e, to: old.to + (to - old.to) * e };
        app.viewChanged();
        if (k < 1) animation = requestAnimationFrame(step);
      };
      step();
    },
    viewChanged() {
      model.want(app.view.from, app.view.to, app.rows?.width() ?? 1000);
      app.tell("view");
      app.keepState();
      app.redraw();
    },
    /** Zooms by a factor; the moment t stays where it is. @param {number} t @param {number} factor */
    zoomAt(t, factor) {
      const { from, to } = app.view;
      const width = Math.min(Math.max((to - from) * factor, narrowest), wholeOf(model) * 1.1);
      const k = width / (to - from);
      app.setView(t - (t - from) * k, t - (t - from) * k + width);
    },
    /** @param {number} ns @param {boolean=} animate */
    pan(ns, animate) { app.setView(app.view.from + ns, app.view.to + ns, { animate }); },
    /** Looks at [from, to] with a margin. @param {number} from @param {number} to */
    fit(from, to) {
      const margin = Math.max((to - from) * 0.08, narrowest / 2);
      app.setView(from - margin, to + margin, { animate: true });
    },
    seeAll() {
      const { from, to } = viewOfAll(model);
      app.setView(from, to, { animate: true });
    },

    /** Brings a scope into sight. @param {any} ref */
    reveal(ref) {
      const place = model.place(ref, app.by);
      app.rows.reveal(place.key, place.depth);
      const { start: s, end } = extentOf(ref);
      const { from, to } = app.view;
      const width = to - from;
      if (s >= from && end <= to && end - s > width / 200) return;
      if (end - s > width || end - s < width / 200) app.setView(s - (end - s) * 2 - narrowest, end + (end - s) * 2 + narrowest, { animate: true });
      else app.setView((s + end - width) / 2, (s + end + width) / 2, { animate: true });
    },
    /** @param {boolean} on */
    setFollow(on) {
      if (on === app.follow) return;
      app.follow = on;
      app.tell("follow");
      app.relayout();
      if (!on) return;
      const { from, to } = atEnd();
      app.setView(from, to);
    },
    /** Moves the view so that the end of what is known stays in sight. */
    stayAtEnd() { app.view = atEnd(); },
  };
}
