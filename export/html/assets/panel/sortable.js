// Tables that can be sorted by any column, for all panels.

import { keepFocus, make, makeButton } from "../view/make.js";
import { reportHints } from "./hints.js";
import { remember, remembered } from "../view/remembered.js";
import { thousands } from "../view/numbers.js";

/**
 * A column. value is the sort key, null or NaN if unknown. text is the displayed text, by
 * default the value. share (0 to 1) is the length of a thin bar behind the text. pick: the
 * cell is a button that picks the row; press: a button with another action.
 * @typedef {{key:string, title:string, hint?:string, numeric?:boolean, pick?:boolean, mono?:boolean, bar?:string,
 *   value(row:any):number|string|null, text?(row:any):string, share?(row:any):number, press?(row:any):void, tone?(row:any):string}} Column
 */

/**
 * Returns a column of a report's table, with its head and its hint there.
 * @param {string} table @param {string} head @param {{value(row:any):number|string|null} & Partial<Column>} rest
 * @returns {Column}
 */
export function reportColumn(table, head, rest) { return { key: head, title: head, hint: reportHints[table][head], ...rest }; }

/** The number of columns from which on they can be chosen. */
const fewestToChoose = 6;
/** The number of rows shown at first. */
const sortableLimit = 200;

const sortableWords = new Intl.Collator("en", { numeric: true });

/**
 * Returns rows sorted by a column; unknown values come last in both directions, and the sort is stable.
 * @param {any[]} rows
 * @param {Column} column
 * @param {boolean} descending
 * @returns {any[]} a new list
 */
export function sortedRows(rows, column, descending) {
  const unknown = (v) => v === null || v === undefined || Number.isNaN(v);
  const keyed = rows.map((row, at) => ({ row, at, v: column.value(row) }));
  keyed.sort((a, b) => {
    const ua = unknown(a.v);
    const ub = unknown(b.v);
    if (ua || ub) return ua === ub ? a.at - b.at : ua ? 1 : -1;
    const by = column.numeric ? Number(a.v) - Number(b.v) : sortableWords.compare(String(a.v), String(b.v));
    return (descending ? -by : by) || a.at - b.at;
  });
  return keyed.map((k) => k.row);
}

/**
 * Creates a sortable table. set fills it; order, focus and the expansion to all rows
 * persist. inside: the element below an open row, null for others; picking then opens the
 * row. sort: sorts the rows elsewhere, if there are more than shown.
 * @param {{caption:string, columns:Column[], by:string, descending?:boolean, limit?:number, empty?:string,
 *   id?(row:any):string|number, menu?(row:any, e: MouseEvent):void, pick?(row:any):void, hover?(row:any|null):void, inside?(row:any):HTMLElement|null, sort?(key:string, descending:boolean):void}} options
 * @returns {{element: HTMLElement, set(rows:any[], caption?:string): void}}
 */
export function createSortable(options) {
  const { columns, limit = sortableLimit, id = () => "" } = options;
  /** The keys of columns that are not shown; kept for the next page. */
  const hidden = new Set((remembered(`columns ${options.caption}`) ?? "").split(" ").filter((key) => columns.some((c) => c.key === key)));
  let by = columns.find((c) => c.key === options.by) || columns[0];
  let descending = options.descending ?? Boolean(by.numeric);
  let rows = [];
  let all = false;

  const caption = make("caption", { text: options.caption });
  const heads = columns.map((column) => {
    const arrow = make("span", { class: "arrow", "aria-hidden": "true" });
    const button = makeButton("", () => sortBy(column), { title: column.hint });
    button.append(column.title, arrow);
    return { column, arrow, th: make("th", { scope: "col", class: column.numeric ? "number" : "" }, button) };
  });
  const body = make("tbody");
  const table = make("table", { class: "sortable" }, caption, make("thead", null, make("tr", null, ...heads.map((h) => h.th))), body);
  const more = makeButton("", () => {
    all = true;
    fill();
  }, { class: "more", hidden: true });
  const none = make("p", { class: "quiet", text: options.empty || "No entries." });
  const chooser = columns.length < fewestToChoose ? null : make("details", { class: "columns-menu", ontoggle: () => placeChooser() }, make("summary", { text: "Columns" }),
    make("div", { class: "items" }, ...columns.filter((c) => !c.pick).map((c) => make("label", { title: c.hint }, make("input", { type: "checkbox", checked: !hidden.has(c.key), onchange: () => toggleColumn(c.key) }), c.title))));
  const element = make("div", { class: "sortable-box" }, chooser, table, none, more);

  /** Places the open list of columns over whatever is there. */
  function placeChooser() {
    const items = /** @type {HTMLElement} */ (chooser?.querySelector(".items"));
    const at = chooser?.getBoundingClientRect();
    if (!at || !chooser.open) return;
    items.style.left = `${Math.max(2, Math.min(at.left, innerWidth - items.offsetWidth - 4))}px`;
    items.style.top = `${Math.max(2, Math.min(at.bottom, innerHeight - items.offsetHeight - 4))}px`;
  }

  /** Shows a column or hides it. @param {string} key */
  function toggleColumn(key) {
    if (!hidden.delete(key)) hidden.add(key);
    remember(`columns ${options.caption}`, [...hidden].join(" "));
    fill();
  }

  function sortBy(column) {
    descending = by === column ? !descending : Boolean(column.numeric);
    by = column;
    options.sort?.(by.key, descending);
    fill();
  }

  function cell(column, row, inner) {
    const text = column.text ? column.text(row) : String(column.value(row) ?? "");
    const tone = column.tone ? " " + column.tone(row) : "";
    const first = column.pick;
    const at = make(first ? "th" : "td", { class: (column.numeric ? "number" : column.mono ? "mono" : "") + tone });
    if (first) at.scope = "row";
    if (first && options.pick) at.append(makeButton(text, () => options.pick?.(row), { class: "link", "data-keep": id(row), "aria-expanded": options.inside ? String(inner !== null) : null }));
    else if (column.press) at.append(makeButton(text, () => column.press?.(row), { class: "link", "data-keep": `${column.key} ${id(row)}`, title: column.hint }));
    else at.textContent = text;
    const share = column.share ? column.share(row) : 0;
    if (share > 0) {
      const bar = make("span", { class: "bar " + (column.bar || ""), "aria-hidden": "true" });
      bar.style.width = `${Math.min(100, share * 100).toFixed(1)}%`;
      at.classList.add("barred");
      at.append(bar);
    }
    return at;
  }

  function fill() {
    const seen = columns.filter((c) => !hidden.has(c.key));
    for (const h of heads) {
      h.th.hidden = hidden.has(h.column.key);
      const on = h.column === by;
      if (on) h.th.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else h.th.removeAttribute("aria-sort");
      h.arrow.textContent = on ? (descending ? " ↓" : " ↑") : "";
    }
    const sorted = options.sort ? rows : sortedRows(rows, by, descending);
    const shown = all ? sorted : sorted.slice(0, limit);
    body.replaceChildren(...shown.flatMap((row) => {
      const inner = options.inside?.(row) ?? null;
      const tr = make("tr", null, ...seen.map((c) => cell(c, row, inner)));
      if (options.menu) tr.addEventListener("contextmenu", (/** @type {MouseEvent} */ e) => {
        e.preventDefault();
        options.menu?.(row, e);
      });
      if (options.hover) {
        tr.addEventListener("pointerenter", () => options.hover?.(row));
        tr.addEventListener("pointerleave", () => options.hover?.(null));
      }
      return inner ? [tr, make("tr", { class: "inside" }, make("td", { colSpan: seen.length }, inner))] : [tr];
    }));
    table.hidden = rows.length === 0;
    none.hidden = rows.length > 0;
    more.hidden = shown.length === rows.length;
    more.textContent = `Show all ${thousands(rows.length)}`;
  }

  return {
    element,
    set(next, text) {
      rows = next;
      if (text !== undefined) caption.textContent = text;
      keepFocus(body, fill);
    },
  };
}
