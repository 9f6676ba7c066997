//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Held is a lock that is held, and the record of the hold.
type Held struct {
	l sync.Locker
	h Handle
}

// LockOf returns what a lock is, for the trace, and the lock to use. For a lock of package
// scope, which would write records itself, that is the one inside it, and state is its
// state.
type LockOf func(l sync.Locker) (what uint64, state *LockState, inner sync.Locker)

// WhatOf returns what a lock is that is not one of package scope.
func WhatOf(l sync.Locker) uint64 {
	switch l.(type) {
	case *sync.Mutex:
		return MutexWhat
	case *sync.RWMutex:
		return RWWhat
	}
	return 0
}

// Lock locks l and begins the record of the hold. See scope.Lock.
//
//go:noinline
func Lock(l sync.Locker, name string, lockOf LockOf) Held {
	if atomic.LoadUint32(&sys.Live.On) == Off {
		l.Lock()
		return Held{l, Handle{}}
	}
	r := current.Load()
	if f := r.opts.brief.lock; f != nil {
		return f(r, l, name, lockOf)
	}
	n := r.names.given(name)
	if n&nameOut != 0 {
		l.Lock()
		return Held{l, Handle{}}
	}
	a := any(l)
	addr := uint64(sys.Object(&a))
	what, state, inner := lockOf(l)
	what |= format.LockEvery
	if t, ok := inner.(TryLocker); !ok || !t.TryLock() {
		holder := uint64(0)
		if state != nil {
			holder = atomic.LoadUint64(&state.holder)
		}
		w := r.beginLock(headWait|n<<48, addr, holder, what, 0)
		inner.Lock()
		w.End()
	}
	if state != nil && what&uint64(format.LockShared) == 0 {
		setWord(&state.holder, self())
	}
	return Held{l, r.beginLock(headHold|n<<48, addr, 0, what, 0)}
}

// beginLock begins the record of a wait or a hold, at a tick (0: now).
func (r *recorder) beginLock(head, addr, holder, what uint64, at int64) Handle {
	var buf [smallWords]uint64
	x := encoder{w: buf[:], r: r, at: at}
	x.slot(format.SlotAddr, addr)
	x.slot(format.SlotGoid, holder&format.MaxGoid)
	x.slot(format.SlotUint, what)
	return r.begin(head, &x)
}

// Unlock ends the record and unlocks. Ending takes no longer than reading the clock, and
// after Unlock, which may wake a goroutine that takes the CPU, the CPU time would be
// unknown.
//
// In a hold that briefLock began, Loc is -1 minus the name's id.
func (h Held) Unlock() {
	if h.h.Loc >= 0 {
		h.h.End()
	} else if r := current.Load(); r.opts.brief.unlock != nil && atomic.LoadUint32(&sys.Live.On) != Off {
		r.opts.brief.unlock(r, h.l, -1-h.h.Loc, h.h.Start)
	}
	h.l.Unlock()
}
