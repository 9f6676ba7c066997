import test from "node:test";
import assert from "node:assert/strict";
import { shortFunc } from "../data/names.js";
import { readFileSync } from "node:fs";
import { CSV_HEADER, csvCell } from "../panel/exportcsv.js";
import { sureText } from "../panel/finding.js";
import { percentText, thousands } from "../view/numbers.js";

/** Examples that the Go side's tests read too. */
const examples = (path) => JSON.parse(readFileSync(new URL(`../../../../internal/${path}`, import.meta.url), "utf8"));

test("numbers are written as the tool writes them", () => {
  const { percent, count } = examples("show/testdata/numbers.json");
  for (const [share, want] of percent) assert.equal(percentText(share), want, String(share));
  for (const [n, want] of count) assert.equal(thousands(n), want);
  assert.equal(percentText(NaN), "-");
});

test("confidences have the words of scopeview doctor", () => {
  for (const [confidence, want] of examples("report/doctor/testdata/sure.json")) assert.equal(sureText(confidence).split(" (")[0], want, String(confidence));
});

test("functions' names are shortened as the tool does", () => {
  for (const [name, want] of Object.entries(examples("format/testdata/functions.json"))) assert.equal(shortFunc(name), want, name);
  assert.equal(shortFunc(`x/y.${"z".repeat(70000)}`).length, 301);
});

test("CSV has the tool's columns and cells: a spreadsheet runs none, and a reader splits none", () => {
  const { header, cells } = examples("export/csv/testdata/cells.json");
  assert.equal(CSV_HEADER, header);
  for (const [text, want] of Object.entries(cells)) assert.equal(csvCell(text), want, JSON.stringify(text));
});
