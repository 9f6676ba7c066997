// The formats of times, sizes, shares and numbers; internal/show has those of the Go side. All times are in nanoseconds.

/** @type {[string, number][]} */
const timeUnits = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

/**
 * Formats a duration with three significant digits and its unit: "1.67 ms", "5.31 s", "2 min 05 s", "3 h 04 min".
 * @param {number} ns
 * @returns {string}
 */
export function span(ns) {
  if (!Number.isFinite(ns)) return "unknown";
  const sign = ns < 0 ? "−" : "";
  ns = Math.abs(ns);
  if (ns >= 3600e9) {
    const minutes = Math.round(ns / 60e9);
    return `${sign}${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  }
  if (ns >= 59.95e9) {
    const seconds = Math.round(ns / 1e9);
    return `${sign}${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
  }
  if (ns === 0) return "0 s";
  for (const [unit, size] of timeUnits) {
    // 999.6 µs is 1.00 ms, not 1000 µs.
    if (ns >= size * 0.9995 || unit === "ns") {
      return `${sign}${unit === "ns" ? digits3(ns) : fixed3(ns / size)} ${unit}`;
    }
  }
  return "";
}

/** @param {number} v */
function fixed3(v) { return v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2); }

/** Formats a number with three significant digits, integers without decimals. @param {number} v @returns {string} */
export function digits3(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 99.95) return String(Math.round(v));
  if (a >= 9.995) return Number.isInteger(v) ? String(v) : v.toFixed(1);
  return Number.isInteger(v) ? String(v) : v.toFixed(2);
}

/** Formats a count with thousands separators. @param {number} n @returns {string} */
export function thousands(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a size in bytes with binary units. @param {number} n @returns {string} */
export function bytes(n) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])) {
    if (Math.abs(n) >= size) return `${digits3(n / size)} ${unit}`;
  }
  return `${n} B`;
}

/** Formats a share as the Go side's show.Percent does: <0.1%, 5.7%, 93%, 99.9%; 100% and 0% only if exact. */
export function percentText(share) {
  if (!Number.isFinite(share)) return "-";
  const p = share * 100;
  if (p < 0) return p > -0.1 ? ">-0.1%" : `-${percentText(-share)}`;
  if (p > 0 && p < 0.1) return "<0.1%";
  if (p < 9.95 && !Number.isInteger(p)) return `${p.toFixed(1)}%`;
  if (p > 99 && p < 100) return `${Math.min(p, 99.9).toFixed(1)}%`;
  return `${p.toFixed(0)}%`;
}

/**
 * Formats a time from the trace's start, with as many decimals as step needs.
 * @param {number} ns
 * @param {number} step required resolution, in ns
 * @returns {string}
 */
export function moment(ns, step) {
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9) - 1e-9)));
  if (Math.abs(ns) < 60e9) return `${(ns / 1e9).toFixed(decimals)} s`;
  const sign = ns < 0 ? "−" : "";
  ns = Math.abs(ns);
  let seconds = (ns % 60e9 / 1e9).toFixed(decimals);
  let minutes = Math.floor(ns / 60e9);
  if (Number(seconds) >= 60) {
    seconds = (0).toFixed(decimals);
    minutes++;
  }
  const hours = Math.floor(minutes / 60);
  const mm = String(minutes % 60).padStart(2, "0");
  const ss = seconds.padStart(decimals > 0 ? decimals + 3 : 2, "0");
  return hours > 0 ? `${sign}${hours}:${mm}:${ss}` : `${sign}${minutes}:${ss}`;
}

/**
 * Formats a wall-clock time, in the reader's time zone.
 * @param {number} startMs the trace's start in ms since 1970
 * @param {number} startRest remainder of the start below a ms, in ns
 * @param {number} ns from the trace's start
 * @param {number} step required resolution, in ns
 * @returns {string}
 */
export function wallClock(startMs, startRest, ns, step) {
  const total = startRest + ns;
  const wholeMs = Math.floor(total / 1e6);
  const date = new Date(startMs + wholeMs);
  const hms = [date.getHours(), date.getMinutes(), date.getSeconds()].map((v) => String(v).padStart(2, "0")).join(":");
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9) - 1e-9)));
  if (decimals === 0) return hms;
  const rest = date.getMilliseconds() * 1e6 + (total - wholeMs * 1e6);
  return `${hms}.${String(Math.floor(rest)).padStart(9, "0").slice(0, decimals)}`;
}

/**
 * Returns the distance between ticks, at least atLeast: 1, 2 or 5 times a power of ten, or minutes and hours.
 * @param {number} atLeast ns
 * @returns {number} ns
 */
export function niceStep(atLeast) {
  if (atLeast > 20e9) {
    for (const s of [30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400]) {
      if (s * 1e9 >= atLeast) return s * 1e9;
    }
    return Math.ceil(atLeast / 86400e9) * 86400e9;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1)));
  for (const m of [1, 2, 5, 10]) {
    if (m * power >= atLeast - power * 1e-9) return Math.max(1, m * power);
  }
  return 10 * power;
}
