package gotrace

import (
	"slices"
	"strings"
)

// functions are the beginnings of functions' names.
type functions []string

// Has reports whether a function is one of them.
func (fs functions) Has(name string) bool {
	return slices.ContainsFunc(fs, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Functions are those that a reader of stacks must know by name: the runtime's, and the
// recorder's, of today and as traces of v1.2 and before have them. internal/record cannot
// import this table; the names that it knows itself are compared with it by its test.
var Functions = struct {
	// Runtime has what goroutines of Go's runtime run, and those of Profilers.
	Runtime, Profilers functions
	// Collector has what the garbage collector's goroutines begin with.
	Collector functions
	// Recorder has the packages that run in a program to record it.
	Recorder functions
	// Background has what the recorder's goroutines run, and where a program waits for them.
	Background functions
	// Begin has the function in which scope.Go calls what it is given.
	Begin functions
	// API has the packages that a program calls, and what they call first.
	API functions
	// Lock has what a lock runs that tells of itself.
	Lock functions
	// Poll has what one calls again and again while nothing has come. To look at the clock is
	// none of them: who measures his own work does it too. The doctor calls them spinning,
	// and sync/atomic's loads and CompareAndSwaps.
	Poll functions
	// Plumbing has what is never the place in the code that somebody looks for.
	Plumbing functions
	// Waiting has what says how one waits, and not where: Plumbing and what waits in it.
	Waiting functions
	// Blocking has the packages of Go in which others are blocked.
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

// WithoutBegin returns how many of n functions of a goroutine's stack, the leaf first, are the
// program's own: the others are what goroutines begin with in the runtime, and in scope.Go.
// Samples of CPU time have the runtime's, waits have not, and the two belong to the same
// calls; and what scope.Go began is to look as what the go statement did. One always stays.
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

// parking are the functions by which the runtime puts a goroutine to sleep. They are on
// the stacks of those that slept when tracing began, and on no others.
var parking = map[string]bool{
	"runtime.gopark": true, "runtime.goparkunlock": true, "runtime.semacquire1": true,
	"runtime.chanrecv": true, "runtime.chansend": true, "runtime.netpollblock": true,
}

// reasons are why a goroutine sleeps in a function of the runtime, in the words in which
// Go tells it of those that go to sleep while it traces.
var reasons = map[string]string{
	"runtime.chanrecv1": "chan receive", "runtime.chanrecv2": "chan receive", "runtime.chansend1": "chan send",
	"runtime.selectgo": "select", "runtime.block": "forever", "time.Sleep": "sleep",
	"internal/poll.runtime_pollWait": "network", "runtime.coroswitch": "coroutine",
	"internal/sync.runtime_SemacquireMutex": "sync", "sync.runtime_SemacquireMutex": "sync",
	"sync.runtime_SemacquireRWMutex": "sync", "sync.runtime_SemacquireRWMutexR": "sync",
	"sync.runtime_SemacquireWaitGroup": "sync", "sync.runtime_Semacquire": "sync",
	"sync.runtime_notifyListWait": "sync.(*Cond).Wait",
}
