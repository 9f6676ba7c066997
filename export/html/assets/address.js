// Keeps what is shown in the address, and shows what an address says.

import { decodeState, encodeState } from "./state.js";
import { viewOfAll } from "./view/viewport.js";

/** The app's methods for that. @param {any} app */
export function address(app) {
  const { model } = app;
  let timer = 0;

  return {
    keepState() {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const ref = app.selection;
        const all = viewOfAll(model);
        const place = ref && model.place(ref, "goroutine");
        history.replaceState(null, "", `#${encodeState({
          view: app.follow || (app.view.from === all.from && app.view.to >= model.end) ? undefined : { from: Math.max(0, app.view.from), to: app.view.to },
          range: app.range ? { from: Math.max(0, app.range.from), to: Math.max(0, app.range.to) } : undefined,
          selection: place ? { key: place.key, depth: place.depth, start: ref.seg.start[ref.i] } : undefined,
          search: app.searchBox?.text() || undefined,
          rows: app.choices.filter || undefined,
          threads: app.by === "thread" || undefined,
          wall: app.wall || undefined,
          marks: app.marks,
          tab: app.tab === "summary" ? undefined : app.tab,
          finding: app.tab === "doctor" ? app.finding || undefined : undefined,
          states: app.choices.states === "thin" ? undefined : app.choices.states,
          nolocks: app.choices.locks ? undefined : true,
          hidden: [...app.choices.hidden], pinned: [...app.choices.pinned], shut: [...app.choices.shut],
        })}`);
      }, 250);
    },
    restoreState() {
      const s = decodeState(location.hash.slice(1));
      app.choices.filter = s.rows ?? "";
      app.choices.hidden = new Set(s.hidden);
      app.choices.pinned = new Set(s.pinned);
      app.choices.shut = new Set(s.shut);
      app.choices.states = s.states ?? "thin";
      app.choices.locks = s.nolocks !== true;
      app.wall = s.wall === true;
      app.marks = s.marks ?? [];
      app.by = s.threads ? "thread" : "goroutine";
      app.relayout();
      if (s.view) app.setView(s.view.from, s.view.to);
      if (s.selection) {
        const ref = model.find(s.selection.key, s.selection.depth, s.selection.start);
        if (ref) app.select(ref);
      }
      if (s.range) app.setRange(s.range);
      if (s.search) app.search(s.search);
      if (s.finding) app.finding = s.finding;
      if (s.finding) app.jump = !s.view;
      if (s.tab || s.finding) app.showTab(s.tab ?? "doctor");
    },
  };
}
