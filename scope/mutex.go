//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Mutex is a sync.Mutex that records which goroutines waited for it, how long, and which
// one held it:
//
//	type store struct {
//		mu scope.Mutex // Name: "store.mu"
//		…
//	}
//
// It is used like a sync.Mutex: the zero value is unlocked, it must not be copied after
// first use, and misuse has the same consequences.
//
// An acquisition that does not wait updates a counter and the holder, which takes 2 to 4
// ns, and leaves no record. One that waits for at least the duration set by
// WithLockThreshold records the wait, with the goroutine that held the lock, and the hold
// that follows; a goroutine that takes the lock while others wait records its hold too.
// Shorter waits are counted and summed. For a lock that was ever contended, each
// heartbeat records the acquisitions, and how many of them had to wait.
//
// Without a recording, or if its name is filtered out, it only locks.
type Mutex struct {
	state record.LockState // first: its address is the lock's
	mu    sync.Mutex

	// Name is the lock's name in the trace. Without one, waits and holds are named by the
	// place of the Lock call, together with all other unnamed locks that are locked
	// there, and acquisitions are not counted. The tool names such a lock by its type and
	// field, as in main.store.mu, if it finds the source. Set Name before the first use.
	Name string
}

// Lock locks m.
func (m *Mutex) Lock() {
	w := atomic.LoadUint64(&sys.Live.Locking)
	switch {
	case w == 0:
		m.mu.Lock()
	case m.mu.TryLock():
		m.state.Had(w, m.Name, record.MutexWhat, false)
	default:
		m.state.Wait(&m.mu, m.Name, record.MutexWhat)
	}
}

// TryLock tries to lock m and reports whether it did.
func (m *Mutex) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	if w := atomic.LoadUint64(&sys.Live.Locking); w != 0 {
		m.state.Had(w, m.Name, record.MutexWhat, false)
	}
	return true
}

// Unlock unlocks m. As with a sync.Mutex, any goroutine may unlock it, and unlocking an
// unlocked Mutex is a fatal error.
func (m *Mutex) Unlock() {
	m.state.Release()
	m.mu.Unlock()
}

// RWMutex is a sync.RWMutex that records the same as Mutex does for its writers, and the
// waits of its readers. Readers that got the lock at once are not even counted: a shared
// counter would be a point of contention for them all. So the readers that a writer waits
// for are unknown, as is how long each of them holds the lock.
type RWMutex struct {
	state record.LockState // first: its address is the lock's
	mu    sync.RWMutex

	// Name is the lock's name in the trace. Without one, waits and holds are named by the
	// place of the Lock call, together with all other unnamed locks that are locked
	// there, and acquisitions are not counted. The tool names such a lock by its type and
	// field, as in main.store.mu, if it finds the source. Set Name before the first use.
	Name string
}

// Lock locks rw for writing.
func (rw *RWMutex) Lock() {
	w := atomic.LoadUint64(&sys.Live.Locking)
	switch {
	case w == 0:
		rw.mu.Lock()
	case rw.mu.TryLock():
		rw.state.Had(w, rw.Name, record.RWWhat, false)
	default:
		rw.state.Wait(&rw.mu, rw.Name, record.RWWhat)
	}
}

// TryLock tries to lock rw for writing and reports whether it did.
func (rw *RWMutex) TryLock() bool {
	if !rw.mu.TryLock() {
		return false
	}
	if w := atomic.LoadUint64(&sys.Live.Locking); w != 0 {
		rw.state.Had(w, rw.Name, record.RWWhat, false)
	}
	return true
}

// Unlock unlocks rw for writing.
func (rw *RWMutex) Unlock() {
	rw.state.Release()
	rw.mu.Unlock()
}

// RLock locks rw for reading.
func (rw *RWMutex) RLock() {
	switch {
	case atomic.LoadUint64(&sys.Live.Locking) == 0:
		rw.mu.RLock()
	case rw.mu.TryRLock():
	default:
		rw.state.Wait((*reader)(&rw.mu), rw.Name, record.RWReadWhat)
	}
}

// TryRLock tries to lock rw for reading and reports whether it did.
func (rw *RWMutex) TryRLock() bool { return rw.mu.TryRLock() }

// RUnlock undoes one RLock.
func (rw *RWMutex) RUnlock() { rw.mu.RUnlock() }

// RLocker returns a sync.Locker whose Lock is RLock and whose Unlock is RUnlock.
func (rw *RWMutex) RLocker() sync.Locker { return (*rlocker)(rw) }

type rlocker RWMutex

func (r *rlocker) Lock()         { (*RWMutex)(r).RLock() }
func (r *rlocker) TryLock() bool { return (*RWMutex)(r).TryRLock() }
func (r *rlocker) Unlock()       { (*RWMutex)(r).RUnlock() }

// reader is the reader side of an RWMutex, as a sync.Locker.
type reader sync.RWMutex

func (r *reader) Lock()         { (*sync.RWMutex)(r).RLock() }
func (r *reader) TryLock() bool { return (*sync.RWMutex)(r).TryRLock() }
func (r *reader) Unlock()       { (*sync.RWMutex)(r).RUnlock() }

// lockOf implements record.LockOf.
func lockOf(l sync.Locker) (what uint64, state *record.LockState, inner sync.Locker) {
	switch l := l.(type) {
	case *Mutex:
		return record.MutexWhat, &l.state, &l.mu
	case *RWMutex:
		return record.RWWhat, &l.state, &l.mu
	case *rlocker:
		return record.RWReadWhat, &l.state, (*reader)(&l.mu)
	}
	return record.WhatOf(l), nil, l
}
