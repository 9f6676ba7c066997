// The sources of data: this page itself, or the server that sent it.

import { fromBase64, inflate, readContainerGently } from "../data/columns.js";
import { Model } from "./model.js";

/**
 * The source of a model's data.
 * @typedef {Object} Source
 * @property {"file"|"live"} home
 * @property {() => Promise<import("../data/columns.js").Container>} whole
 * @property {((from: number, to: number, px: number) => Promise<import("../data/columns.js").Container>)=} tile
 * @property {((from: number, to: number, whole: boolean) => Promise<import("./stats.js").Summary>)=} summary
 * @property {((nameId: number, from: number, to: number) => Promise<import("../data/columns.js").Container>)=} runs a name's executions with their contents
 * @property {((trace: string) => Promise<import("../data/columns.js").Container>)=} request the items of a trace id, or of one with the prefix
 * @property {((from: number, to: number, px: number) => Promise<import("../data/columns.js").Container>)=} waits states and locks
 * @property {(() => Promise<import("../data/columns.js").Container>)=} samples with their stacks
 * @property {(() => Promise<import("../data/meta.js").DoctorReport>)=} doctor the doctor's report
 * @property {(() => Promise<import("../data/meta.js").Advice|null>)=} advice the advice from the raw file beside the trace; null: none
 * @property {((from: number, to: number, signal: AbortSignal) => Promise<Blob>)=} excerpt a range as a trace of its own
 * @property {((text: string, signal: AbortSignal) => Promise<import("./answertrack.js").QueryAnswer>)=} query answers a question in SQL
 * @property {((model: Model) => void)=} follow feeds the model until its writer has ended, and then watches the server
 */

/** The first pause before retrying an unreachable server, in ms. */
const firstPause = 500;
const longestPause = 5000;
/** The interval for checking the server and the trace once there are no more updates, in ms. */
const watchPause = 2000;
/** The timeout of an update, in ms; one takes a second. */
const longestAnswer = 20000;

/** Returns what the server or the file says of this page. @returns {{home?: string, base: string, with?: string, list?: boolean}} */
export function pageConfig() { return JSON.parse(document.getElementById("config")?.textContent || "{}"); }

/**
 * Loads the models of this page's trace and, if there is one, of the trace to compare with.
 * @returns {Promise<[Model, Model|null]>}
 */
export async function openSources() {
  const config = pageConfig();
  const live = config.home === "live";
  const load = async (/** @type {Source} */ source) => {
    const model = new Model(source);
    await model.load();
    return model;
  };
  const compared = live ? config.with !== undefined : document.getElementById("with") !== null;
  return Promise.all([
    load(live ? liveSource(config.base) : fileSource("data")),
    compared ? load(live ? liveSource(/** @type {string} */ (config.with)) : fileSource("with")) : null,
  ]);
}

/** Returns the source of the data embedded in the page. @param {string} id of their element @returns {Source} */
export function fileSource(id = "data") {
  return {
    home: "file",
    async whole() {
      const element = document.getElementById(id);
      if (!element) throw new Error("The page has no data: it was truncated or changed.");
      const bytes = fromBase64(element.textContent ?? "");
      element.textContent = ""; // the text is as large as the decoded data
      return readContainerGently(await inflate(bytes));
    },
  };
}

/**
 * The text before the data of a page, in two pieces, because each page contains this script,
 * too. The next tag follows the data: base64 contains none.
 */
const dataBegin = 'id="data" ' + 'type="application/octet-stream">';

/**
 * Returns the model of another page written by `scopeview html`. No script of it runs.
 * @param {string} name of the file @param {string} text
 * @returns {Promise<Model>}
 */
export async function openPage(name, text) {
  const from = text.indexOf(dataBegin) + dataBegin.length;
  const to = text.indexOf("<", from);
  if (from < dataBegin.length || to < 0) throw new Error(`${name} is not a timeline page. If it is a trace, "scopeview html ${name} -o FILE.html" makes a page of it.`);
  const model = new Model({ home: "file", whole: async () => readContainerGently(await inflate(fromBase64(text.slice(from, to)))) });
  await model.load();
  return model;
}

/** Returns the source of a server's data. @param {string} base its path, with a trailing slash @returns {Source} */
export function liveSource(base) {
  let of = ""; // id of the recording shown; the path may lead to another one by now
  let server = null; // id of the server; its port may belong to another one by now
  let reportReplaced = () => {};
  const get = async (path, signal) => {
    const query = of && `${path.includes("?") ? "&" : "?"}of=${of}`;
    const response = await fetch(base + path + query, { signal, cache: "no-store", credentials: "same-origin" });
    const answers = response.headers.get("Scopeview");
    if (of === "") server = answers;
    if (answers !== server) throw answerError(0, `${base}${path.replace(/\?.*/, "")}: another server answers`);
    if (response.status === 409) reportReplaced();
    if (!response.ok) throw answerError(response.status, `${base}${path.replace(/\?.*/, "")}: the server answers ${response.status} ${(await response.text()).trim().slice(0, 200)}`);
    return response;
  };
  const container = async (path, signal) => readContainerGently(await inflate(new Uint8Array(await (await get(path, signal)).arrayBuffer())));
  const range = (from, to) => `from=${Math.floor(from)}&to=${Math.ceil(to)}`;
  return {
    home: "live",
    async whole() {
      const whole = await container("api/whole");
      of = whole.header.meta?.id ?? "";
      return whole;
    },
    tile: (from, to, px) => container(`api/tile?${range(from, to)}&px=${Math.ceil(px)}`),
    waits: (from, to, px) => container(`api/waits?${range(from, to)}&px=${Math.ceil(px)}`),
    runs: (nameId, from, to) => container(`api/runs?name=${nameId}&${range(from, to)}`),
    request: (trace) => container(`api/request?trace=${trace}`),
    samples: () => container("api/samples"),
    doctor: async () => (await get("api/doctor")).json(),
    advice: async () => (await get("api/advice")).json(),
    summary: async (from, to, whole) => (await get(`api/summary?${range(from, to)}${whole ? "&whole=1" : ""}`)).json(),
    excerpt: async (from, to, signal) => (await get(`api/excerpt?${range(from, to)}`, signal)).blob(),
    query: async (text, signal) => (await get(`api/sql?q=${encodeURIComponent(text)}`, signal)).json(),
    async follow(model) {
      reportReplaced = () => model.setState("replaced", "");
      await followLive(model, container);
      await watchServer(model, (signal) => get("api/same", signal));
    },
  };
}

/** @param {number} status @param {string} text */
function answerError(status, text) { return Object.assign(new Error(text), { status }); }

/**
 * Returns the state after a failed answer: status 410 means that the file no longer contains the recording.
 * @param {{status?: number}} err @returns {"changed"|"lost"}
 */
function troubleOf(err) { return err.status === 410 ? "changed" : "lost"; }

/** @param {number} ms @returns {Promise<void>} */
function sleep(ms) { return new Promise((done) => { setTimeout(done, ms); }); }

/** Waits for pause, or until retry is called. @param {Model} model @param {Promise<void>} pause */
function rest(model, pause) { return Promise.race([pause, new Promise((done) => { model.retry = () => done(undefined); })]); }

/**
 * Polls the server until the trace's file no longer contains what the model shows.
 * @param {Model} model
 * @param {(signal: AbortSignal) => Promise<any>} same
 * @param {(ms: number) => Promise<void>} pause
 */
export async function watchServer(model, same, pause = sleep) {
  for (let wait = watchPause; !model.superseded;) {
    await rest(model, pause(wait));
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), longestAnswer);
    try {
      await same(abort.signal);
      model.setState("ended", "");
      wait = watchPause;
    } catch (err) {
      model.setState(err.status === 404 ? "removed" : troubleOf(err), err.message);
      wait = Math.min(wait === watchPause ? firstPause : wait * 2, longestPause);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Feeds a model until its writer has ended.
 * @param {Model} model
 * @param {(path: string, signal?: AbortSignal) => Promise<import("../data/columns.js").Container>} container
 * @param {(ms: number) => Promise<void>} pause
 */
export async function followLive(model, container, pause = sleep) {
  let wait = firstPause;
  let reload = false;
  while (!model.superseded) {
    if (!reload && !model.meta.live) return model.setState("ended", "");
    if (!reload && !model.meta.loading && (model.meta.writer === "closed" || model.meta.writer === "gone")) return model.setState("ended", "");
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), longestAnswer);
    try {
      if (reload) {
        model.replace(await container("api/whole", abort.signal));
        reload = false;
      } else {
        if (model.state !== "lost") model.setState("connected", ""); // otherwise once it answers
        const news = await container(`api/live?cursor=${encodeURIComponent(model.meta.live?.cursor ?? "")}`, abort.signal);
        if (news.header.meta?.reload) reload = true;
        else model.update(news);
      }
      model.setState("connected", "");
      wait = firstPause;
    } catch (err) {
      model.setState(troubleOf(err), err.message);
      await rest(model, pause(wait));
      wait = Math.min(wait * 2, longestPause);
    } finally {
      clearTimeout(timer);
    }
  }
}
