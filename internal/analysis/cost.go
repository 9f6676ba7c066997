package analysis

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// cost is the recorder's own part of the CPU time that the process used between the first
// and the last heartbeat. An unknown part is -1. It is a lower bound: see NotMeasured.
type cost struct {
	Process int64 // ns, user and system, the recorder included
	// Measured is CPU time in ns: of the recorder's own goroutines, and of the program's
	// threads while their CPU clocks were read.
	Measured  int64
	Estimated int64 // ns: records × the cost of one as calibrated at start
	// Unmeasured is the wall time, in ns, of the recorder's rounds whose CPU time could not
	// be measured: Measured may be too low by as much.
	Unmeasured int64
}

// RecordingCost computes the cost from a trace's heartbeats, which are sorted by time.
func RecordingCost(beats []trace.Beat) cost {
	c := cost{-1, -1, -1, 0}
	if len(beats) < 2 {
		return c
	}
	first, last := &beats[0], &beats[len(beats)-1]
	grown := func(f format.Field) (int64, bool) {
		a, ok := first.Value(f)
		b, ok2 := last.Value(f)
		return b - a, ok && ok2 && b >= a
	}
	// Counters that start with the recording were 0 if the first heartbeat lacks them.
	counted := func(f format.Field) (int64, bool) {
		a, _ := first.Value(f)
		b, ok := last.Value(f)
		return b - a, ok && b >= a
	}
	if user, ok := grown(format.FieldUser); ok {
		if sys, ok := grown(format.FieldSystem); ok && user+sys > 0 {
			c.Process = user + sys
		}
	}
	if own, ok := counted(format.FieldOwnCPU); ok {
		c.Measured = own
		if ns, ok := counted(format.FieldAnchoring); ok {
			c.Measured += ns
		}
	}
	if n, ok := counted(format.FieldRecorded); ok {
		if ps, ok := last.Value(format.FieldScopeCost); ok && ps > 0 {
			c.Estimated = int64(float64(n) * float64(ps) / 1000)
		}
	}
	if ns, ok := counted(format.FieldOwnUnknown); ok {
		c.Unmeasured = ns
	}
	return c
}

// Share returns ns as a percentage of the process's CPU time; ok is false if either is
// unknown.
func (c cost) Share(ns int64) (percent float64, ok bool) {
	if ns < 0 || c.Process <= 0 {
		return 0, false
	}
	return 100 * float64(ns) / float64(c.Process), true
}

// NotMeasured lists the costs of recording trace t that the estimate does not include. It
// takes a record's lowest cost, that with warm caches.
func NotMeasured(t *trace.Trace) []string {
	list := []string{"arguments", "cold caches and page faults", "waiting for the recorder"}
	if len(t.GoTraces()) > 0 {
		list = append(list, "Go's execution trace and profile")
	}
	if t.HasSwitches() {
		list = append(list, "the system's records of thread switches")
	}
	if len(t.Counters()) > 0 {
		list = append(list, "the samples of counters")
	}
	return list
}
