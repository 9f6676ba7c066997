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

// waitsIn are the states of those that wait in a function of Go, or in any whose name begins
// so, where it ends in a dot.
var waitsIn = []struct {
	function string
	state    State
}{
	{"runtime.chansend", Channel}, {"runtime.chansend1", Channel},
	{"runtime.chanrecv", Channel}, {"runtime.chanrecv1", Channel}, {"runtime.chanrecv2", Channel},
	{"runtime.coroswitch", Channel}, {"runtime.coroswitch_m", Channel},
	{"runtime.selectgo", Select}, {"runtime.block", Select},
	{"sync.(*WaitGroup).", Join}, {"sync.(*Cond).", Cond},
	{"sync.(*Mutex).", Lock}, {"internal/sync.(*Mutex).", Lock}, {"sync.(*RWMutex).", Lock},
	{"internal/poll.(*fdMutex).", Lock}, {"internal/poll.runtime_pollWait", Network},
	{"time.Sleep", Sleep},
}

// stackState tells what a goroutine waits for by where it waits, for what Go has no word, or
// one for several things. "sync" is all that sleeps on the runtime's semaphores, "forever" is
// a nil channel or a select without cases. Of those that waited before the recording began
// there is none.
func stackState(frames []gotrace.Frame) State {
	if len(frames) == 0 {
		return Unknown
	}
	for _, f := range frames {
		for _, w := range waitsIn {
			if f.Func == w.function || strings.HasSuffix(w.function, ".") && strings.HasPrefix(f.Func, w.function) {
				return w.state
			}
		}
		switch pkg, _, _ := strings.Cut(f.Func, "."); pkg {
		case "runtime", "sync", "internal/sync", "internal/poll":
		default:
			return Other // the runtime's own, called from there
		}
	}
	return Other
}
