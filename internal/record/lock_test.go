//go:build !scope_off

package record_test

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	. "github.com/scopeview/scopeview/scope"
)

// taken is a lock whose TryLock always fails.
type taken struct{ locked, unlocked int }

func (l *taken) TryLock() bool { return false }
func (l *taken) Lock()         { l.locked++ }
func (l *taken) Unlock()       { l.unlocked++ }

// slow is a lock without TryLock that takes d.
type slow struct{ d time.Duration }

func (l slow) Lock() {
	for t0 := time.Now(); time.Since(t0) < l.d; {
	}
}
func (slow) Unlock() {}

func TestLock(t *testing.T) {
	var mu sync.Mutex
	var rw sync.RWMutex
	tried := &taken{}
	for _, c := range []struct {
		name string
		lock sync.Locker
		want []string
	}{
		{"free", &mu, []string{`hold "l" | addr goid:0 uint:258`}},
		{"free for reading", rw.RLocker(), []string{`hold "l" | addr goid:0 uint:2`}},
		{"taken", tried, []string{`wait "l" | addr goid:0 uint:2`, `hold "l" | addr goid:0 uint:2`}},
		{"without TryLock", &slow{time.Millisecond}, []string{`wait "l" | addr goid:0 uint:2`, `hold "l" | addr goid:0 uint:2`}},
		{"no pointer", slow{time.Millisecond}, []string{`wait "l" | addr goid:0 uint:2`, `hold "l" | addr goid:0 uint:2`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing)
				Lock(c.lock, "l")()
				r := stop(t)
				if c.lock == rw.RLocker() && len(r.events) == 2 {
					r.events = r.events[1:] // preempted inside Lock: recorded as a wait
				}
				if got := r.lines(); !slices.Equal(got, c.want) {
					t.Fatalf("recorded %q, want %q", got, c.want)
				}
				want := uint64(0)
				if v := reflect.ValueOf(c.lock); v.Kind() == reflect.Pointer {
					want = uint64(v.Pointer())
				}
				for _, e := range r.events {
					if got := e.Args[0].Value; want != 0 && got != want {
						t.Errorf("%v: the lock is at %#x, want %#x", e.Kind, got, want)
					}
				}
				if w := r.named("l")[0]; w.Kind == format.KindWait && w.Start+w.Dur > r.events[1].Start {
					t.Errorf("it waited until %d and held from %d on", w.Start+w.Dur, r.events[1].Start)
				}
			})
		})
	}
	if tried.locked != tried.unlocked || tried.locked == 0 {
		t.Errorf("locked %d times, unlocked %d times", tried.locked, tried.unlocked)
	}
}

// watched is a mutex that counts failed TryLocks.
type watched struct {
	sync.Mutex
	failed atomic.Int32
}

func (l *watched) TryLock() bool {
	ok := l.Mutex.TryLock()
	if !ok {
		l.failed.Add(1)
	}
	return ok
}

// TestContendedLock: goroutines contend for a mutex. Holds must not overlap, a
// goroutine that finds it taken waits and then holds it, and the lock works.
func TestContendedLock(t *testing.T) {
	const workers, rounds = 4, 200
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var mu watched
		var wg sync.WaitGroup
		n := 0
		unlock := Lock(&mu, "mu") // until all want it
		for range workers {
			wg.Go(func() {
				for range rounds {
					func() {
						defer Lock(&mu, "mu")()
						n++
					}()
				}
			})
		}
		until(t, "all goroutines to find the lock taken", func() bool { return mu.failed.Load() >= workers })
		unlock()
		wg.Wait()
		r := stop(t)
		if n != workers*rounds {
			t.Errorf("counted to %d under the lock, want %d", n, workers*rounds)
		}
		var holds, waits int
		free := int64(0)
		waited := map[uint64]int64{} // end of the last wait, by goroutine
		// With a coarse clock a hold may begin and end at the tick at which the
		// next one begins.
		slices.SortStableFunc(r.events, func(a, b seen) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Dur, b.Dur))
		})
		for _, e := range r.events {
			switch e.Kind {
			case format.KindWait:
				waits++
				waited[e.Goid] = e.Start + e.Dur
			case format.KindHold:
				holds++
				if e.Start < free {
					t.Errorf("held from %d on, and until %d by another", e.Start, free)
				}
				free = e.Start + e.Dur
				if e.Start < waited[e.Goid] {
					t.Errorf("held from %d on, waited for until %d", e.Start, waited[e.Goid])
				}
			}
		}
		if want := workers*rounds + 1; holds != want || waits != int(mu.failed.Load()) {
			t.Errorf("%d holds and %d waits, want %d and %d", holds, waits, want, mu.failed.Load())
		}
	})
}

// TestUnlockAcrossStop locks while recording and unlocks after Stop, and the other
// way round: the lock must be free in the end.
func TestUnlockAcrossStop(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		var mu sync.Mutex
		unlock := Lock(&mu, "early")
		start(t, backing)
		unlock()
		unlock = Lock(&mu, "open")
		r := stop(t)
		unlock()
		if !mu.TryLock() {
			t.Error("the lock is still held")
		}
		if got, want := r.lines(), []string{`hold "open" open | addr goid:0 uint:258`}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
	})
}
