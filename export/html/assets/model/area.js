// The selected area: a range of time of some rows.

/**
 * Returns the rows of an area that have items.
 * @param {import("./model.js").Model} model
 * @param {ReadonlySet<string>|null} area ids of goroutines' rows; null: all
 * @param {import("./rowset.js").Row[]} rows by goroutine
 */
export function rowsOfArea(model, area, rows = model.rows("goroutine")) {
  return area === null ? rows : rows.filter((row) => area.has(`g${row.key}`));
}

/** Returns the goroutines of an area. @param {ReadonlySet<string>} area @returns {number[]} */
export function goroutinesOfArea(area) { return [...area].map((id) => Number(id.slice(1))); }

/** Returns text such as " of 3 rows"; "" for all rows. @param {ReadonlySet<string>|null} area */
export function areaText(area) { return area === null ? "" : ` of ${area.size} ${area.size === 1 ? "row" : "rows"}`; }

/**
 * Returns the begin or end of a bar nearest to t; t itself if none is within reach.
 * @param {import("./model.js").Model} model
 * @param {import("./rowset.js").Lane[]} lanes
 * @param {number} t
 * @param {number} reach maximum distance, ns
 * @param {number} res shorter bars are merged with their neighbours, ns
 */
export function snapped(model, lanes, t, reach, res) {
  let best = t;
  let distance = reach;
  for (const lane of lanes) {
    model.eachBar(lane, t - reach, t + reach, res, ({ t0, t1 }) => {
      for (const edge of [t0, t1]) {
        if (Math.abs(edge - t) > distance) continue;
        distance = Math.abs(edge - t);
        best = edge;
      }
    });
  }
  return best;
}
