import test from "node:test";
import assert from "node:assert/strict";
import { answerTrack, mostAnswerLines, placeOfAnswer } from "../model/answertrack.js";
import { layoutRows, newChoices } from "../view/layout.js";
import { answerAt } from "../view/answerbars.js";
import { shellWord } from "../panel/copy.js";
import { sizes } from "../view/layout.js";

const answer = (columns, ...rows) => ({ refused: "", columns, rows, more: "", problem: "", notes: [] });

test("a row with a time leads to its place", () => {
  const columns = ["name", "goroutine", "depth", "start_ns", "dur_ns"];
  assert.deepEqual(placeOfAnswer(columns, ["f1", 7, 2, 100, 50]), { start: 100, dur: 50, goroutine: 7, depth: 2, name: "f1" });
  assert.deepEqual(placeOfAnswer(["time_ns"], [5]), { start: 5, dur: 0, goroutine: 0, depth: -1, name: "" });
  assert.equal(placeOfAnswer(columns, ["f1", 7, 2, null, 50]), null);
  assert.equal(placeOfAnswer(["start_ns"], ["9007199254740993"]), null);
  assert.equal(placeOfAnswer(["n"], [1]), null);
});

test("rows with durations are bars, on as many lines as overlap", () => {
  const track = answerTrack(answer(["start_ns", "dur_ns", "name"], [100, 50, "b"], [0, 60, "a"], [50, 20, "c"], [null, 1, "d"]), "q1", "Answer 1");
  assert.deepEqual(track.lines.map((l) => [l.starts, l.ends, l.labels]), [[[0, 100], [60, 150], ["a", "b"]], [[50], [70], ["c"]]]);
  assert.equal(track.series, null);
  const many = answerTrack(answer(["start_ns", "dur_ns"], ...Array.from({ length: mostAnswerLines + 3 }, () => [0, 10])), "q2", "Answer 2");
  assert.deepEqual([many.lines.length, many.left, many.title], [mostAnswerLines, 3, "Answer 2 (3 not shown)"]);
});

test("rows with a time and a number are a plot", () => {
  const track = answerTrack(answer(["time_ns", "goroutine", "n", "m"], [20, 7, 2, 5], [10, 7, 1, 6], [30, 7, null, 7]), "q1", "Answer 1");
  assert.deepEqual([track.series, track.title], [{ time: [10, 20], value: [1, 2] }, "Answer 1: n"]);
  assert.deepEqual(answerTrack(answer(["time_ns", "goroutine"], [20, 7]), "q", "A").lines[0].starts, [20]);
  assert.equal(answerTrack(answer(["n"], [20]), "q", "A"), null);
});

test("tracks of answers are above the rows, and their bars are found", () => {
  const bars = answerTrack(answer(["start_ns", "dur_ns", "name"], [0, 60, "a"], [50, 20, "c"]), "q1", "Answer 1");
  const plot = answerTrack(answer(["time_ns", "n"], [0, 60]), "q2", "Answer 2");
  const { strips } = layoutRows({ series: () => [], name: () => "", answers: [bars, plot] }, [], newChoices());
  assert.deepEqual(strips.map((s) => [s.kind, s.id, s.title]), [["answer", "q1", "Answer 1"], ["series", "q2", "Answer 2: n"]]);
  assert.equal(answerAt(bars, 1, 30, 1)?.name, "a");
  assert.equal(answerAt(bars, sizes.line + 1, 55, 1)?.name, "c");
  assert.equal(answerAt(bars, sizes.line + 1, 30, 1), null);
  assert.equal(answerAt(bars, 2 * sizes.line + 1, 30, 1), null);
});

test("a question is one word of a shell", () => {
  assert.equal(shellWord("SELECT 'a'"), "'SELECT '\\''a'\\'''");
});
