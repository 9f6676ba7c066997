// A track of an answer: rows of an SQL answer as bars on lines of their own, or as a plot of their values.

/**
 * The answer to a question: the names of its columns and the values of its rows, null for NULL; refused: the reason
 * why there is no answer; more: there are further rows.
 * @typedef {{refused: string, columns: string[], rows: (number|string|null)[][], more: string, problem: string, notes: string[]}} QueryAnswer
 *
 * The place in the timeline that a row leads to. goroutine is 0 and depth -1 if they are not known.
 * @typedef {{start: number, dur: number, goroutine: number, depth: number, name: string}} AnswerPlace
 *
 * The bars of a track, by line, each sorted by start.
 * @typedef {{starts: number[], ends: number[], places: AnswerPlace[], labels: string[]}} AnswerLine
 *
 * A track: lines of bars, or a series of values.
 * @typedef {{id: string, title: string, lines: AnswerLine[], series: {time: number[], value: number[]}|null, left: number}} AnswerTrack
 */

/** The maximum number of lines of a track. Bars that find no room there are counted as left out. */
export const mostAnswerLines = 8;

/** The columns that are no values to plot. */
const notPlotted = new Set(["start_ns", "time_ns", "goroutine", "thread", "depth", "open", "holder", "by", "cpu"]);

/**
 * Returns the place that a row leads to; null: it has no time.
 * @param {string[]} columns @param {(number|string|null)[]} row @returns {AnswerPlace|null}
 */
export function placeOfAnswer(columns, row) {
  const number = (/** @type {string} */ name) => {
    const v = row[columns.indexOf(name)];
    return typeof v === "number" && Number.isFinite(v) ? v : null;
  };
  const start = number("start_ns") ?? number("time_ns");
  if (start === null) return null;
  const name = row[columns.indexOf("name")];
  return { start, dur: Math.max(0, number("dur_ns") ?? 0), goroutine: number("goroutine") ?? 0, depth: number("depth") ?? -1, name: typeof name === "string" ? name : "" };
}

/** Returns the index of the column to plot; -1: none. @param {QueryAnswer} answer */
function plottedColumn({ columns, rows }) {
  return columns.findIndex((name, k) => !notPlotted.has(name) && rows.some((r) => typeof r[k] === "number") && rows.every((r) => r[k] === null || typeof r[k] === "number"));
}

/**
 * Returns the track of an answer: bars if its rows have durations, else a plot of the first column of numbers, else
 * instants. null: its rows have no times.
 * @param {QueryAnswer} answer @param {string} id @param {string} title @returns {AnswerTrack|null}
 */
export function answerTrack(answer, id, title) {
  const { columns, rows } = answer;
  const placed = rows.flatMap((row) => {
    const place = placeOfAnswer(columns, row);
    return place ? [{ row, place }] : [];
  });
  if (placed.length === 0) return null;
  placed.sort((a, b) => a.place.start - b.place.start);
  const plotted = columns.includes("dur_ns") ? -1 : plottedColumn(answer);
  if (plotted >= 0) {
    const known = placed.filter(({ row }) => row[plotted] !== null);
    const series = { time: known.map(({ place }) => place.start), value: known.map(({ row }) => Number(row[plotted])) };
    return { id, title: `${title}: ${columns[plotted]}`, lines: [], series, left: 0 };
  }
  const text = columns.findIndex((_, k) => rows.some((r) => typeof r[k] === "string"));
  /** @type {AnswerLine[]} */
  const lines = [];
  let left = 0;
  for (const { row, place } of placed) {
    let line = lines.find((l) => l.ends[l.ends.length - 1] <= place.start);
    if (!line) {
      if (lines.length === mostAnswerLines) {
        left++;
        continue;
      }
      line = { starts: [], ends: [], places: [], labels: [] };
      lines.push(line);
    }
    line.starts.push(place.start);
    line.ends.push(place.start + place.dur);
    line.places.push(place);
    line.labels.push(place.name || String(row[text] ?? ""));
  }
  return { id, title: left > 0 ? `${title} (${left} not shown)` : title, lines, series: null, left };
}
