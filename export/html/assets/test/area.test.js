import test from "node:test";
import assert from "node:assert/strict";
import { modelOf } from "./make.js";
import { areaText, goroutinesOfArea, rowsOfArea, snapped } from "../model/area.js";
import { atOnce } from "../data/slices.js";
import { flameSteps } from "../model/flame.js";
import { summarySteps } from "../model/stats.js";

const names = ["", "work", "read"];
const model = modelOf([
  [1, 0, 1, 1, 100, 100], [1, 1, 2, 1, 130, 20], [1, 0, 1, 1, 300, 50],
  [2, 0, 1, 1, 110, 1000],
], { names });

test("an area has its rows only", () => {
  const area = new Set(["g1", "g77"]);
  assert.deepEqual(rowsOfArea(model, area).map((r) => r.key), [1]);
  assert.equal(rowsOfArea(model, null).length, 2);
  assert.deepEqual(goroutinesOfArea(area), [1, 77]);
  assert.deepEqual([areaText(null), areaText(new Set(["g1"])), areaText(area)], ["", " of 1 row", " of 2 rows"]);
  const sum = (rows) => atOnce(summarySteps(model, 120, 320, false, rows)).scopes.map((s) => [names[s.name], s.total]);
  assert.deepEqual(sum(rowsOfArea(model, area)), [["work", 100], ["read", 20]]);
  assert.deepEqual(sum(), [["work", 300], ["read", 20]]);
  assert.equal(atOnce(flameSteps(model, 120, 320, "wall", rowsOfArea(model, area))).value, 100);
});

test("a range snaps to the begins and ends of bars that are near", () => {
  const { lanes } = model.rows()[0];
  for (const [t, want] of [[103, 100], [97, 100], [106, 106], [127, 130], [153, 150], [198, 200], [298, 300], [250, 250]]) {
    assert.equal(snapped(model, lanes, t, 5, 1), want, `at ${t}`);
  }
  assert.equal(snapped(model, [], 100, 5, 1), 100);
});
