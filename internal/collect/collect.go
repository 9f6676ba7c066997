// Package collect lets packages other than scope record more than scopes. They add a
// Collector through the options they give Start, so programs that do not import them
// contain none of their code.
package collect

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

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

// Part is an activity of a collector that costs the program CPU time, and that a recording with
// a budget can switch off separately.
type Part struct {
	// Name is the part's name in the trace.
	Name string
	// Most is the fraction of the budget that the part may take.
	Most float64
	// Spent returns the program's cost of the part since the recording began, in ns, beyond the
	// collector's methods and Work, and whether the part is on. A part that is unavailable is
	// off.
	Spent func() (ns int64, on bool)
	// Switch switches the part on or off. The trace records why it is off, and since when.
	Switch func(on bool, why string)
}

// Parts returns the parts of the running collector; the first is switched off first. Neither
// Parts nor a function of a part is called while a method of the collector runs. It is nil if
// there are no parts.
var Parts atomic.Pointer[func() []Part]

// Resource is a facility that exists once in a Go process.
type Resource uint8

const (
	ExecutionTrace Resource = iota // written by trace.Start
	FlightRecorder                 // the flight recorder, which keeps the end of the trace in memory
	CPUProfile                     // of pprof.StartCPUProfile
	Resources                      // the number of resources
)

// GiveBack must be called before a resource is taken; by is the object passed to Go for it, a
// writer or a *trace.FlightRecorder. A collector that has the resource gives it back, unless by
// is its own, and does not take it again until release is called. It is nil if there is no such
// collector.
var GiveBack atomic.Pointer[func(r Resource, by any) (release func())]

// Unwinding is "" if Go's execution tracer checks the frame pointers that it follows, as it does in
// programs built by scopeview, or else the reason why it does not. It is nil if the program was
// built without scopeview. A package-level variable of scope/hooks sets it, before a recording
// begins.
var Unwinding atomic.Pointer[string]

// SetUnwinding sets Unwinding. It returns a value, so that a variable's initializer can call it.
func SetUnwinding(why string) bool {
	Unwinding.Store(&why)
	return true
}
