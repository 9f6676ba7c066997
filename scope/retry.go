//go:build !scope_off

package scope

import "github.com/scopeview/scopeview/internal/record"

// Retries watches a loop that retries; see Retry.
type Retries struct{ r record.Retries }

// Retry watches a loop that retries until it succeeds, as lock-free code does:
//
//	r := scope.Retry("stack.push")
//	for !s.top.CompareAndSwap(old, n) {
//		r.Again()
//		…
//	}
//	r.Done()
//
// If the first try succeeds, nothing is recorded or counted: a shared counter would
// be a point of contention. Else the time since the first failure is a wait, as for
// a lock: it is recorded, with the number of failed tries, if it reaches the
// duration set by WithLockThreshold, and otherwise counted.
//
// A Retries value belongs to one loop. Call Done also when the loop gives up.
func Retry(name string) (t Retries) { // a named result saves a copy
	t.r.Begin(name)
	return t
}

// Again records a failed try.
func (t *Retries) Again() { t.r.Again() }

// Done records the end of the loop.
func (t *Retries) Done() { t.r.Done() }
