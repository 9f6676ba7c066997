//go:build !scope_off

package record_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	. "github.com/scopeview/scopeview/scope"
)

//go:noinline
func lockHere(l sync.Locker) { l.Lock() }

//go:noinline
func lockThere(l sync.Locker) { l.Lock() }

// TestOneNamePerPlace: the records of unnamed locks at several places, in any order, have
// the name of the place in each run, not of the place of the lock's first wait.
func TestOneNamePerPlace(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		runs := [2]map[string]int{}
		for run := range runs {
			start(t, backing, WithLockThreshold(LocksAll))
			locks := [3]*Mutex{{}, {}, {}}
			for i, m := range locks {
				places := []func(l sync.Locker){lockHere, lockThere}
				if (i+run)%2 == 1 {
					slices.Reverse(places)
				}
				for _, lock := range places {
					m.Lock()
					var wg sync.WaitGroup
					wg.Go(func() {
						lock(m)
						m.Unlock()
					})
					until(t, "the other one to wait", func() bool { return waiters(stateOf(m)) == 1 })
					m.Unlock()
					wg.Wait()
				}
			}
			r := stop(t)
			names := map[string]int{}
			addrs := map[uint64]bool{}
			for _, l := range r.locks() {
				if l.what&format.LockPlace == 0 {
					t.Fatalf("it is not said that %q is a place", l.name)
				}
				names[fmt.Sprint(l.kind, " ", l.name)]++
				addrs[l.addr] = true
			}
			runs[run] = names
			if len(addrs) != len(locks) {
				t.Errorf("of %d locks there are %d addresses", len(locks), len(addrs))
			}
			for name, s := range sumsOf(t) {
				if s.Addr != 0 || s.Acquired != -1 || s.Contended != int64(names[fmt.Sprint(format.KindWait, " ", name)]) {
					t.Errorf("counted of %s: %+v", name, s)
				}
			}
		}
		if !maps.Equal(runs[0], runs[1]) || len(runs[0]) != 5 { // two waits; those and the other place's holds
			t.Errorf("recorded %v, then %v", runs[0], runs[1])
		}
		for name, n := range runs[0] {
			if strings.Contains(name, "lockHere") || strings.Contains(name, "lockThere") {
				if n != 3 {
					t.Errorf("%d of %s", n, name)
				}
			}
		}
	})
}

// TestLockNames: the records of an unnamed lock are named by the place where it was locked,
// also if that is on behalf of a caller.
func TestLockNames(t *testing.T) {
	start(t)
	var plain, byCond Mutex
	contend(t, stateOf(&plain), &plain)
	cond := sync.NewCond(&byCond)
	var wg sync.WaitGroup
	var asleep atomic.Bool
	wg.Go(func() {
		byCond.Lock()
		asleep.Store(true)
		cond.Wait() // locks again
		byCond.Unlock()
	})
	until(t, "somebody to sleep", func() bool {
		// Not before the goroutine holds it, which would add a wait. And Lock would name a
		// wait by this place.
		if !asleep.Load() || !byCond.TryLock() {
			return false
		}
		byCond.Unlock()
		return true
	})
	byCond.Lock()
	cond.Signal()
	until(t, "him to wait for the lock", func() bool { return waiters(stateOf(&byCond)) == 1 })
	byCond.Unlock()
	wg.Wait()
	r := stop(t)
	var names []string
	for _, l := range r.locks() {
		if l.kind == format.KindWait {
			names = append(names, l.name)
		}
	}
	if len(names) != 2 || !isPlace(names[0], "record_test.contend.func1 mutex_test.go:") || !isPlace(names[1], "record_test.TestLockNames.func1 lockname_test.go:") {
		t.Errorf("the locks are called %q", names)
	}
}

func isPlace(name, prefix string) bool {
	return len(name) > len(prefix) && name[:len(prefix)] == prefix
}

// TestLockFilter: a lock whose name is filtered out just locks.
func TestLockFilter(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithFilter("-secret"))
		m := &Mutex{Name: "secret"}
		contend(t, stateOf(m), m)
		r := Retry("secret")
		r.Again()
		r.Done()
		if r := stop(t); len(r.events) != 0 || len(sumsOf(t)) != 0 {
			t.Errorf("recorded %q, %v", r.lines(), sumsOf(t))
		}
	})
}
