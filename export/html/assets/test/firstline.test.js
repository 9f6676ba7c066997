// The first line: the finding, else what took the time, and never a guess before the answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLine } from "../panel/firstline.js";
import { span } from "../view/numbers.js";

const model = (/** @type {any} */ more) => ({ doctor: null, doctorAsked: false, doctorProblem: "", source: {}, meta: { writer: "closed" }, name: (/** @type {number} */ id) => ["", "parse", "read"][id], ...more });
const summary = { scopes: [{ name: 1, self: 30 }, { name: 2, self: 70 }, { name: 0, self: null }], locks: [] };
const path = { of: "", ns: 2e9, parts: [{ name: "db.compact", state: "sleep", ns: 1e9, share: 0.5 }, { name: "", state: "cpu", ns: 5e8, share: 0.25 }] };
const finding = (/** @type {number} */ confidence) => ({ verdict: "convoy", object: "db.mu", text: "Goroutines queue for db.mu.", confidence, share: 0.4 });

test("the finding with its confidence", () => {
  const line = firstLine(model({ doctor: { findings: [finding(0.2), finding(0.82)] } }), null, span);
  assert.equal(line.text, "Goroutines queue for db.mu. Sure (82%).");
  assert.equal(line.finding.confidence, 0.82);
  assert.equal(firstLine(model({ doctor: { findings: [finding(0.3), finding(0.4)] } }), null, span).finding.confidence, 0.4);
  assert.equal(firstLine(model({ doctor: { findings: [finding(0.37)] } }), null, span).text, "Goroutines queue for db.mu. A guess (37%).");
});

test("without a confident finding, what took the time", () => {
  const line = firstLine(model({ doctor: { findings: [finding(0.2)], critical_path: [path] } }), null, span);
  assert.equal(line.text, "No problem stands out. The run of 2.00 s took its time in db.compact, sleeping: 50%; no scope, on a CPU: 25%.");
  assert.equal(firstLine(model({}), summary, span).text, "The scopes' time went to read 70%, parse 30%.");
  assert.equal(firstLine(model({ source: { doctor() {} } }), summary, span).unasked, true);
});

test("nothing is said before it is known", () => {
  assert.equal(firstLine(model({ doctorAsked: true, doctor: { findings: [finding(1)] } }), summary, span), null);
  assert.equal(firstLine(model({}), null, span), null);
});

test("a failed program is named first", () => {
  assert.match(firstLine(model({ meta: { writer: "gone" } }), summary, span).text, /^The program ended, or was killed, without Stop\. The scopes/);
  assert.match(firstLine(model({ doctor: { end: { text: "It panicked." }, findings: [finding(0.9)] } }), null, span).text, /^It panicked\. Goroutines queue/);
});
