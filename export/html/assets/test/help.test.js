import { test } from "node:test";
import assert from "node:assert/strict";
import { actionFunctions } from "../actions.js";
import { KEYS, MOUSE, helpRows, keyOf } from "../panel/help.js";
import { tabs } from "../state.js";

const press = (code, more = {}) => ({ code, key: "", target: { tagName: "BODY", getAttribute: () => null }, ...more });

test("each key does something, and all that can be done has a key", () => {
  const had = new Set(KEYS.map((k) => k.action));
  assert.deepEqual([...had].sort(), [...Object.keys(actionFunctions), ...tabs].sort());
});

test("no key means two things", () => {
  const seen = new Set();
  for (const k of KEYS) {
    const id = k.key ? `key ${k.key}` : `${k.code} ${Boolean(k.shift)} ${Boolean(k.ctrl)}`;
    assert.ok(!seen.has(id), id);
    seen.add(id);
    assert.ok(k.label && k.action && k.text && k.group, id);
    assert.ok(Boolean(k.code) !== Boolean(k.key), id);
  }
  assert.ok(MOUSE.length > 5);
});

test("keys by place, characters by print", () => {
  assert.equal(keyOf(press("KeyW", { key: "z" })).action, "zoom-in");
  assert.equal(keyOf(press("KeyW", { shiftKey: true })).fast, true);
  assert.equal(keyOf(press("Digit7", { key: "/", shiftKey: true })).action, "search");
  assert.equal(keyOf(press("Minus", { key: "?", shiftKey: true })).action, "help");
  assert.equal(keyOf(press("KeyF")).action, "fit");
  assert.equal(keyOf(press("KeyF", { ctrlKey: true })).action, "search");
  assert.equal(keyOf(press("KeyF", { metaKey: true })).action, "search");
  assert.equal(keyOf(press("KeyW", { ctrlKey: true })), null);
  assert.equal(keyOf(press("KeyW", { altKey: true })), null);
  assert.equal(keyOf(press("KeyT", { shiftKey: true })).action, "text-table");
});

test("controls keep the keys they need", () => {
  const on = (tagName, more) => ({ target: { tagName, getAttribute: () => null, ...more } });
  assert.equal(keyOf(press("KeyW", on("INPUT"))), null);
  assert.equal(keyOf(press("Escape", on("INPUT"))).action, "clear");
  assert.equal(keyOf(press("KeyF", { ...on("INPUT"), ctrlKey: true })).action, "search");
  assert.equal(keyOf(press("KeyW", on("INPUT", { type: "checkbox" }))).action, "zoom-in");
  assert.equal(keyOf(press("Enter", on("BUTTON"))), null);
  assert.equal(keyOf(press("KeyW", on("BUTTON"))).action, "zoom-in");
  assert.equal(keyOf(press("ArrowLeft", on("BUTTON", { getAttribute: () => "tab" }))), null);
});

test("what does the same shares a row of the help", () => {
  const zoom = helpRows("Move")[0];
  assert.deepEqual(zoom, [["W", "+", "Shift+↑"], "zoom in"]);
  for (const k of KEYS) assert.ok(helpRows(k.group).some((r) => r[1] === k.text));
});
