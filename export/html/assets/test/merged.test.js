import test from "node:test";
import assert from "node:assert/strict";
import { Batch, blankData, extendOpen } from "../data/batch.js";
import { overWithProcess } from "../model/processes.js";

test("what is open is over when its process is", () => {
  const data = blankData(3);
  data.start.set([10, 40, 20]);
  data.lanes.push({ key: 2 ** 30 + 7, depth: 0, from: 0, to: 2 }, { key: 2 * 2 ** 30 + 7, depth: 0, from: 2, to: 3 });
  const batch = new Batch(data);
  extendOpen(batch, 100);
  overWithProcess(batch, { shift: 30, processes: [{ number: 1, to: 30 }, { number: 2, to: 100 }] });
  assert.deepEqual([...batch.dur], [20, 0, 80]);
  extendOpen(batch, 100);
  overWithProcess(batch, {});
  assert.deepEqual([...batch.dur], [90, 60, 80]);
});
