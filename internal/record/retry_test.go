//go:build !scope_off

package record_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestRetry runs loops with a known number of tries, for a known minimum time.
func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name      string
		threshold LockThreshold
		tries     int // failed tries
		took      time.Duration
		want      []string
		short     int64
	}{
		{"the first try", LocksAll, 0, 0, nil, 0},
		{"called off", LockThreshold(time.Hour), 4, 2 * record.SpinFor, []string{`wait "push" | addr goid:0 uint:768`}, 1},
		{"recorded", LocksCalibrated, 5, time.Millisecond, []string{`wait "push" | addr goid:0 uint:768 || int:5`}, 0},
		{"all", LocksAll, 1, 0, []string{`wait "push" | addr goid:0 uint:768 || int:1`}, 0},
		{"off", LocksOff, 5, 0, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing, WithLockThreshold(c.threshold))
				began := time.Now()
				r := Retry("push")
				for i := range c.tries {
					r.Again()
					if i == 0 && c.took > 0 {
						for at := time.Now(); time.Since(at) < c.took; {
						}
					}
				}
				r.Done()
				wall := time.Since(began)
				got := stop(t)
				if lines := got.lines(); !slices.Equal(lines, c.want) {
					t.Errorf("recorded %q, want %q", lines, c.want)
				}
				if c.tries == 0 || c.threshold == LocksOff {
					if s := sumsOf(t); len(s) != 0 {
						t.Errorf("counted %+v", s)
					}
					return
				}
				s := sumsOf(t)["push"]
				s.ShortWait = 0
				if want := (format.LockSums{Kind: format.LockRetry, Acquired: -1, Contended: 1, Short: c.short}); s != want {
					t.Errorf("counted %+v, want %+v", s, want)
				}
				if len(got.events) == 1 && c.short == 0 {
					if d := time.Duration(got.events[0].Dur); d < c.took || d > wall {
						t.Errorf("it took %v by the trace, want %v to %v", d, c.took, wall)
					}
				}
			})
		})
	}
}

// TestShortRetry runs loops until one was too short to be recorded whatever the
// threshold. That one has no record; all are counted.
func TestShortRetry(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLockThreshold(LockThreshold(time.Hour)))
		loops, short := 0, false
		for loops < 10_000 && !short {
			loops++
			began := time.Now()
			r := Retry("push")
			for range 3 {
				r.Again()
			}
			r.Done()
			short = time.Since(began) < record.SpinFor
		}
		got := stop(t)
		if !short {
			t.Skip("no loop was short: this machine is too slow")
		}
		if n := len(got.events); n >= loops {
			t.Errorf("%d records of %d loops, of which the last was short", n, loops)
		}
		s := sumsOf(t)["push"]
		s.ShortWait = 0
		if want := (format.LockSums{Kind: format.LockRetry, Acquired: -1, Contended: int64(loops), Short: int64(loops)}); s != want {
			t.Errorf("counted %+v, want %+v", s, want)
		}
	})
}

// TestRetriesAddUp compares the counts of contending loops with the trace.
func TestRetriesAddUp(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var top, contended atomic.Int64
		var wg sync.WaitGroup
		const workers, rounds = 4, 2000
		for range workers {
			wg.Go(func() {
				for i := range rounds {
					r := Retry("add")
					failed := false
					for {
						old := top.Load()
						if i%500 == 0 {
							time.Sleep(time.Microsecond) // so that another goroutine is faster
						}
						if top.CompareAndSwap(old, old+1) {
							break
						}
						failed = true
						r.Again()
					}
					if failed {
						contended.Add(1)
					}
					r.Done()
				}
			})
		}
		wg.Wait()
		if top.Load() != workers*rounds {
			t.Errorf("counted to %d", top.Load())
		}
		got := stop(t)
		waits := int64(0)
		for i := range got.events {
			if got.events[i].Dur > 0 {
				waits++
			}
		}
		if s := sumsOf(t)["add"]; s.Contended != contended.Load() || s.Short+waits != s.Contended {
			t.Errorf("%d contended, %d of them briefly, and %d waits; want %d", s.Contended, s.Short, waits, contended.Load())
		}
	})
}
