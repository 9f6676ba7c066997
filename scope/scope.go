//go:build !scope_off

package scope

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Number is what Counter takes.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

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
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginTask(name, args).End
}

// Taskf is Task with a name made from a format and arguments, as fmt.Sprintf
// makes it. The format and the arguments are recorded; the reader formats. All
// scopes of one format share its name in statistics.
func Taskf(format string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginTaskf(format, args).End
}

// Process is Task for large stages: it also records the CPU time that the whole
// process used meanwhile, in user mode and in the kernel. Two system calls.
func Process(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginProcess(name, args).End
}

// Pending records an instant when the returned function is called, with the
// arguments given now. One that was never called shows as open.
func Pending(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginPending(name, args).End
}

// Span is a scope that Begin began. The zero Span is one that was not recorded.
type Span struct{ h record.Handle }

// Begin begins a scope that is not ended by a defer, or whose arguments are not
// all known yet.
func Begin(name string, args ...any) Span {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return Span{}
	}
	return Span{record.BeginTask(name, args)}
}

// End ends the scope. Its arguments are added to those of Begin.
func (s Span) End(args ...any) {
	switch {
	case len(args) == 0:
		s.h.End()
	case s.h.Loc != 0:
		record.EndArgs(s.h, args)
	}
}

// Event records an instant: something that happened now.
func Event(name string, args ...any) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Event(name, args)
	}
}

// Counter records a value: a queue's length, bytes in flight, a rate.
func Counter[T Number](name string, v T) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		counter(name, v)
	}
}

func counter[T Number](name string, v T) {
	bits, t := uint64(int64(v)), format.SlotInt
	switch half := T(1) / 2; {
	case half != 0:
		bits, t = math.Float64bits(float64(v)), format.SlotFloat
	case T(0)-1 > 0:
		bits, t = uint64(v), format.SlotUint
	}
	record.Counter(name, bits, t)
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
func Lock(l sync.Locker, name string) func() { return record.Lock(l, name, lockOf).Unlock }

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
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Stack(name, weight)
	}
}

// Track names the row of the calling goroutine in the timeline, from now on.
// Rows with equal names form a group.
func Track(name string) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Track(name)
	}
}

// Go starts f on a goroutine whose row has the name, with a link from the
// goroutine that created it.
func Go(name string, f func()) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		go f()
		return
	}
	record.Go(name, f)
}

// Arg is a named argument; see KV.
type Arg = record.Arg

// KV names an argument: scope.Task("get", scope.KV("bytes", n)).
func KV(key string, value any) Arg { return record.KV(key, value) }

// Enabled reports whether a recording is running, for programs that would compute
// an argument only then.
func Enabled() bool { return atomic.LoadUint32(&sys.Live.On) != record.Off }
