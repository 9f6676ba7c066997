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

// Number is the type of a Counter's value.
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
// A scope is a stretch of one goroutine's work, with its wall time and, if known, its CPU
// time. Package runtime/trace calls it a region. Scopes nest. The function may be called
// on another goroutine than Task, and scopes may end in any order; a second call does
// nothing.
//
// Arguments may be numbers, strings, bools, durations and types of these kinds, and may
// be named with KV. For any other value only the type's name is recorded: no method of a
// value is ever called.
//
// A scope costs about as much as reading the processor's clock twice. Task does not
// allocate unless the returned function outlives the caller's frame (returned, stored,
// deferred in a loop).
func Task(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginTask(name, args).End
}

// Taskf is Task with a name built from a format and arguments as by fmt.Sprintf. The
// format and the arguments are recorded, and the reader formats them. In statistics all
// scopes of one format have its name.
func Taskf(format string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginTaskf(format, args).End
}

// Process is Task for large stages: it also records the CPU time that the whole process
// used meanwhile, in user mode and in the kernel. It makes two system calls.
func Process(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginProcess(name, args).End
}

// Pending records an instant when the returned function is called, with the arguments
// given now. If it is never called, the instant is shown as open.
func Pending(name string, args ...any) func() {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nop
	}
	return record.BeginPending(name, args).End
}

// Span is a scope begun by Begin. The zero Span is a scope that was not recorded.
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
// It records how long the lock was held and, if it was not free, how long the caller
// waited. If l has no TryLock method (as the result of RWMutex.RLocker), every Lock is
// recorded as a wait, however short. With WithLockThreshold, short holds that no
// goroutine waits for are left out. Without a recording, or if name is filtered out, it
// only locks and unlocks.
func Lock(l sync.Locker, name string) func() { return record.Lock(l, name, lockOf).Unlock }

// Stack counts the caller's stack: for each distinct stack, the calls and the sum of
// their weights (bytes, items; 1 if only the calls matter). Use it for events too
// frequent to record one by one:
//
//	scope.Stack("cache.miss", int64(len(key)))
//
// A stack has up to 64 callers, not counting inlined functions. Stack neither allocates
// nor blocks: it leaves the stack in memory that is never written to disk, and a
// goroutine of the recorder counts equal stacks and writes the changes to the trace once
// per heartbeat. If it can't keep up, calls are counted as lost (Lost.Stacks). The trace
// of a killed program lacks the calls after its last heartbeat.
func Stack(name string, weight int64) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Stack(name, weight)
	}
}

// Track sets the name of the calling goroutine's row in the timeline, from now on. Rows
// with equal names form a group.
func Track(name string) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Track(name)
	}
}

// Go runs f on a new goroutine whose row is called name, and records which goroutine
// created it.
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

// Enabled reports whether a recording is running, for callers that compute an argument
// only then.
func Enabled() bool { return atomic.LoadUint32(&sys.Live.On) != record.Off }
