package trace

import "github.com/scopeview/scopeview/internal/format"

// Entries returns how many entries a Follower has in its tables, and how many of these are carried.
func (f *Follower) Entries() (all, carried int) {
	carried = len(f.t.carried)
	return carried + len(f.t.chunks) + len(f.t.tails) + len(f.t.beats) + len(f.t.overwrittenChunks.chunks) +
		len(f.unborn) + len(f.live) + len(f.open) + len(f.ring.gone) + len(f.ring.unexamined) + len(f.ring.closing) +
		len(f.t.sched.parts) + len(f.t.sched.switches) + len(f.t.sched.locks), carried
}

// Found returns how many chunks a Follower of a ring has found.
func (f *Follower) Found() int64 { return f.ring.foundChunks }

// Decodes reports whether the reader decodes blocks of a type.
func Decodes(t format.BlockType) bool { return int(t) < len(decoders) && decoders[t] != nil }

// Grows makes t a trace that a program was writing when it was opened.
func Grows(t *Trace) { t.grows = true }

// ReadBy sets how many goroutines read the events of a trace; less than 0: the caller's alone.
func ReadBy(t *Trace, workers int) { t.workers = workers }

type CorruptError = corruptError

var Rules = rules
