//go:build !scope_off

package record_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// procs sets GOMAXPROCS for a test.
func procs(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// turns runs f on n goroutines, one after the other. The waiting ones sleep in a system
// call that Go does not know of, so that each keeps its own P.
func turns(n, rounds int, f func(g int)) {
	var turn atomic.Int64
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() {
			for round := range rounds {
				for turn.Load() != int64(round*n+g) {
					holdP()
				}
				f(g)
				turn.Add(1)
			}
		})
	}
	wg.Wait()
}

// holdP sleeps for a while. It is a function at which Go can preempt.
//
//go:noinline
func holdP() {
	var ts [16]unix.Timespec
	ts[0].Nsec = 1e6
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts[0])), 0, 0)
}

// paced writes n events, no faster than there is room for them.
func paced(n int) {
	for i := range n {
		if i%1000 == 0 {
			for deadline := time.Now().Add(20 * time.Millisecond); !record.Current.Load().Pool().Spacious() && time.Now().Before(deadline); {
				time.Sleep(100 * time.Microsecond)
			}
		}
		Event("e")
	}
}

// TestRingOfManyOwners records on many more Ps than the smallest ring has room for: the
// ring is enlarged, and records that. The Go path uses fewer stripes instead.
func TestRingOfManyOwners(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		const owners, rounds, each = 100, 4, 1000
		procs(t, owners)
		start(t, backing, WithRing(MinRing), shortTicks())
		fast := fastNow()
		turns(owners, rounds, func(int) { paced(each) })
		finish(t)
		s := Stats()
		if issued := int64(owners * rounds * each); s.Recorded+s.Overwritten+s.Lost.Total() != issued || s.Lost.Total() > issued/10 {
			t.Errorf("%d issued: %+v", issued, s)
		}
		tr := tracetest.OpenFile(t, Path())
		want, why := uint32(MinRing/format.ChunkSize), false
		if fast {
			want, why = owners*record.OwnedPart, true
		}
		if n := tr.Header().Ring; n != want || tr.Lookup("ring_reason") != "" != why {
			t.Errorf("the ring has %d chunks, want %d, because %q", n, want, tr.Lookup("ring_reason"))
		}
		verify(t, Path())
	})
}

// TestIdleOwners: many Ps each leave an open chunk in an old segment, or in a ring too
// small for so many, and do not record any more. Recording continues: their chunks are
// taken from them. When they record again they take others.
func TestIdleOwners(t *testing.T) {
	if faultfs.Emulated() {
		t.Skip("an emulator prepares places more slowly than it records")
	}
	for _, c := range []struct {
		name string
		ring Option
	}{
		{"segments", WithSegments(MinSegment, 4)},
		{"ring", WithRing(MinRing)},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				procs(t, 2)
				start(t, backing, c.ring, shortTicks())
				runtime.GOMAXPROCS(60)
				r := record.Current.Load()
				open := map[int64]scopeAt{}
				spans := make([]Span, 60)
				issued := 0
				turns(60, 1, func(g int) {
					spans[g] = Begin("idle", g)
					open[chunkOf(spans[g])] = scopeAt{r.Offset(handleOf(spans[g])), handleOf(spans[g]).Start}
					n := 200
					if c.name == "segments" && g%2 == 0 {
						n = 16 * format.ChunkSize / format.RecordSize // another segment
					}
					paced(n)
					issued += 1 + n
				})
				runtime.GOMAXPROCS(2)
				t.Logf("%d chunks were left open, %d lost until then", len(open), Stats().Lost.Total())
				// Until it wraps as it should.
				paced(2 * int(MinRing) / format.RecordSize)
				before := Stats().Lost.Total()
				const n = 3 * int(MinRing) / format.RecordSize
				paced(n)
				lost := Stats().Lost.Total() - before
				if lost > int64(n)/10 {
					t.Errorf("of %d issued %d are lost when many owners are idle", n, lost)
				}
				held := 0
				for idx := range open {
					if r.Pool().State(idx) == pool.Open {
						held++
					}
				}
				t.Logf("%d of %d lost then; %d of the chunks are open still", lost, n, held)
				issued += n + 2*int(MinRing)/format.RecordSize
				runtime.GOMAXPROCS(60)
				turns(60, 1, func(g int) { spans[g].End(); Event("again"); issued++ })
				finish(t)
				s := Stats()
				if s.Recorded+s.Overwritten+s.Lost.Total() != int64(issued) || s.Misuse.DoubleEnds+s.Misuse.StaleEnds != 0 {
					t.Errorf("%d issued: %+v", issued, s)
				}
				still := int64(0)
				each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
					if tr.Name(e.Name) == "idle" && e.Open {
						still++
					}
				})
				// A segment that is held outlives younger ones, and the ends in them.
				if c.name == "ring" && still > s.Lost.Ends {
					t.Errorf("%d scopes are open, and %d ends were lost", still, s.Lost.Ends)
				}
				verify(t, Path())
			})
		})
	}
}
