//go:build !scope_off

package scope

import "github.com/scopeview/scopeview/internal/record"

// Retries watches a loop that tries again; see Retry.
type Retries struct{ r record.Retries }

// Retry watches a loop that tries until it succeeds, as lock-free code does:
//
//	r := scope.Retry("stack.push")
//	for !s.top.CompareAndSwap(old, n) {
//		r.Again()
//		…
//	}
//	r.Done()
//
// Where the first try succeeds nothing is recorded, or counted: what all would have
// to count in, they would contend for. Else the time from the first failure on is a
// wait, as for a lock: recorded with the number of tries that failed if it lasts as
// long as WithLockThreshold says, and otherwise counted.
//
// The Retries belong to one loop; Done is to be called also where it gives up.
func Retry(name string) (t Retries) { // without a name it would be copied
	t.r.Begin(name)
	return t
}

// Again says that a try failed.
func (t *Retries) Again() { t.r.Again() }

// Done says that the loop is over.
func (t *Retries) Done() { t.r.Done() }
