import test from "node:test";
import assert from "node:assert/strict";
import { filterHelp, parseRows, rowFilter } from "../model/rowexpr.js";
import { modelOf } from "./make.js";

const rows = [
  { title: "handler 1", scopes: 500, wait: 20e6, busy: 600, cpu: 2e9 }, { title: "Handler 12", scopes: 100, wait: 10e6, busy: 100, cpu: NaN },
  { title: "idle handler", scopes: 3, wait: 0, busy: 900, cpu: 1 }, { title: "mu", wait: 5e6 },
];
/** Which of the rows a filter keeps, of a trace of 1000 ns. */
const kept = (text) => {
  const { terms, error } = parseRows(text, 1000);
  return error || rows.flatMap((row, k) => (terms.every((holds) => holds(row)) ? [k] : []));
};

test("words beside each other are one text, in any case", () => {
  assert.deepEqual(["handler", "HANDLER 1", "  ", "idle  handler", "h r", "name:idle", "-idle", "-name:idle handler", '"r 1" handler', 'name:"idle h"', '-"handler 1"', "a=b", '"wait>1"'].map(kept),
    [[0, 1, 2], [0, 1], [0, 1, 2, 3], [2], [], [2], [0, 1, 3], [0, 1], [0, 1], [2], [2, 3], [], []]);
});

test("times, shares and numbers are compared", () => {
  assert.deepEqual(["wait>10ms", "wait>=10ms", "wait=10ms", "wait<1us", "wait>0.01s", "wait>10000µs", "busy>50%", "busy<=600ns", "cpu>1s", "-cpu>1s", "scopes>100", "scopes>=100 handler -idle", "WAIT>10MS", "wait<1m"].map(kept),
    [[0], [0, 1], [1], [2], [0], [0], [0, 2], [0, 1], [0], [2], [0], [0, 1], [0], [0, 1, 2, 3]]);
});

test("what can't be understood is said", () => {
  assert.deepEqual(["wait>", "wait>x", "wait>10", "wait>10parsec", "scopes>10ms", "wiat>10ms", '"open'].map(kept), [
    "wait>: a number is missing", "wait>x: x is not a number", "wait>10: a unit is missing, as in wait>10ms or wait>10%",
    "wait>10parsec: unknown unit parsec; the units are ns, us, ms, s, m and %", "scopes>10ms: a number of scopes has no unit",
    "wiat>10ms: unknown field wiat; the fields are wait, busy, cpu, scopes and name:text. Quote a name that contains >", '"open: a quote is not closed',
  ]);
  for (const [example] of filterHelp) assert.equal(parseRows(example, 1).error, "", example);
});

test("rows of a model are kept by what they did; a filter with a mistake keeps all", () => {
  const model = modelOf([[1, 0, 1, 1, 0, 100], [1, 1, 2, 6, 10, 60], [2, 0, 1, 1, 0, 20]], { names: ["", "job", "mu"] });
  const keys = (text) => model.rows().filter(rowFilter(model, text).row).map((row) => row.key);
  assert.deepEqual(["wait>50%", "busy<50%", "wait>50", "goroutine"].map(keys), [[1], [2], [1, 2], [1, 2]]);
});
