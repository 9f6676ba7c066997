package heartbeat

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// BenchmarkBeat measures the most expensive beat allowed every second: 100
// threads, all read, and 10,000 goroutines. Its budget is 2 ms.
func BenchmarkBeat(b *testing.B) {
	end := make(chan struct{})
	var ready, gone sync.WaitGroup
	park := func() {
		defer gone.Done()
		ready.Done()
		<-end
	}
	for range 100 {
		ready.Add(1)
		gone.Add(1)
		go func() {
			runtime.LockOSThread()
			park()
		}()
	}
	for range 10_000 {
		ready.Add(1)
		gone.Add(1)
		go park()
	}
	ready.Wait()
	defer gone.Wait()
	defer close(end)

	s := New()
	var vs []format.FieldValue
	var ts []format.Thread
	b.ReportAllocs()
	for b.Loop() {
		s.process.threads.next = time.Time{}
		vs, ts = s.Sample(vs[:0], ts[:0])
	}
	if v, _ := fieldOf(vs, format.FieldThreads); v < 100 {
		b.Fatalf("%d threads, want at least 100", v)
	}
	if len(ts) != maxThreads {
		b.Fatalf("%d threads listed, want %d", len(ts), maxThreads)
	}
}
