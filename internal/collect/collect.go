// Package collect lets packages other than scope record more than scopes. They add a
// Collector through the options they give Start, so programs that do not import them
// contain none of their code.
package collect

import "github.com/scopeview/scopeview/internal/format"

// Collector collects data while a recording runs. Its methods are called one at a time,
// in this order: Start, then Beat and Snapshot any number of times, then Stop. They may
// take some milliseconds, and must not panic.
type Collector interface {
	// Start is called when the recording has begun, before anything is recorded.
	Start(Recording)
	// Beat is called at each heartbeat.
	Beat()
	// Snapshot is called before a snapshot of the ring is written.
	Snapshot()
	// Stop is called when the recording is over, while blocks can still be written.
	Stop()
}

// Recording is a recording that a collector belongs to.
type Recording interface {
	// Block writes a block, and reports whether there was room for it. It may be called
	// from any goroutine until Stop has returned.
	Block(format.BlockType, []byte) bool
	// Fact records a fact about this recording. The last value of a key counts.
	Fact(key, value string)
	// Work runs f, and counts its CPU time as the recorder's own. The methods of a
	// collector need not call it: their time is counted already.
	Work(f func())
	// Ring returns the number of bytes that the ring keeps, or 0 if the recording keeps
	// everything.
	Ring() int64
}
