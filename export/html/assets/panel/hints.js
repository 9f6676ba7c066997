// The columns of the tables of `scopeview top`: sentences by head. TestHints in internal/page writes this file.

/** @type {Record<string, Record<string, string>>} */
export const reportHints = {
  scopes: {
    "name": "By track, the row's",
    "count": "Scopes that ended; all times but open time and open self are theirs",
    "calls": "Calls recorded or not; null: not known of a part of the trace, or by row",
    "total": "The sum of the durations",
    "self": "Of total, in no scope inside, and not waiting for a lock",
    "mean": "The mean duration",
    "min": "The shortest",
    "p50": "Half were not longer; quantiles are exact up to 64 scopes, else within 0.8 %",
    "p90": "90 of 100 were not longer",
    "p99": "99 of 100 were not longer",
    "max": "The longest",
    "cpu": "CPU time, of the scopes of which it is known",
    "known": "The part of total of which the CPU time is known",
    "cpu/wall": "CPU time over duration, of the scopes of which it is known",
    "cpu max": "Upper bounds of other scopes",
    "open": "Scopes that have not ended",
  },
  locks: {
    "name": "Of a lock without a name: its object as the source has it, or the place where it is locked",
    "waits": "Waits that ended",
    "wait total": "The sum of the waits that ended",
    "wait max": "The longest wait that ended",
    "holds": "Holds that ended",
    "hold total": "The sum of the holds that ended",
    "hold max": "The longest hold that ended",
    "waiting": "Waits that have not ended",
    "held now": "Holds that have not ended",
    "held by": "What the holders were in while they held it",
  },
};
