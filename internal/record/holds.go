//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// briefLock implements Lock with WithLockThreshold. It is called through that option, so that
// programs without it do not contain it. A lock of package scope writes its own records. A
// hold of any other lock has no record until it ends, and then only if it was long, or if a
// goroutine waits.
func (r *recorder) briefLock(l sync.Locker, name string, lockOf LockOf) Held {
	n := r.names.given(name)
	if n&nameOut != 0 || r.opts.locks == LocksOff {
		l.Lock()
		return Held{l, Handle{}}
	}
	what, state, inner := lockOf(l)
	t, can := inner.(TryLocker)
	if state != nil {
		on := atomic.LoadUint64(&sys.Live.Locking)
		switch {
		case !t.TryLock():
			state.Wait(t, name, what)
		case on != 0 && what&uint64(format.LockShared) == 0:
			state.Had(on, name, what, false)
		}
		return Held{l, Handle{}}
	}
	long := false
	if !can || !t.TryLock() {
		a := any(l)
		addr := uint64(sys.Object(&a))
		start := r.clock.Now()
		var w Handle
		if can {
			w = r.beginLock(headWait|n<<48, addr, 0, what, 0)
		}
		waiters := waitersOf(addr)
		waiters.Add(1)
		l.Lock()
		waiters.Add(-1)
		long = r.clock.Now()-start >= r.ticks(r.threshold())
		if !can && long { // whether it had to wait is unknown, only that it took long
			w = r.beginLock(headWait|n<<48, addr, 0, what, start)
		}
		w.End()
		if long {
			return Held{l, r.beginLock(headHold|n<<48, addr, 0, what, 0)}
		}
	}
	return Held{l, Handle{Loc: -1 - int64(n), Start: r.clock.Now()}}
}

// endBrief ends a hold since start, which has no record yet.
func (r *recorder) endBrief(l sync.Locker, name, start int64) {
	a := any(l)
	addr := uint64(sys.Object(&a))
	now := r.clock.Now()
	if start < r.began || now-start < r.ticks(r.threshold()) && waitersOf(addr).Load() == 0 {
		return // or the lock was acquired in another recording
	}
	h := r.beginLock(headHold|uint64(name)<<48, addr, 0, WhatOf(l), start)
	if h.Loc != 0 {
		r.endSince(h, start, now)
	}
}

// endSince ends a wait or a hold that has lasted since start, and whose record was begun only
// now.
func (r *recorder) endSince(h Handle, start, now int64) {
	now = max(now, h.Start)
	if h.Start <= start {
		endAt(h, now, nil)
		return
	}
	// The chunk is a newer one, in which no record begins earlier.
	var buf [usualWords]uint64
	x := encoder{w: buf[:], r: r}
	x.place(r.offset(h))
	x.addAll(nil, []any{KV("held_ns", int64(float64(now-start)/float64(r.rate)*1e9))})
	endAt(h, now, &x)
}

// lockWaiters counts the goroutines that wait for plain locks, by a hash of the address.
var lockWaiters [256]atomic.Int32

func waitersOf(addr uint64) *atomic.Int32 {
	return &lockWaiters[addr*0x9e3779b97f4a7c15>>56]
}
