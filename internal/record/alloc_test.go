//go:build !scope_off && !race

package record_test

import (
	"math"
	"sync"
	"testing"
	"time"

	. "github.com/scopeview/scopeview/scope"
)

// TestNothingIsAllocated checks the package comment's promise: no call allocates,
// whether recording, stopped, or filtered out. The race detector's build differs: there
// a deferred function is on the heap.
func TestNothingIsAllocated(t *testing.T) {
	var mu sync.Mutex
	var ours Mutex
	var rw RWMutex
	n, text, dur := 1<<40, "text", time.Second // not constants, which never allocate
	calls := []struct {
		name string
		f    func()
	}{
		{"Task", func() { defer Task("a")() }},
		{"Task with two ints", func() { defer Task("a", n, n+1)() }},
		{"Task with five ints", func() { defer Task("a", n, n+1, n+2, n+3, n+4)() }},
		{"Task with int, string and KV", func() { defer Task("a", n, text, KV("k", n))() }},
		{"Task with others", func() { defer Task("a", dur, true, 1.5, KV("s", text), struct{ a, b int }{n, n})() }},
		{"Taskf", func() { defer Taskf("a %d %s", n, text)() }},
		{"Process", func() { defer Process("a", n)() }},
		{"Begin and End", func() { Begin("a").End() }},
		{"Begin and End with arguments", func() { Begin("a", n).End(n, KV("k", text)) }},
		{"Event", func() { Event("a", n) }},
		{"Pending", func() { defer Pending("a", n)() }},
		{"Counter", func() { Counter("a", n) }},
		{"Lock", func() { defer Lock(&mu, "a")() }},
		{"Mutex", func() { ours.Lock(); ours.Unlock() }},
		{"RWMutex", func() { rw.Lock(); rw.Unlock(); rw.RLock(); rw.RUnlock() }},
		{"Retry", func() {
			r := Retry("a")
			r.Again()
			r.Done()
		}},
		{"Stack", func() { Stack("a", int64(n)) }},
		{"Track", func() { Track("a") }},
		{"SetFilter apart, Enabled", func() { Enabled() }},
	}
	measure := func(t *testing.T) {
		for _, c := range calls {
			c.f()
			// AllocsPerRun counts all goroutines, and Start leaves some work to one of
			// its own. What the call allocates is there every time; the rest is not.
			least := math.Inf(1)
			for range 5 {
				if least = min(least, testing.AllocsPerRun(200, c.f)); least == 0 {
					break
				}
			}
			if least != 0 {
				t.Errorf("%s: %v allocations", c.name, least)
			}
		}
	}
	t.Run("stopped", measure)
	perBacking(t, func(t *testing.T, backing Option) {
		// A chunk or a part of the window serves thousands of records, and the flusher
		// allocates; AllocsPerRun rounds down.
		start(t, backing, WithFlushEvery(math.MaxInt64), WithHeartbeat(math.MaxInt64))
		t.Run("recording", measure)
		contend(t, stateOf(&ours), &ours)
		t.Run("contended", measure)
		if err := SetFilter("-*"); err != nil {
			t.Fatal(err)
		}
		t.Run("left out", measure)
		finish(t)
	})
}
