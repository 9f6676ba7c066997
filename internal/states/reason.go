package states

import (
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
)

// reasons are the states of waits by Go's words for them (runtime/traceruntime.go of Go
// 1.26). Of sync and forever the stack tells more; what is not here is Other.
var reasons = map[string]State{
	"network":                      Network,
	"select":                       Select,
	"sync.(*Cond).Wait":            Cond,
	"chan send":                    Channel,
	"chan receive":                 Channel,
	"coroutine":                    Channel, // gotrace's word: Go has none
	"sleep":                        Sleep,
	"GC mark assist wait for work": GC,
	"GC background sweeper wait":   GC,
	"wait until GC ends":           GC,
	"GC weak to strong wait":       GC,
	"preempted":                    GC, // its stack is scanned
}

// Who a goroutine is, by what it began with.
type kind uint8

const (
	program kind = iota
	worker       // of the garbage collector: its running is GC
	system       // another one of the runtime
)

// kindOf tells whose goroutine has such a stack.
func kindOf(frames []gotrace.Frame) kind {
	if len(frames) == 0 {
		return program
	}
	last := frames[len(frames)-1].Func
	switch {
	case last == "runtime.gcBgMarkWorker" || last == "runtime.bgsweep" || last == "runtime.bgscavenge":
		return worker
	case last == "runtime.main" || !strings.HasPrefix(last, "runtime.") && !strings.HasPrefix(last, "runtime/trace.") && !strings.HasPrefix(last, "runtime/pprof."):
		return program
	}
	return system
}

// syncState tells what a wait with Go's word "sync" is for: the same word stands for
// all that sleeps on the runtime's semaphores.
func syncState(frames []gotrace.Frame) State {
	for _, f := range frames {
		name := f.Func
		switch {
		case strings.HasPrefix(name, "sync.(*WaitGroup)."):
			return Join
		case strings.HasPrefix(name, "sync.(*Cond)."):
			return Cond
		case strings.HasPrefix(name, "sync.(*Mutex)."), strings.HasPrefix(name, "internal/sync.(*Mutex)."),
			strings.HasPrefix(name, "sync.(*RWMutex)."), strings.HasPrefix(name, "internal/poll.(*fdMutex)."):
			return Lock
		case strings.HasPrefix(name, "runtime."), strings.HasPrefix(name, "sync.runtime_"), strings.HasPrefix(name, "internal/sync."), strings.HasPrefix(name, "internal/poll.runtime_"):
		default:
			return Other // the runtime's own, called from there
		}
	}
	return Other
}

// foreverState tells what a wait with Go's word "forever" is: on a nil channel, or in a
// select without cases.
func foreverState(frames []gotrace.Frame) State {
	for _, f := range frames {
		if strings.HasPrefix(f.Func, "runtime.chan") {
			return Channel
		}
	}
	return Select
}
