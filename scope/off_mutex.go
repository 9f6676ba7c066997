//go:build scope_off

package scope

import "sync"

// The locks are sync's, and Retry is nothing.

// Mutex is a sync.Mutex.
type Mutex struct {
	mu   sync.Mutex
	Name string // what it is called in the trace, of which there is none
}

func (m *Mutex) Lock()         { m.mu.Lock() }
func (m *Mutex) TryLock() bool { return m.mu.TryLock() }
func (m *Mutex) Unlock()       { m.mu.Unlock() }

// RWMutex is a sync.RWMutex.
type RWMutex struct {
	mu   sync.RWMutex
	Name string // what it is called in the trace, of which there is none
}

func (rw *RWMutex) Lock()                { rw.mu.Lock() }
func (rw *RWMutex) TryLock() bool        { return rw.mu.TryLock() }
func (rw *RWMutex) Unlock()              { rw.mu.Unlock() }
func (rw *RWMutex) RLock()               { rw.mu.RLock() }
func (rw *RWMutex) TryRLock() bool       { return rw.mu.TryRLock() }
func (rw *RWMutex) RUnlock()             { rw.mu.RUnlock() }
func (rw *RWMutex) RLocker() sync.Locker { return rw.mu.RLocker() }

// Retries watches a loop that tries again.
type Retries struct{}

func Retry(name string) Retries { return Retries{} }
func (t *Retries) Again()       {}
func (t *Retries) Done()        {}
