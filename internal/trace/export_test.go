package trace

import "github.com/scopeview/scopeview/internal/format"

// Entries is how much a Follower keeps in its tables, and how much of it is carried.
func (f *Follower) Entries() (all, carried int) {
	carried = len(f.t.carried)
	return carried + len(f.t.chunks) + len(f.t.tails) + len(f.t.beats) + len(f.t.lapped.chunks) +
		len(f.unborn) + len(f.live) + len(f.open) + len(f.ring.gone) + len(f.ring.told) + len(f.ring.closing) +
		len(f.t.sched.parts) + len(f.t.sched.switches) + len(f.t.sched.locks), carried
}

// Found is how many chunks a Follower of a ring has found.
func (f *Follower) Found() int64 { return f.ring.found }

// Takes reports whether blocks of a type mean something to the reader.
func Takes(t format.BlockType) bool { return int(t) < len(takers) && takers[t] != nil }

// Grows makes t a trace that a program was writing when it was opened.
func Grows(t *Trace) { t.grows = true }

// ReadBy has the events of a trace read by so many goroutines; less than 0: by the caller's.
func ReadBy(t *Trace, workers int) { t.workers = workers }

type CorruptError = corruptError

var Rules = rules
