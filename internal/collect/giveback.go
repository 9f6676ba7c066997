package collect

import "sync/atomic"

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
