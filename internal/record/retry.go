//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Retries watches a loop that retries.
type Retries struct {
	name  string
	tries int
	w     waiting
}

// Begin sets the loop's name. A constructor that returned Retries with their name would
// copy them: see scope.Retry.
func (t *Retries) Begin(name string) { t.name = name }

// Again records a failed try.
func (t *Retries) Again() {
	t.tries++
	if atomic.LoadUint64(&sys.Live.Locking) != 0 {
		t.again()
	}
}

// Done records the end of the loop.
func (t *Retries) Done() {
	if t.w.r != nil {
		t.done()
	}
}

func (t *Retries) again() {
	if t.w.r == nil {
		r := current.Load()
		t.w = waiting{r: r, sums: retriesOf(t.name), what: retryWhat, start: r.clock.Now()}
		if !t.w.ready() {
			t.w.begun, t.w.sums = true, nil // filtered out: never due, and not counted
		}
	}
	t.w.due()
}

func (t *Retries) done() {
	if t.w.sums != nil {
		t.w.over(atomic.LoadUint64(&sys.Live.Locking), t.tries)
	}
	t.w = waiting{}
}

// retriesOf returns the counts of the loops with a name.
func retriesOf(name string) *lockSums {
	t := &lockTable.retries
	t.RLock()
	s := t.by[name]
	t.RUnlock()
	if s != nil {
		return s
	}
	t.Lock()
	defer t.Unlock()
	if s := t.by[name]; s != nil {
		return s
	}
	if len(t.by) >= maxLocks {
		return restLocks
	}
	if t.by == nil {
		t.by = map[string]*lockSums{}
	}
	s = newSums(0, name, format.LockRetry)
	t.by[s.name] = s
	s.register()
	return s
}
