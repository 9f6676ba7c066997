package states

import (
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/symbols"
)

// reasons maps Go's wait reasons (runtime/traceruntime.go of Go 1.26) to states. For sync,
// forever and none see stackState; others are Other.
var reasons = map[string]State{
	"network":                      Network,
	"select":                       Select,
	"sync.(*Cond).Wait":            Cond,
	"chan send":                    Channel,
	"chan receive":                 Channel,
	"coroutine":                    Channel, // internal/gotrace's word: Go has none
	"sleep":                        Sleep,
	"GC mark assist wait for work": GC,
	"GC background sweeper wait":   GC,
	"wait until GC ends":           GC,
	"GC weak to strong wait":       GC,
	"preempted":                    GC, // its stack is being scanned
}

// kind is the kind of a goroutine, by its entry function.
type kind uint8

const (
	program kind = iota
	worker       // of the garbage collector: its running counts as GC
	system       // another goroutine of the runtime
)

// kindOf returns the kind of a goroutine with such a stack.
func kindOf(frames []*symbols.Frame) kind {
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

// whose returns the kind to which a function belongs: functions of the runtime's and the
// recorder's goroutines are system.
func whose(name string) kind {
	if gotrace.Functions.Runtime.Has(name) || gotrace.Functions.Background.Has(name) {
		return system
	}
	return program
}

// innerKind returns the kind of the innermost function outside of the runtime.
func innerKind(frames []*symbols.Frame) kind {
	for _, f := range frames {
		if !strings.HasPrefix(f.Func, "runtime.") {
			return whose(f.Func)
		}
	}
	return program
}

// waitsIn are the states of goroutines that wait in a function or, if the name ends in a dot,
// in any function with that prefix.
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

// stackState returns the state of a waiting goroutine by its stack, for reasons that Go has
// no word for, or one word for several. "sync" covers everything that sleeps on the runtime's
// semaphores, "forever" is a nil channel or a select without cases. Waits from before the
// recording have no reason.
func stackState(frames []*symbols.Frame) State {
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
			return Other // the runtime's own wait, called from there
		}
	}
	return Other
}
