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
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// traffic runs goroutines that make all kinds of records until they are
// stopped; they can be held at a point where none of them is in a recording
// call.
type traffic struct {
	wg      sync.WaitGroup
	gate    sync.RWMutex // read-locked around each round
	quit    atomic.Bool
	issued  atomic.Int64 // records issued
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

// round issues a known number of records: a contended lock would add one, so
// each worker has its own lock.
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

// stopAndCount is stop for traces too long to keep in memory.
func stopAndCount(t *testing.T) {
	t.Helper()
	finish(t)
	n := int64(0)
	tr := each(t, Path(), func(*trace.Trace, *trace.Event) { n++ })
	if s := Stats(); s.Recorded != n || !tr.Closed() {
		t.Errorf("%d records were kept, the trace has %d, closed: %t", s.Recorded, n, tr.Closed())
	}
}

// resources counts the resources that a recording must release.
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
	maps := filetest.Read(t, "/proc/self/maps")
	r.descriptors = len(fds)
	r.mappings = bytes.Count(maps, []byte("\n"))
	r.files = bytes.Count(maps, []byte(record.Extension))
	return r
}

// givenBack checks that no more is in use than before, and returns what is in
// use.
func givenBack(t *testing.T, before resources) (after resources) {
	t.Helper()
	until(t, "goroutines to end", func() bool {
		after = inUse(t)
		return after.goroutines <= before.goroutines
	})
	// The runtime's heap and threads grow a little by themselves, and the race
	// detector maps memory as it likes.
	grown := after.mappings > before.mappings+20 && !sys.Race
	if after.descriptors > before.descriptors || grown || after.files != 0 {
		t.Errorf("in use are %+v, and %+v were before", after, before)
	}
	return after
}

// TestStartStopUnderTraffic starts and stops while goroutines keep recording.
// Every trace must be valid, and no resource may leak.
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
		tr.wg.Go(func() { // a goroutine that reads all the time
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

// TestEveryRecordIsCounted lets the goroutines record only between Start and
// Stop: each issued record must be in the trace or counted as lost.
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
			// If ends are lost, which are records too, there are more.
			if lost := s.Lost.Total(); s.Recorded+lost < issued || lost == 0 && s.Recorded != issued {
				t.Errorf("%d records issued, %d recorded, lost %+v", issued, s.Recorded, s.Lost)
			}
			if s.Misuse.DoubleEnds != 0 || s.Misuse.StaleEnds > int64(cap(tr.foreign)) || s.Misuse.OtherNames != 0 {
				t.Errorf("misuse: %+v", s.Misuse)
			}
		}
	})
}
