package trace_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// ofAllQualities has scopes of 1000 ns each, of every quality and of every kind.
const ofAllQualities = `
header clock=monotonic path=go start=1000 mono=1000
state closed=1 tick=90000
chunk blocks sealed
name 2 "f"
break before=50000 after=51000
stop ticks=90000
chunk records owner=0 since=1000 flags=final,ends sealed
  task "f" g=7 start=2000 stop=3000 cpu=0/unknown
  task "f" g=7 start=4000 stop=5000 cpu=300/exact
  task "f" g=7 start=6000 stop=7000 cpu=300/likely
  task "f" g=7 start=8000 stop=9000 cpu=300/most
  task "f" g=7 start=10000 open
  pending "f" g=7 start=12000 stop=13000
  task "f" start=14000 stop=15000 cpu=0/unknown
  task "f" g=7 start=49500 stop=51500 cpu=0/unknown
`

func TestUseCPU(t *testing.T) {
	for _, c := range []struct {
		name          string
		ns            int64
		q             format.Quality
		want          [8]int64 // of the scopes, -1: unknown
		exact, atMost int
	}{
		{"nothing is known", 0, format.Unknown, [8]int64{-1, 300, 300, 300, -1, -1, -1, -1}, 1, 1},
		{"it is known", 200, format.Exact, [8]int64{200, 300, 200, 200, -1, -1, -1, -1}, 4, 0},
		{"a lower bound", 250, format.AtMost, [8]int64{250, 300, 300, 250, -1, -1, -1, -1}, 1, 2},
		{"a bound that is no lower", 400, format.AtMost, [8]int64{400, 300, 300, 300, -1, -1, -1, -1}, 1, 2},
		{"it is likely", 250, format.Likely, [8]int64{250, 300, 300, 250, -1, -1, -1, -1}, 1, 0},
		{"likely, and above a bound", 400, format.Likely, [8]int64{400, 300, 300, 300, -1, -1, -1, -1}, 1, 0},
		{"more than it took", 5000, format.Exact, [8]int64{1000, 300, 1000, 1000, -1, -1, -1, -1}, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := tracetest.OpenText(t, ofAllQualities)
			loads := 0
			tr.UseCPU(func() (trace.CPUAt, error) {
				loads++
				return func(goid uint64, from, to int64) (int64, format.Quality) {
					if goid != 7 {
						t.Errorf("asked of goroutine %d", goid)
					}
					return c.ns, c.q
				}, nil
			})
			read := func(o trace.Options) (got [8]int64, exact, atMost int) {
				i := 0
				err := tr.Events(o, func(e *trace.Event) bool {
					got[i] = -1
					if e.Quality != format.Unknown {
						got[i] = e.CPU
					}
					switch e.Quality {
					case format.Exact:
						exact++
					case format.AtMost:
						atMost++
					}
					i++
					return true
				})
				if err != nil || i != 8 {
					t.Errorf("%d events, %v", i, err)
				}
				return got, exact, atMost
			}
			if !tr.WantsCPU() {
				t.Error("it was not called, and is not wanted")
			}
			for range 2 {
				if got, exact, atMost := read(trace.Options{}); got != c.want || exact != c.exact || atMost != c.atMost {
					t.Errorf("got %v, %d exact, %d at most; want %v, %d, %d", got, exact, atMost, c.want, c.exact, c.atMost)
				}
			}
			if got, _, _ := read(trace.Options{AsRecorded: true}); got != [8]int64{-1, 300, 300, 300, -1, -1, -1, -1} {
				t.Errorf("as recorded they are %v", got)
			}
			if loads != 1 || tr.WantsCPU() {
				t.Errorf("what answers was made %d times; it is still wanted: %v", loads, tr.WantsCPU())
			}
		})
	}
}

func TestUseCPUFails(t *testing.T) {
	tr := tracetest.OpenText(t, ofAllQualities)
	want := errors.New("no")
	tr.UseCPU(func() (trace.CPUAt, error) { return nil, want })
	if err := tr.Events(trace.Options{}, func(*trace.Event) bool { return true }); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestLeftOpen checks that a scope without an end ends with its goroutine, if that is known, and is
// still reported as open; a lock stays held.
func TestLeftOpen(t *testing.T) {
	tr := tracetest.OpenText(t, `
header clock=monotonic path=go start=1000 mono=1000
state closed=1 tick=60000
chunk blocks sealed
name 2 "left"
name 3 "lock"
name 4 "other"
name 5 "unknown"
name 6 "late"
stop ticks=61000
chunk records owner=0 since=1000 flags=final,ends sealed
  task "left" g=7 start=2000 open
  hold "lock" g=7 start=3000 open | addr:1
  task "other" @a g=8 start=4000 open
  task "unknown" g=9 start=5000 open
  task "late" g=7 start=8000 open
  end "other" start=6000 begin=4000 cpu=0/unknown | loc:@a goid:8
`)
	tr.UseEnds(func(goid uint64) (int64, bool) { return 5000, goid == 7 })
	for _, o := range []trace.Options{{}, {AsRecorded: true}} {
		got := map[string]string{}
		for e := range tracetest.Events(t, tr, o) {
			got[tr.Name(e.Name)] = fmt.Sprint(e.Dur, e.Open, e.Left)
		}
		want := map[string]string{"left": "4000 true true", "lock": "58000 true false", "other": "2000 true true", "unknown": "56000 true false", "late": "53000 true false"}
		if o.AsRecorded {
			want["left"] = "59000 true false"
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", o, got, want)
		}
	}
}
