import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fromBase64, inflate, readContainer } from "../data/columns.js";
import { Kind } from "../data/kinds.js";
import { Model } from "../model/model.js";
import { search } from "../model/search.js";
import { summarize } from "../model/stats.js";

// Containers as the Go side packs them, with the sums of its package analysis: see TestFixtures in export/html.
for (const { name, container, sums, searches } of JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8"))) {
  test(`sums are those of the tool: ${name}`, async () => {
    const model = new Model({ home: "file" });
    model.replace(readContainer(await inflate(fromBase64(container))));
    for (const { from, to, whole, summary } of sums) {
      const got = summarize(model, from, to || Infinity, whole);
      const known = got.scopes.map(({ openTime, across, ...s }) => s);
      // Of more than 64 durations the tool knows quantiles within 0.8 %.
      for (const [k, s] of summary.scopes.entries()) {
        for (const q of ["p50", "p90", "p99"]) {
          if (s.count > 64 && Math.abs(known[k][q] - s[q]) <= 0.008 * s[q]) known[k][q] = s[q];
        }
      }
      assert.deepEqual(known, summary.scopes);
      const rounded = (locks) => locks.map((l) => ({ ...l, heldBy: l.heldBy.map(([id, share]) => [id, Math.round(share * 1e9)]) }));
      assert.deepEqual(rounded(got.locks), rounded(summary.locks));
    }
  });

  test(`searches find what the tool's --where finds: ${name}`, async () => {
    const model = new Model({ home: "file" });
    model.replace(readContainer(await inflate(fromBase64(container))));
    const kinds = new Set([Kind.task, Kind.taskf, Kind.process, Kind.wait, Kind.hold, Kind.event, Kind.pending]);
    const found = Object.keys(searches).map((text) => {
      const hits = search(model, text);
      let n = 0;
      for (const batch of model.batches()) for (let i = 0; i < batch.n; i++) if (kinds.has(batch.kind[i]) && hits.has(batch, i)) n++;
      return [text, n];
    });
    assert.deepEqual(Object.fromEntries(found), searches);
  });
}
