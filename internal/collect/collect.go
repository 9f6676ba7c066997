// Package collect is how packages beside scope have a recording keep more than
// scopes: what they give Start adds a Collector, and programs that do not
// import them contain nothing of theirs.
package collect

import "github.com/scopeview/scopeview/internal/format"

// Collector is what collects while a recording runs. Its methods are called one at a
// time, in this order: Start, then Beat and Snapshot any number of times, then Stop.
// They may take some milliseconds, and must not panic.
type Collector interface {
	// Start is called when the recording has begun, and nothing was recorded yet.
	Start(Recording)
	// Beat is called at each heartbeat.
	Beat()
	// Snapshot is called before a snapshot of the ring is written.
	Snapshot()
	// Stop is called when the recording is over, while blocks can still be written.
	Stop()
}

// Recording is the recording that a collector belongs to.
type Recording interface {
	// Block writes a block, and reports whether there was room for it. It may be called
	// from any goroutine until Stop has returned.
	Block(format.BlockType, []byte) bool
	// Fact tells the trace something about this recording; of several with one key the
	// last counts.
	Fact(key, value string)
	// Work runs f, and counts its CPU time as the recorder's own. What a collector does
	// in its methods is counted already.
	Work(f func())
	// Ring is how many bytes are kept where it is only the last part of the recording;
	// 0: all is kept.
	Ring() int64
}
