package collect

import "sync/atomic"

// Resource is what Go has one of in a process.
type Resource uint8

const (
	ExecutionTrace Resource = iota // that trace.Start writes
	FlightRecorder                 // that keeps the last of it in memory
	CPUProfile                     // of pprof.StartCPUProfile
	Resources                      // how many there are
)

// GiveBack is called before somebody takes a resource: by is what Go is given for it, a writer or
// a *trace.FlightRecorder. A collector that has it gives it back, unless it is the one that takes
// it, and does not take it again until release was called. nil: there is no such collector.
var GiveBack atomic.Pointer[func(r Resource, by any) (release func())]
