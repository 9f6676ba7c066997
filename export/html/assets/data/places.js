// Where names are from.

/**
 * A place in the source: the program first used the name there, as far as the recording goes.
 * @typedef {{file: string, line: number, func: string}} Place
 *
 * Places as they come: their files, and of each the name's id, the index of its file, its line
 * and its function.
 * @typedef {{files: string[], of: [name: number, file: number, line: number, func: string][]}} Placed
 */

/**
 * The places by names' ids, with those that have come.
 * @param {Map<number, Place>} old @param {Placed|undefined} news
 */
export function addPlaces(old, news) {
  if (!news) return old;
  const places = new Map(old);
  for (const [name, file, line, func] of news.of) places.set(name, { file: news.files[file] ?? "", line, func });
  return places;
}

/** A place as tools take it. @param {Place} place */
export function placeText({ file, line }) { return `${file}:${line}`; }

/** The end of the file's path and the line, for where there is no room. @param {Place} place */
export function shortPlace({ file, line }) { return `${file.split(/[/\\]/).slice(-2).join("/")}:${line}`; }
