// The source positions of names.

/**
 * A source position: the first use of a name in the recording.
 * @typedef {{file: string, line: number, func: string}} Place
 *
 * Places as transmitted: the files, and for each place the name id, the index of the file,
 * the line and the function.
 * @typedef {{files: string[], of: [name: number, file: number, line: number, func: string][]}} Placed
 */

/**
 * Returns the places by name id, with those of an update added.
 * @param {Map<number, Place>} old @param {Placed|undefined} news
 */
export function addPlaces(old, news) {
  if (!news) return old;
  const places = new Map(old);
  for (const [name, file, line, func] of news.of) places.set(name, { file: news.files[file] ?? "", line, func });
  return places;
}

/** Returns a place in the format of compilers and editors. @param {Place} place */
export function placeText({ file, line }) { return `${file}:${line}`; }

/** Returns the last two elements of the file's path and the line. @param {Place} place */
export function shortPlace({ file, line }) { return `${file.split(/[/\\]/).slice(-2).join("/")}:${line}`; }
