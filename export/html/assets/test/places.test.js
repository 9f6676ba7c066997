import { test } from "node:test";
import assert from "node:assert/strict";
import { blankMeta, mergeMeta } from "../data/meta.js";
import { shortPlace } from "../data/places.js";
import { editorLink, editorProblem, editors, rememberEditor, rememberedEditor } from "../model/editor.js";

test("places of names come with the whole and with news, and stay", () => {
  let meta = mergeMeta(blankMeta(), { names: ["", "", "get"], places: { files: ["/src/store/store.go"], of: [[2, 0, 142, "store.(*Store).get"]] } });
  meta = mergeMeta(meta, { end: 5 });
  meta = mergeMeta(meta, { places: { files: ["main.go"], of: [[3, 0, 7, "main.main"]] } });
  assert.deepEqual([...meta.places], [
    [2, { file: "/src/store/store.go", line: 142, func: "store.(*Store).get" }], [3, { file: "main.go", line: 7, func: "main.main" }],
  ]);
  assert.deepEqual([...mergeMeta(blankMeta(), { names: [""] }).places], [], "an older trace has none");
  assert.equal(shortPlace(meta.places.get(2)), "store/store.go:142");
  assert.equal(shortPlace({ file: "C:\\src\\store\\a.go", line: 1 }), "store/a.go:1");
});

const place = { file: "/home/me/a b/#1?/sto%re.go", line: 142, func: "store.(*Store).get" };
const link = (template, at = place, from = "", to = "") => editorLink({ template, from, to }, at);

test("a link has the path as a path, whatever is in it", () => {
  const path = "/home/me/a%20b/%231%3F/sto%25re.go";
  assert.equal(link("vscode://file/{path}:{line}"), `vscode://file${path}:142`);
  assert.equal(link("idea://open?file={path}&line={line}"), `idea://open?file=${path}&line=142`);
  assert.equal(link("https://code.example/at{path}#L{line}-{func}"), `https://code.example/at${path}#L142-store.(*Store).get`);
  assert.equal(link("vscode://file/{path}:{line}", { file: "C:\\src\\a.go", line: 3, func: "" }), "vscode://file/C:/src/a.go:3");
  assert.equal(link("zed://file/{path}", { file: "/{line}/a.go", line: 3, func: "" }), "zed://file/%7Bline%7D/a.go", "what is in a path is not replaced");
  assert.equal(link("zed://file/{path}", { file: "/\ud800/a.go", line: 3, func: "" }), "zed://file/%EF%BF%BD/a.go", "half of a pair is no text");
  for (const [name, template] of editors) assert.equal(editorProblem(template), "", name);
});

test("the beginning of a path of elsewhere is replaced", () => {
  assert.equal(link("vscode://file/{path}:{line}", { file: "/build/app/x.go", line: 9, func: "" }, "/build/", "/home/me/"), "vscode://file/home/me/app/x.go:9");
  assert.equal(link("vscode://file/{path}:{line}", { file: "/src/build/x.go", line: 9, func: "" }, "/build/", "/home/"), "vscode://file/src/build/x.go:9");
  assert.equal(link("vscode://file/{path}:{line}", { file: "example.com/app/x.go", line: 9, func: "" }), "", "no editor has this path");
  assert.equal(link("vscode://file/{path}:{line}", { file: "example.com/app/x.go", line: 9, func: "" }, "example.com/", "D:\\src\\"), "vscode://file/D:/src/app/x.go:9");
  assert.equal(link("https://code.example/{path}", { file: "example.com/app/x.go", line: 9, func: "" }), "https://code.example/example.com/app/x.go", "a site may");
});

test("what could run something is no link", () => {
  const bad = [
    "javascript:alert({path})", "javascript://{path}%0aalert(1)", "JavaScript://{path}", " javascript://{path}", "java\nscript://{path}", "data:text/html,{path}", "data://{path}", "vbscript://{path}",
    "blob:{path}", "file://{path}", "about://{path}", "view-source://{path}", "{path}", "//{path}", "vscode:{path}", "", "x://{path}", "vscode\u0000://{path}",
  ];
  for (const template of bad) {
    assert.match(editorProblem(template), /must begin with/, template);
    assert.equal(link(template), "", template);
  }
  assert.match(editorProblem("https://example.com/"), /no \{path\}/);
  assert.equal(link("vscode://file/{path}", { file: "javascript:alert(1)", line: 1, func: "" }), "");
  assert.equal(new URL(link("https://code.example/{path}", { file: "javascript:alert(1)//\"><img src=x>", line: 1, func: "" })).origin, "https://code.example");
});

test("the choice is remembered where the browser lets it be, and what is there is not trusted", () => {
  const kept = new Map();
  globalThis.localStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v) };
  const none = { template: "", from: "", to: "" };
  assert.deepEqual(rememberedEditor(), none);
  const chosen = { template: editors[0][1], from: "/a", to: "/b" };
  assert.ok(rememberEditor(chosen));
  assert.deepEqual(rememberedEditor(), chosen);
  for (const odd of ["{", "null", "[]", '{"template":7,"from":{}}']) {
    kept.set("scopeview.editor", odd);
    assert.deepEqual(rememberedEditor(), none, odd);
  }
  globalThis.localStorage = { getItem() { throw new Error("denied"); }, setItem() { throw new Error("denied"); } };
  assert.deepEqual(rememberedEditor(), none);
  assert.ok(!rememberEditor(chosen));
  delete globalThis.localStorage;
});
