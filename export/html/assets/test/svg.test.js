// The context that writes SVG.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SvgContext, escaped } from "../view/svg.js";

test("rectangles, paths, texts and clips", () => {
  const ctx = new SvgContext(/** @type {any} */ ({ measureText: (/** @type {string} */ t) => ({ width: t.length }) }));
  ctx.fillStyle = "#ff0000";
  ctx.fillRect(1, 2, 3.14159, 4);
  ctx.fillRect(1, 2, 0, 4); // nothing
  ctx.globalAlpha = 0.5;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 0, 10, 10);
  ctx.clip();
  ctx.font = "600 11px Arial";
  ctx.fillText('a<b>&"c"', 5, 6);
  ctx.restore();
  ctx.strokeStyle = "#00f";
  ctx.setLineDash([4, 3]);
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.lineTo(1, 1);
  ctx.stroke();
  const text = ctx.parts.join("\n");
  assert.match(text, /^<rect x="1" y="2" width="3.14" height="4" fill="#ff0000"\/>\n<g clip-path="url\(#scopeview-\d+\)">\n/);
  assert.match(text, /font-weight="600" xml:space="preserve" fill="#ff0000" opacity="0.5">a&#60;b&#62;&#38;&#34;c&#34;<\/text>\n<\/g>\n/);
  assert.match(text, /<path d="M0 0L1 1" fill="none" stroke="#00f" opacity="0.5" stroke-width="1" stroke-dasharray="4 3"\/>$/);
  assert.equal(ctx.measureText("abc").width, 3);
});

test("control characters are no XML", () => assert.equal(escaped("a\u0000b\u001bc"), "a\ufffdb\ufffdc"));
