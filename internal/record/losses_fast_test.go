//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race && !scope_off && !scope_nogoid && !scope_noyield

package record_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	. "github.com/scopeview/scopeview/scope"
)

// TestG36Assembly: once it is known that there is no more room, a begin is counted as
// lost within the assembly, on processors that have had a chunk and on others.
func TestG36Assembly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	start(t, WithBacking(DiskBacking), WithLimit(1<<20))
	defer Stop()
	var misses atomic.Int64
	sys.OnMiss(func(head uint64, name string, args []any) record.Handle {
		misses.Add(1)
		return record.BeginSlow(head, name, args)
	}, record.EndNow)
	defer sys.OnMiss(record.BeginSlow, record.EndNow)
	for Stats().Lost.Limit == 0 {
		Task("plain")()
		Task("ints", 1, 2)()
	}
	for _, procs := range []int{2, 8} {
		runtime.GOMAXPROCS(procs)
		before := Stats()
		misses.Store(0)
		const n = 10_000
		var wg sync.WaitGroup
		for range procs {
			wg.Go(func() {
				for range n {
					Task("plain")()
					Task("ints", 1, 2)()
				}
			})
		}
		wg.Wait()
		s := Stats()
		lost, recorded := s.Lost.Limit-before.Lost.Limit, s.Recorded-before.Recorded
		if lost+recorded != int64(procs)*n*2 || lost < n {
			t.Errorf("of %d %d are lost and %d recorded", procs*n*2, lost, recorded)
		}
		if misses.Load() > 10 {
			t.Errorf("on %d processors %d of %d begins left the assembly", procs, misses.Load(), procs*n*2)
		}
	}
}
