// A model that holds a few given items, for tests of what only asks a model.

/**
 * @param {string[]} names
 * @param {{key:number, name?:string, items:Object[]}[]} rows items: {depth, kind, name, start, dur, cpu?, flags?, thread?, args?, count?}
 */
export function fakeModel(names, rows, meta = {}) {
  const all = rows.map((row, at) => {
    const lanes = new Map();
    const sorted = [...row.items].sort((a, b) => a.depth - b.depth || a.start - b.start);
    const pick = (key, missing) => sorted.map((x) => x[key] ?? missing);
    const batch = {
      n: sorted.length, start: pick("start", 0), dur: pick("dur", 0), cpu: pick("cpu", NaN), flags: pick("flags", 0), kind: pick("kind", 1),
      name: sorted.map((x) => names.indexOf(x.name)), thread: pick("thread", 0), args: sorted.map((x, i) => (x.args ? i + 1 : 0)),
      strings: ["", ...sorted.map((x) => x.args || "")], count: sorted.some((x) => x.count) ? pick("count", 1) : null, busy: null, lane: pick("depth", 0), many: (i) => sorted[i].count ?? 1,
    };
    sorted.forEach((x, i) => {
      if (!lanes.has(x.depth)) lanes.set(x.depth, { depth: x.depth, parts: [{ batch, from: i, to: i }] });
      lanes.get(x.depth).parts[0].to = i + 1;
    });
    return { key: row.key, by: "goroutine", name: row.name || "", title: row.name || `goroutine ${row.key}`, named: Boolean(row.name), at, lanes: [...lanes.values()].filter((l) => l.depth >= 0), flags: lanes.get(-1) ?? { parts: [] } };
  });
  const visitLane = (lane, from, to, visit) => {
    for (const { batch, from: a, to: b } of lane.parts) {
      for (let i = a; i < b; i++) if (batch.start[i] <= to && batch.start[i] + batch.dur[i] >= from) visit({ batch, i, j: i + 1, t0: batch.start[i], t1: batch.start[i] + batch.dur[i] });
    }
  };
  return {
    meta: { names, ...meta },
    end: meta.end || 1000,
    version: 1,
    rows: () => all,
    eachBar: (lane, from, to, res, visit) => visitLane(lane, from, to, visit),
    series: () => meta.series || [],
  };
}
