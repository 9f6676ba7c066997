package trace

import (
	"os"
	"runtime"
	"testing"
)

// TestEventsMemory checks that a trace of 512 MiB (in full, 3 GB) with one scope open from its
// first record to its last does not need memory that grows with it: at most a twelfth.
func TestEventsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 512 MiB of records: left out by -short")
	}
	chunks := 8 << 10
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		chunks = 48 << 10
	}
	if RaceEnabled {
		chunks = 1 << 8 // the race detector makes it 20 times slower, and counts its own memory
	}
	s := newSynth(8, chunks)
	s.spanning = true
	tr, err := Open(s, s.size())
	if err != nil {
		t.Fatal(err)
	}
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var n, last, whole int64
	var peak uint64
	err = tr.Events(Options{}, func(e *Event) bool {
		if e.Start < last {
			t.Errorf("event %d at %d after one at %d", n, e.Start, last)
			return false
		}
		last = e.Start
		if e.Name == 4 {
			whole++
			if e.Open || e.Dur < tr.Nanos(s.last())-e.Start {
				t.Errorf("the scope over all: %+v", e)
			}
		}
		if n++; n&(1<<20-1) == 0 {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&m)
	peak = max(peak, m.HeapInuse)
	if want := int64(s.records() - s.chunks - 2); n != want || whole != 1 {
		t.Errorf("%d events, %d over all; want %d and 1", n, whole, want)
	}
	limit := uint64(s.size() / 12)
	if RaceEnabled {
		limit = 256 << 20
	}
	if peak > limit {
		t.Errorf("%d MiB of heap, want at most %d", peak>>20, limit>>20)
	}
	if ps := tr.Problems(); len(ps) != 0 {
		t.Errorf("problems: %v", ps)
	}
	t.Logf("%d events of %d MiB, peak heap %d MiB", n, s.size()>>20, peak>>20)
}
