//go:build !scope_off

package record_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// losing are calls that lose one record each if there is no room.
var losing = func() []func() {
	long := strings.Repeat("x", 1<<20)
	return []func(){
		func() { defer Task("plain")() },
		func() { defer Task("ints", 1, 2)() },
		func() { defer Task("mixed", "a text", 2, KV("key", 3))() },
		func() { defer Task("long", long)() },
		func() { Event("event") },
		func() { Event("long event", long, KV("key", long)) },
		func() { Counter("counter", 1) },
		func() { Begin("span", 1.5).End() },
	}
}()

// callAll calls all of losing n times on each goroutine, and returns the number of
// records.
func callAll(goroutines, n int) int64 {
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range n {
				for _, f := range losing {
					f()
				}
			}
		})
	}
	wg.Wait()
	return int64(goroutines * n * len(losing))
}

// inRows returns the counts in the rows from one up to another.
func inRows(r *record.Recorder, from, to int) (n uint64) {
	for i := from * record.RowWords; i < to*record.RowWords; i++ {
		n += atomic.LoadUint64(&r.Losses()[i])
	}
	return n
}

// TestG36 records beyond the limit, on processors that have recorded before and on some
// that have not. Everything is counted; on the assembly path each processor counts in its
// own row, and no lost record was encoded.
func TestG36(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		start(t, backing, WithLimit(1<<20))
		r := record.Current.Load()
		// The limit is reached while they record.
		issued := callAll(2, 5000)
		if s := Stats(); s.Recorded == 0 || s.Lost.Limit == 0 || s.Lost.Limit != s.Lost.Total() || s.Misuse.ArgsCut == 0 {
			t.Fatalf("%d issued: %+v", issued, s)
		}
		if why := r.Pool().Dry(); why != format.LossLimit {
			t.Errorf("known to get nothing by %v", why)
		}
		// The limit has been reached.
		before := Stats()
		n := callAll(2, 2000)
		runtime.GOMAXPROCS(8) // six are new
		n += callAll(16, 500)
		s := Stats()
		kept := s.Recorded - before.Recorded // by a processor that had hardly recorded before
		if s.Lost.Limit-before.Lost.Limit+kept != n || kept > n/100 {
			t.Errorf("of %d: %d lost, %d recorded", n, s.Lost.Limit-before.Lost.Limit, kept)
		}
		if cut := s.Misuse.ArgsCut - before.Misuse.ArgsCut; cut > kept {
			t.Errorf("%d records were encoded, and %d of all recorded", cut, kept)
		}
		shared := inRows(r, format.OwnRows, format.CounterRows)
		if (shared == 0) != fastNow() {
			t.Errorf("%d losses were counted in rows that are shared; the assembly path: %t", shared, fastNow())
		}
		// Two processors with the same row would lose counts.
		if others := inRows(r, 8, format.OwnRows); others != 0 {
			t.Errorf("%d losses were counted in rows of processors that there are not", others)
		}
		issued += n
		// The recording ends while they lose records.
		var more atomic.Int64
		var quit atomic.Bool
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for !quit.Load() {
					if Enabled() {
						losing[3]()
						more.Add(1)
					}
				}
			})
		}
		until(t, "losses", func() bool { return more.Load() > 1000 })
		finish(t)
		quit.Store(true)
		wg.Wait()
		s = Stats()
		// A goroutine that checked before Stop and called after it may account for one
		// record each that is in no recording.
		if got := s.Recorded + s.Lost.Total(); got > issued+more.Load() || got < issued+more.Load()-4 {
			t.Errorf("%d issued, %d recorded and %d lost", issued+more.Load(), s.Recorded, s.Lost.Total())
		}
		// The recording has ended.
		callAll(2, 100)
		if after := Stats(); after.Lost != s.Lost || after.Recorded != s.Recorded {
			t.Errorf("after Stop %+v became %+v", s.Lost, after.Lost)
		}
		verify(t, Path())
		t.Logf("G36: %d issued, %d recorded, %d lost by the limit, %d of them counted in shared rows", issued+more.Load(), s.Recorded, s.Lost.Limit, shared)
	})
}

// TestLateLosses: many goroutines count losses when their recording ends and the next
// begins, at whatever instruction Go has preempted them. None of the losses is in the
// next recording.
func TestLateLosses(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for range 2 {
			start(t, backing)
			r := record.Current.Load()
			var done sync.WaitGroup
			var quit atomic.Bool
			var calls [16]atomic.Int64
			for i := range calls {
				done.Go(func() {
					for !quit.Load() {
						r.LoseMany(format.LossBusy, 1)
						calls[i].Add(1)
					}
				})
			}
			until(t, "losses", func() bool {
				for i := range calls {
					if calls[i].Load() == 0 {
						return false
					}
				}
				return true
			})
			finish(t)
			verify(t, Path())
			start(t, backing)
			quit.Store(true)
			done.Wait()
			if lost := Stats().Lost; lost != (Lost{}) {
				t.Errorf("the next recording has lost %+v", lost)
			}
			finish(t)
		}
	})
}
