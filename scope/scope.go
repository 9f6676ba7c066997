//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// sys.Live.On says whether a recording is running, and by which path.
const (
	offPath  = 0
	fastPath = 1 // assembly; see internal/sys
	goPath   = 2
)

// current is the recording that runs or ran last.
var current atomic.Pointer[recorder]

// Number is what Counter takes.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// word 2 of a record without its goroutine and name
const (
	headTask    = uint64(format.KindTask) << 40
	headTaskf   = uint64(format.KindTaskf) << 40
	headProcess = uint64(format.KindProcess) << 40
	headEvent   = uint64(format.KindEvent) << 40
	headPending = uint64(format.KindPending) << 40
	headCounter = uint64(format.KindCounter) << 40
	headWait    = uint64(format.KindWait) << 40
	headHold    = uint64(format.KindHold) << 40
	headTrack   = uint64(format.KindTrack) << 40
	headGo      = uint64(format.KindGo) << 40
	headEnd     = uint64(format.KindEnd) << 40
)

func nop() {}

// Task begins a scope and returns the function that ends it:
//
//	defer scope.Task("parse")()
//
// A scope is what runtime/trace calls a region: a stretch of one goroutine's
// work, with its wall time and, where it can be known, its CPU time. Scopes
// nest. The function may be called on another goroutine than Task was, and
// scopes may end in any order; calling it twice does nothing.
//
// Numbers, strings, bools, durations and types of these kinds may be given as
// arguments, and named with KV. Of anything else only the type's name is
// recorded: no method of a value is ever called.
//
// The cost is that of reading the processor's clock twice. Nothing is allocated
// unless the returned function outlives the caller's frame (returned, stored,
// deferred in a loop).
func Task(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		return nop
	}
	return beginTask(name, args).End
}

// Taskf is Task with a name made from a format and arguments, as fmt.Sprintf
// makes it. The format and the arguments are recorded; the reader formats. All
// scopes of one format share its name in statistics.
func Taskf(format string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		return nop
	}
	return beginTaskf(format, args).End
}

// Process is Task for large stages: it also records the CPU time that the whole
// process used meanwhile, in user mode and in the kernel. Two system calls.
func Process(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		return nop
	}
	return beginProcess(name, args).end
}

// Pending records an instant when the returned function is called, with the
// arguments given now. One that was never called shows as open.
func Pending(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		return nop
	}
	return beginPending(name, args).End
}

// Span is a scope that Begin began. The zero Span is one that was not recorded.
type Span struct{ h handle }

// Begin begins a scope that is not ended by a defer, or whose arguments are not
// all known yet.
func Begin(name string, args ...any) Span {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		return Span{}
	}
	return Span{beginTask(name, args)}
}

// End ends the scope. Its arguments are added to those of Begin.
func (s Span) End(args ...any) {
	switch {
	case len(args) == 0:
		s.h.End()
	case s.h.Loc != 0:
		endArgs(s.h, args)
	}
}

// Event records an instant: something that happened now.
func Event(name string, args ...any) {
	if atomic.LoadUint32(&sys.Live.On) != offPath {
		event(name, args)
	}
}

// Counter records a value: a queue's length, bytes in flight, a rate.
func Counter[T Number](name string, v T) {
	if atomic.LoadUint32(&sys.Live.On) != offPath {
		counter(name, v)
	}
}

// Lock locks l and returns the function that unlocks it:
//
//	defer scope.Lock(&mu, "store.mu")()
//
// It records how long the lock was held, and, only when it could not be had at
// once, how long it was waited for. Where l has no TryLock to ask (the locker of
// RWMutex.RLocker), every Lock is recorded as a wait, short as it may be. Where
// WithLockThreshold is given, brief holds that nobody waits for are left out.
// Filtered out or not recording, it just locks and unlocks.
func Lock(l sync.Locker, name string) func() { return lock(l, name).unlock }

// Stack counts the caller's stack: how often it is called from where, and with
// what sum of weights (bytes, items; 1 where only the calls matter). It is for
// what happens too often to be recorded each time:
//
//	scope.Stack("cache.miss", int64(len(key)))
//
// Up to 64 callers are told; functions that were inlined into theirs come on top. Nothing
// is allocated and nobody is waited for: each call leaves its stack in memory,
// which is never written to disk, and a goroutine of ours counts equal ones and
// tells the trace once per heartbeat what was new. Where it can't keep up, calls
// are counted as lost (Lost.Stacks). A killed program's trace lacks what came
// after its last heartbeat.
func Stack(name string, weight int64) {
	if atomic.LoadUint32(&sys.Live.On) != offPath {
		stack(name, weight)
	}
}

// Track names the row of the calling goroutine in the timeline, from now on.
// Rows with equal names form a group.
func Track(name string) {
	if atomic.LoadUint32(&sys.Live.On) != offPath {
		track(name)
	}
}

// Go starts f on a goroutine whose row has the name, with a link from the
// goroutine that created it.
func Go(name string, f func()) {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		go f()
		return
	}
	startGo(name, f)
}

// Arg is a named argument; see KV.
type Arg struct {
	key   string
	value any
}

// KV names an argument: scope.Task("get", scope.KV("bytes", n)).
func KV(key string, value any) Arg { return Arg{key, value} }

// Enabled tells whether a recording is running, for programs that would compute
// an argument only then.
func Enabled() bool { return atomic.LoadUint32(&sys.Live.On) != offPath }
