//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Mutex is a sync.Mutex that tells who waited for it, how long, and who had it:
//
//	type store struct {
//		mu scope.Mutex // Name: "store.mu"
//		…
//	}
//
// It is used as a sync.Mutex is: the zero value is free, it must not be copied once
// it was used, misuse has the same consequences.
//
// Who gets it at once pays for a count and for saying who has it, some 2 to 4 ns,
// and leaves no record. Who does not, and then waits for as long as
// WithLockThreshold says, leaves a record of the wait, with the goroutine that had
// it, and one of how long he then has it, and so does everybody who takes it while
// others wait. Shorter waits are counted and summed. How often it was had, and how
// often not at once, is told once per heartbeat, of a lock that was ever contended.
//
// Without a recording, and where the filter leaves its name out, it just locks.
type Mutex struct {
	state record.LockState // first: its address is the lock's
	mu    sync.Mutex

	// Name is what it is called in the trace. Without one, waits and holds are called by
	// the place where it was locked, together with those of all other locks without a
	// name that are locked there, and nobody counts how often it was had. The tool calls
	// them by their type and field, as in main.store.mu, where it finds the source. It is
	// to be set before the first use.
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

// Unlock unlocks m. As with a sync.Mutex, it need not be who locked it that unlocks
// it, and that it is not locked is a fatal error.
func (m *Mutex) Unlock() {
	m.state.Release()
	m.mu.Unlock()
}

// RWMutex is a sync.RWMutex that tells the same of its writers as Mutex does, and of
// its readers who had to wait. Of readers that got in at once nothing is known, not
// even their number: whatever they all would have to write to, they would wait for.
// So it is also not known who the readers are that a writer waits for, nor how long
// each of them stays.
type RWMutex struct {
	state record.LockState // first: its address is the lock's
	mu    sync.RWMutex

	// Name is what it is called in the trace. Without one, waits and holds are called by
	// the place where it was locked, together with those of all other locks without a
	// name that are locked there, and nobody counts how often it was had. The tool calls
	// them by their type and field, as in main.store.mu, where it finds the source. It is
	// to be set before the first use.
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

// reader is the reading side of a lock.
type reader sync.RWMutex

func (r *reader) Lock()         { (*sync.RWMutex)(r).RLock() }
func (r *reader) TryLock() bool { return (*sync.RWMutex)(r).TryRLock() }
func (r *reader) Unlock()       { (*sync.RWMutex)(r).RUnlock() }

// lockOf is a record.LockOf.
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
