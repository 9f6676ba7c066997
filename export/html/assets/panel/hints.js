// Sentences about the columns of the tables of `scopeview top`, by head. TestHints in internal/page writes this file.

/** @type {Record<string, Record<string, string>>} */
export const reportHints = {
  "locks": {
    "held by": "What the holders were in while they held it",
    "held now": "Holds that have not ended",
    "hold max": "The longest hold that ended",
    "hold total": "The sum of the holds that ended",
    "holds": "Holds that ended",
    "name": "Of a lock without a name: its object as the source has it, or the place where it is locked",
    "wait max": "The longest wait that ended",
    "wait total": "The sum of the waits that ended",
    "waiting": "Waits that have not ended",
    "waits": "Waits that ended"
  },
  "scopes": {
    "calls": "Calls recorded or not; null: not known of a part of the trace, or by row",
    "count": "Scopes that ended; all times but open time and open self are theirs",
    "cpu": "CPU time, of the scopes of which it is known",
    "cpu max": "Upper bounds of other scopes",
    "cpu/wall": "CPU time over duration, of the scopes of which it is known",
    "known": "The part of total of which the CPU time is known",
    "max": "The longest",
    "mean": "The mean duration",
    "min": "The shortest",
    "name": "By track, the row's",
    "open": "Scopes that have not ended",
    "p50": "Half were not longer; quantiles are exact up to 64 scopes, else within 0.8 %",
    "p90": "90 of 100 were not longer",
    "p99": "99 of 100 were not longer",
    "self": "Of total, in no scope inside, and not waiting for a lock",
    "total": "The sum of the durations"
  }
};
