//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNobodyIsMovedInsideTheAssembly checks the basis of the fast path: a
// goroutine inside an assembly function keeps its thread and its P, whatever the
// scheduler does. It tries many windows of 2 µs, much longer than a record
// takes, while signals ask for preemption, collections stop the world, and Ps
// come and go.
func TestNobodyIsMovedInsideTheAssembly(t *testing.T) {
	windows := int64(1_000_000)
	if testing.Short() {
		windows = 50_000
	}
	ticks := NewClock().Rate(3*time.Millisecond) / 500_000
	if !NewClock().Counter() || ticks <= 0 {
		t.Skip("the processor's counter is not used here")
	}
	var quit atomic.Bool
	var trouble, work sync.WaitGroup
	cause := func(f func()) {
		trouble.Go(func() {
			for !quit.Load() {
				f()
			}
		})
	}
	var signals, collections, stops int64
	cause(func() {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Error(err)
			quit.Store(true)
		}
		for _, d := range threads {
			if tid, err := strconv.Atoi(d.Name()); err == nil && unix.Tgkill(os.Getpid(), tid, unix.SIGURG) == nil {
				signals++
			}
		}
	})
	cause(func() { runtime.GC(); collections++ })
	cause(func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		stops++
		time.Sleep(time.Millisecond)
	})
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	cause(func() {
		runtime.GOMAXPROCS(max(2, procs) + int(stops&1))
		time.Sleep(2 * time.Millisecond)
	})

	var left, moved, between atomic.Int64
	left.Store(windows)
	for range 4 {
		work.Go(func() {
			var before, after, last place
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if n%64 == 0 {
					runtime.Gosched() // let the others run
				}
				linger(ticks, &before, &after)
				if before != after {
					moved.Add(1)
				}
				if last != before && last != (place{}) {
					between.Add(1)
				}
				last = after
			}
		})
	}
	work.Wait()
	quit.Store(true)
	trouble.Wait()
	t.Logf("%d windows, %d moves between them, %d signals, %d collections, %d other stops of the world",
		windows, between.Load(), signals, collections, stops)
	if moved.Load() != 0 {
		t.Errorf("in %d of %d windows the goroutine was moved", moved.Load(), windows)
	}
	if between.Load() == 0 {
		t.Error("nobody was moved between windows either: the test has no power")
	}
}
