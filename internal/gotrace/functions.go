package gotrace

import (
	"slices"
	"strings"
)

// functions is a list of prefixes of function names.
type functions []string

// Has reports whether the name of a function has one of the prefixes.
func (fs functions) Has(name string) bool {
	return slices.ContainsFunc(fs, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Functions lists the functions that a reader of stacks must recognize by name: the runtime's,
// and the recorder's, as they are now and as they were up to v1.2. internal/record cannot
// import this table; a test there compares its own names with it.
var Functions = struct {
	// Runtime has the functions of goroutines of Go's runtime, and those of Profilers.
	Runtime, Profilers functions
	// Collector has the functions that goroutines of the garbage collector begin with.
	Collector functions
	// Recorder has the packages that run in a program to record it.
	Recorder functions
	// Background has the functions of the recorder's goroutines, and those in which a program
	// waits for them.
	Background functions
	// Begin has the function in which scope.Go calls its argument.
	Begin functions
	// API has the packages that a program calls, and those that they call first.
	API functions
	// Lock has the functions of locks that record their waits.
	Lock functions
	// Poll has functions that are called repeatedly while nothing has arrived. The doctor
	// calls such loops spinning, as it does those of sync/atomic's loads and CompareAndSwaps.
	// Reading the clock is not in the list, since programs that measure their own work do it
	// too.
	Poll functions
	// Plumbing has functions that are never the place in the code that a reader looks for.
	Plumbing functions
	// Waiting has functions that show how a goroutine waits, and not where: Plumbing and the
	// packages that wait in it.
	Waiting functions
	// Blocking has the packages of Go in which a call can block.
	Blocking functions
}{
	Runtime:    join(profilers, functions{"runtime."}),
	Profilers:  profilers,
	Collector:  functions{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"},
	Recorder:   ours("scope.", "scope/", "flusher.", "sweeper.", "mmpool.", "internal/"),
	Background: ours("flusher.", "sweeper.", "internal/record.(*recorder).", "internal/record.(*fastWriter).", "internal/record.(*goWriter).", "internal/record.Stop", "scope.(*recorder).", "scope.Stop", "scope/gotrace.", "internal/perf."),
	Begin:      ours("internal/record.Go", "scope.Go", "scope.startGo"),
	API:        api,
	Lock: join(
		ours("internal/record.(*LockState).", "internal/record.Lock", "internal/record.Held.", "internal/record.(*recorder).briefLock"),
		ours("scope.(*Mutex).", "scope.(*RWMutex).", "scope.(*reader).", "scope.(*rlocker).", "scope.Lock"),
		ours("scope.(*lockState).", "scope.lock", "scope.held."), // of v1.2
	),
	Poll: functions{
		"runtime.Gosched", "runtime.procyield", "runtime.osyield", "runtime.selectnbrecv", "runtime.selectnbsend",
		"sync.(*Mutex).TryLock", "sync.(*RWMutex).TryLock", "sync.(*RWMutex).TryRLock", "internal/sync.(*Mutex).TryLock",
	},
	Plumbing: plumbing,
	Waiting:  join(plumbing, functions{"internal/runtime/", "sync/atomic.", "time.", "golang.org/x/sync/"}),
	Blocking: functions{"runtime.", "runtime/", "sync.", "sync/", "internal/", "golang.org/x/sync/"},
}

var (
	profilers = functions{"runtime/trace.", "runtime/pprof."}
	api       = ours("scope.", "internal/record.")
	plumbing  = join(api, functions{"runtime.", "sync.", "internal/sync."})
)

// WithoutBegin returns how many of the n functions of a goroutine's stack, the leaf first, are
// the program's own. The others are those that goroutines begin with, in the runtime and in
// scope.Go. They are left out because samples of CPU time have the runtime's and waits do not,
// though both belong to the same calls, and because a goroutine of scope.Go should look like
// one of a go statement. At least one function stays.
func WithoutBegin(n int, name func(int) string) int {
	for _, begins := range []func(string) bool{
		func(f string) bool { return f == "runtime.goexit" },
		func(f string) bool { return f == "runtime.main" },
		Functions.Begin.Has,
	} {
		if n > 1 && begins(name(n-1)) {
			n--
		}
	}
	return n
}

func ours(names ...string) functions {
	for i := range names {
		names[i] = "github.com/scopeview/scopeview/" + names[i]
	}
	return names
}

func join(lists ...functions) functions { return slices.Concat(lists...) }

// parking has the functions by which the runtime parks a goroutine. They are only on the
// stacks of goroutines that were parked when tracing began.
var parking = map[string]bool{
	"runtime.gopark": true, "runtime.goparkunlock": true, "runtime.semacquire1": true,
	"runtime.chanrecv": true, "runtime.chansend": true, "runtime.netpollblock": true,
}

// reasons maps a function of the runtime to the reason why a goroutine waits in it, in the
// words of the execution trace for goroutines that begin to wait while it is recorded.
var reasons = map[string]string{
	"runtime.chanrecv1": "chan receive", "runtime.chanrecv2": "chan receive", "runtime.chansend1": "chan send",
	"runtime.selectgo": "select", "runtime.block": "forever", "time.Sleep": "sleep",
	"internal/poll.runtime_pollWait": "network", "runtime.coroswitch": "coroutine",
	"internal/sync.runtime_SemacquireMutex": "sync", "sync.runtime_SemacquireMutex": "sync",
	"sync.runtime_SemacquireRWMutex": "sync", "sync.runtime_SemacquireRWMutexR": "sync",
	"sync.runtime_SemacquireWaitGroup": "sync", "sync.runtime_Semacquire": "sync",
	"sync.runtime_notifyListWait": "sync.(*Cond).Wait",
}
