// The commands that select a request, and that switch the arrows of all requests.

import { LitRequest } from "./model/requests.js";
import { rowId } from "./view/layout.js";
import { viewAround } from "./view/viewport.js";

/** @import { Page, Stretch } from "./app.js" */

/** @param {Page} app @param {{moveTo: (view: Stretch) => void, relayout: () => void, stateChanged: () => void}} to */
export function requestCommands(app, { moveTo, relayout, stateChanged }) {
  const { choices, model } = app;

  /** Hides rows outside of the request, if chosen; null: all rows are shown. */
  function keepOnly() {
    const request = choices.only ? model.requests.of(app.request) : null;
    if (request) choices.only = new Set([...request.keys].map((key) => rowId({ by: "goroutine", key })));
  }

  /**
   * Selects a request, highlights it, and zooms to it.
   * @param {string} trace its id; "": none
   * @param {{only?: boolean, zoom?: boolean}} how only: hide other rows
   */
  function showRequest(trace, { only = false, zoom = true } = {}) {
    app.request = trace;
    app.lit = trace === "" ? null : new LitRequest(model, trace);
    choices.only = only && trace !== "" ? new Set() : null;
    app.toRequest = trace !== "" && zoom;
    requestCame();
    app.notify("request");
    relayout();
  }

  /** Completes the selection of a request once it is loaded. */
  function requestCame() {
    const request = model.requests.of(app.request);
    if (!request) return;
    keepOnly();
    if (!app.toRequest) return;
    app.toRequest = false;
    if (request.list.length > 0) moveTo(viewAround(request.from, request.to));
  }

  return {
    showRequest, requestCame,
    /** Follows the selection to its request, if that is another one; false: it has none. */
    followRequest() {
      const ref = app.selection;
      const trace = ref && ref.j === undefined ? model.requests.linkOf(ref)?.trace ?? "" : "";
      if (trace !== "" && trace !== app.request) showRequest(trace);
      return trace !== "";
    },
    /** Hides the rows outside of the request, or shows them again. */
    toggleOnly() {
      if (app.request === "") return app.announce("no request is shown: press Shift+R on a scope of one", true);
      choices.only = choices.only ? null : new Set();
      keepOnly();
      app.announce(choices.only ? "only the rows of the request" : "all rows");
      app.notify("request");
      relayout();
    },
    /** Switches between the arrows of all visible requests and those of one. */
    toggleFlows() {
      app.flows = !app.flows;
      app.announce(!model.requests.any ? "no scope of this trace is part of a request" : app.flows ? "arrows of all requests in view" : "arrows of the selected request only");
      app.notify("request");
      stateChanged();
    },
  };
}
