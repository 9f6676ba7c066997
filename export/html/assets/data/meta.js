// What is known of a trace beside its items.

/**
 * What is known after more came: names and heartbeats are added to, all else is
 * replaced.
 * @param {Object} old
 * @param {Object} news
 * @returns {Object}
 */
export function mergeMeta(old, news) {
  const meta = { ...old, ...news };
  meta.names = mergeNames(old.names ?? [""], news);
  meta.beats = mergeBeats(old.beats ?? { time: [] }, news.beats);
  for (const list of ["banner", "info", "gaps", "breaks", "notes"]) meta[list] ??= [];
  return meta;
}

function mergeNames(old, { names, namesFrom }) {
  if (!names) return old;
  return namesFrom > 0 ? [...old.slice(0, namesFrom), ...names] : names;
}

/** Beats come all, or those since the last ones. */
function mergeBeats(old, news) {
  if (!news?.time) return old;
  let keep = 0;
  while (keep < old.time.length && old.time[keep] < (news.time[0] ?? Infinity)) keep++;
  const beats = {};
  for (const field of new Set([...Object.keys(old), ...Object.keys(news)])) {
    const before = Array.isArray(old[field]) ? old[field].slice(0, keep) : [];
    while (before.length < keep) before.push(null);
    beats[field] = [...before, ...news[field] ?? []];
  }
  return beats;
}
