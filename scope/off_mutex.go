//go:build scope_off

package scope

import "sync"

// The locks are package sync's, and Retry does nothing.

// Mutex is a sync.Mutex.
type Mutex struct {
	mu   sync.Mutex
	Name string // unused: there is no trace
}

func (m *Mutex) Lock()         { m.mu.Lock() }
func (m *Mutex) TryLock() bool { return m.mu.TryLock() }
func (m *Mutex) Unlock()       { m.mu.Unlock() }

// RWMutex is a sync.RWMutex.
type RWMutex struct {
	mu   sync.RWMutex
	Name string // unused: there is no trace
}

func (rw *RWMutex) Lock()                { rw.mu.Lock() }
func (rw *RWMutex) TryLock() bool        { return rw.mu.TryLock() }
func (rw *RWMutex) Unlock()              { rw.mu.Unlock() }
func (rw *RWMutex) RLock()               { rw.mu.RLock() }
func (rw *RWMutex) TryRLock() bool       { return rw.mu.TryRLock() }
func (rw *RWMutex) RUnlock()             { rw.mu.RUnlock() }
func (rw *RWMutex) RLocker() sync.Locker { return rw.mu.RLocker() }

// Retries watches a loop that retries.
type Retries struct{}

func Retry(name string) Retries { return Retries{} }
func (t *Retries) Again()       {}
func (t *Retries) Done()        {}
