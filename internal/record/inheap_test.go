//go:build !scope_off

package record_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestInHeap: a recording with a large ring has no more in Go's heap than it reports to the
// runtime: buffers and tables for chunks are elsewhere.
func TestInHeap(t *testing.T) {
	if wantPath != format.PathAssembly {
		t.Skip("on other paths there is more, and another part of the time is the recorder's")
	}
	var reported uint64
	record.ReportHeap(&reported)
	t.Cleanup(func() { record.ReportHeap(new(uint64)) })
	live := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	start(t, WithRing(1<<30), WithFlushEvery(20*time.Millisecond))
	if record.Current.Load().Pool().Backing() == format.BackingHeap {
		t.Skip("chunks are in the heap here")
	}
	for range 100 {
		for range 2000 {
			Task("short")()
		}
		time.Sleep(time.Millisecond) // for the flusher, which nothing waits for
	}
	has, said := live()-before, int64(atomic.LoadUint64(&reported))
	finish(t)
	if said == 0 || has > said {
		t.Errorf("a recording has %d bytes in the heap, and reports %d", has, said)
	}
	if n := atomic.LoadUint64(&reported); n != 0 {
		t.Errorf("without a recording %d bytes are reported", n)
	}
	record.UseHeap(1000)
	if n := atomic.LoadUint64(&reported); n != 1000 {
		t.Errorf("a collector has 1000 bytes, and %d are reported", n)
	}
	record.UseHeap(-1000)
}
