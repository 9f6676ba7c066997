//go:build !scope_off

package record_test

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// traffic is goroutines that record everything there is until they are told to
// quit; they can be held at a point where none of them is in a call of ours.
type traffic struct {
	wg      sync.WaitGroup
	gate    sync.RWMutex // held for reading around each round
	quit    atomic.Bool
	issued  atomic.Int64 // records asked for
	foreign chan func()
	mu      [2]sync.Mutex
}

func newTraffic(workers int) *traffic {
	tr := &traffic{foreign: make(chan func(), 16)}
	for w := range workers {
		tr.wg.Go(func() {
			for i := 0; !tr.quit.Load(); i++ {
				tr.gate.RLock()
				tr.round(w, i)
				tr.gate.RUnlock()
				if !Enabled() && i%16 == 0 {
					time.Sleep(100 * time.Microsecond) // leave the CPUs to the reader
				}
			}
		})
	}
	return tr
}

// round issues a known number of records: a lock that is waited for makes one
// more, so a worker has a lock for itself.
func (tr *traffic) round(w, i int) {
	outer := Task("outer", w, i)
	for range 20 {
		Task("plain")()
	}
	Task("text", "abc", KV("i", i))()
	Event("event", i)
	Counter("counter", i)
	Pending("pending")()
	Lock(&tr.mu[w%len(tr.mu)], "lock")()
	Begin("span", i).End("done")
	n := int64(27)
	if i%8 == 0 {
		Process("process")()
		n++
	}
	if i%4 == 0 {
		end := Task("foreign")
		n++
		select {
		case tr.foreign <- end:
		default:
			end()
		}
	}
	select {
	case end := <-tr.foreign:
		end()
	default:
	}
	if i%16 == 0 {
		runtime.Gosched()
	}
	outer()
	tr.issued.Add(n)
}

func (tr *traffic) end() {
	tr.quit.Store(true)
	tr.wg.Wait()
}

// stopAndCount is stop for traces that are too long to be kept.
func stopAndCount(t *testing.T) {
	t.Helper()
	if err := Stop(); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	tr := each(t, Path(), func(*trace.Trace, *trace.Event) { n++ })
	if s := Stats(); s.Recorded != n || !tr.Closed() {
		t.Errorf("%d records were kept, the trace has %d, closed: %t", s.Recorded, n, tr.Closed())
	}
}

// resources are what a recording must give back.
type resources struct{ goroutines, descriptors, mappings, files int }

func inUse(t *testing.T) (r resources) {
	t.Helper()
	r.goroutines = runtime.NumGoroutine()
	if runtime.GOOS != "linux" {
		return r
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	r.descriptors = len(fds)
	r.mappings = bytes.Count(maps, []byte("\n"))
	r.files = bytes.Count(maps, []byte(record.Extension))
	return r
}

// givenBack checks that no more is in use than before, and returns what is.
func givenBack(t *testing.T, before resources) (after resources) {
	t.Helper()
	until(t, "goroutines to end", func() bool {
		after = inUse(t)
		return after.goroutines <= before.goroutines
	})
	// The runtime's heap and threads grow a little by themselves, and the
	// race detector maps what it likes.
	grown := after.mappings > before.mappings+20 && !sys.Race
	if after.descriptors > before.descriptors || grown || after.files != 0 {
		t.Errorf("in use are %+v, and %+v were before", after, before)
	}
	return after
}

// TestStartStopUnderTraffic starts and stops while goroutines record without
// regard to it. Every trace must be whole, and nothing may pile up.
func TestStartStopUnderTraffic(t *testing.T) {
	cycles := 60
	switch {
	case faultfs.Full():
		cycles = 200
	case faultfs.Emulated():
		cycles = 6
	case testing.Short():
		cycles = 30
	}
	perBacking(t, func(t *testing.T, backing Option) {
		tr := newTraffic(2)
		defer tr.end()
		tr.wg.Go(func() { // somebody who looks all the time
			for !tr.quit.Load() {
				if s := Stats(); Enabled() && s.Path == "" {
					t.Errorf("Stats says %+v", s)
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
		var before resources
		for i := range cycles {
			start(t, backing, shortTicks())
			want := int64(100)
			if i%10 == 0 {
				want = 50_000
			}
			until(t, "records", func() bool { s := Stats(); return s.Recorded > want || s.Lost.Total() > 0 })
			if i%3 == 0 {
				SetFilter("-plain")
			}
			stopAndCount(t)
			if i%4 == 0 {
				verify(t, Path())
			}
			if t.Failed() {
				t.Fatalf("in cycle %d: %+v", i, Stats())
			}
			if err := os.Remove(Path()); err != nil {
				t.Fatal(err)
			}
			if i == cycles/10 {
				before = inUse(t)
			}
		}
		givenBack(t, before)
	})
}

// TestEveryRecordIsCounted lets the goroutines record between Start and Stop
// only: each record that was issued must be in the trace or counted as lost.
func TestEveryRecordIsCounted(t *testing.T) {
	cycles := 30
	if testing.Short() {
		cycles = 5
	}
	perBacking(t, func(t *testing.T, backing Option) {
		tr := newTraffic(2)
		defer tr.end()
		for i := range cycles {
			tr.gate.Lock()
			for len(tr.foreign) > 0 {
				(<-tr.foreign)()
			}
			start(t, backing, shortTicks())
			before := tr.issued.Load()
			tr.gate.Unlock()
			time.Sleep(time.Duration(i%5) * time.Millisecond)
			tr.gate.Lock()
			issued := tr.issued.Load() - before
			stopAndCount(t)
			tr.gate.Unlock()
			s := Stats()
			// Where ends are lost, which are records too, there is one more.
			if lost := s.Lost.Total(); s.Recorded+lost < issued || lost == 0 && s.Recorded != issued {
				t.Errorf("%d records issued, %d recorded, lost %+v", issued, s.Recorded, s.Lost)
			}
			if s.Misuse.DoubleEnds != 0 || s.Misuse.StaleEnds > int64(cap(tr.foreign)) || s.Misuse.OtherNames != 0 {
				t.Errorf("misuse: %+v", s.Misuse)
			}
		}
	})
}
