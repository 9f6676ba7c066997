package states

import (
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
)

// reasons are the states of waits by Go's words for them (runtime/traceruntime.go of Go
// 1.26). For sync, forever and none see stackState; what is not here is Other.
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

// kindOf returns whose goroutine has such a stack.
func kindOf(frames []gotrace.Frame) kind {
	if len(frames) == 0 {
		return program
	}
	switch last := frames[len(frames)-1].Func; {
	case gotrace.Functions.Collector.Has(last):
		return worker
	case last == "runtime.main":
		return program
	default:
		return whose(last)
	}
}

// whose returns whose a function is: what runs in goroutines of the runtime, and of the
// recorder, is the system's.
func whose(name string) kind {
	if gotrace.Functions.Runtime.Has(name) || gotrace.Functions.Background.Has(name) {
		return system
	}
	return program
}

// innerKind returns whose the innermost function is that is not the runtime's.
func innerKind(frames []gotrace.Frame) kind {
	for _, f := range frames {
		if !strings.HasPrefix(f.Func, "runtime.") {
			return whose(f.Func)
		}
	}
	return program
}

// stackState tells what a goroutine waits for by where it waits, for what Go has no
// word, or one for several things: "sync" is all that sleeps on the runtime's
// semaphores, "forever" is a nil channel or a select without cases, and of those that
// waited before the recording began there is none.
func stackState(frames []gotrace.Frame) State {
	if len(frames) == 0 {
		return Unknown
	}
	for _, f := range frames {
		pkg, name, _ := strings.Cut(f.Func, ".")
		switch pkg {
		case "runtime":
			switch {
			case strings.HasPrefix(name, "chansend"), strings.HasPrefix(name, "chanrecv"):
				return Channel
			case name == "selectgo", name == "block":
				return Select
			case name == "coroswitch", strings.HasPrefix(name, "coroswitch_"):
				return Channel
			}
		case "sync", "internal/sync":
			switch {
			case strings.HasPrefix(name, "(*WaitGroup)."):
				return Join
			case strings.HasPrefix(name, "(*Cond)."):
				return Cond
			case strings.HasPrefix(name, "(*Mutex)."), strings.HasPrefix(name, "(*RWMutex)."):
				return Lock
			}
		case "internal/poll":
			switch {
			case strings.HasPrefix(name, "(*fdMutex)."):
				return Lock
			case name == "runtime_pollWait":
				return Network
			}
		case "time":
			if name == "Sleep" {
				return Sleep
			}
			return Other
		default:
			return Other // the runtime's own, called from there
		}
	}
	return Other
}
