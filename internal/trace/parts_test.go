package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// various returns traces of many kinds, by name.
func various(t *testing.T) map[string][]byte {
	all := map[string][]byte{"bulk": tracetest.Bulk(5, true)}
	for _, g := range goldens(t) {
		if g.success() {
			all[g.name] = g.bytes(t)
		}
	}
	for i, b := range small(t) {
		all[fmt.Sprint("small ", i)] = b
	}
	seeds := uint64(6)
	if testing.Short() || trace.RaceEnabled {
		seeds = 2
	}
	for seed := range seeds {
		all[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
		w := newRingWriter(seed, 20)
		for range 20_000 {
			w.step()
		}
		w.settle(seed%3 == 0)
		all[fmt.Sprint("ring ", seed)] = w.image[:w.size]
	}
	return all
}

// render returns the output of a run: a line for each event, and the problems.
func render(t *testing.T, data []byte, o trace.Options, bytesEach, workers int, parts bool) (lines []string, problems string) {
	t.Helper()
	tr := tracetest.Open(t, data)
	trace.ReadBy(tr, workers)
	o.Stretch = bytesEach
	line := func(e *trace.Event) string { return string(appendEvent(nil, tr, e)) }
	if parts {
		if err := trace.EachPart(tr, o, func() func(*trace.Part) []string {
			return func(x *trace.Part) (list []string) {
				x.Events(func(e *trace.Event) bool { list = append(list, line(e)); return true })
				return list
			}
		}, func(list []string) bool { lines = append(lines, list...); return true }); err != nil {
			t.Fatal(err)
		}
	} else {
		for e := range tracetest.Events(t, tr, o) {
			lines = append(lines, line(e))
		}
	}
	return lines, fmt.Sprint(tr.Problems())
}

// TestCuts checks that the result depends neither on how the run is cut into stretches, nor on how
// many goroutines read them. The second reader has the same result.
func TestCuts(t *testing.T) {
	for name, data := range various(t) {
		if agree(t, data); trace.RaceEnabled && !strings.Contains(name, " ") {
			continue // the detector is slow, and the goldens are small
		}
		for _, o := range []trace.Options{
			{}, {Anchors: true, Detail: trace.Tracks}, {Detail: trace.Rowless}, {From: 3000, To: 20_000}, {To: 1}, {From: 5000, To: 5010, Within: true},
		} {
			want, problems := render(t, data, o, math.MaxInt, -1, false)
			for _, cut := range []struct{ bytes, workers int }{{64, -1}, {64, 3}, {1000, 1}, {4096, 2}, {5000, 8}} {
				for _, parts := range []bool{false, true} {
					got, also := render(t, data, o, cut.bytes, cut.workers, parts)
					if !slices.Equal(got, want) {
						for i := range got {
							if i >= len(want) || got[i] != want[i] {
								t.Fatalf("%s, %+v, %+v, in parts %v: number %d of %d\n%s\nwant of %d\n%s", name, o, cut, parts, i, len(got), got[i], len(want), want[min(i, len(want)-1)])
							}
						}
						t.Fatalf("%s, %+v, %+v, in parts %v: %d events, want %d", name, o, cut, parts, len(got), len(want))
					}
					if also != problems {
						t.Fatalf("%s, %+v, %+v, in parts %v: %s\nwant %s", name, o, cut, parts, also, problems)
					}
				}
			}
		}
	}
}

// TestRunning checks that, with the parts' continuing scopes, each part knows the innermost scope
// of a row at any time, as if the trace were read as a whole.
func TestRunning(t *testing.T) {
	type scope struct {
		name       uint16
		start, end int64
		kind       format.Kind
	}
	innermost := func(list []scope, at int64) (name uint16) {
		for _, s := range list {
			if s.end > at && s.start <= at && s.kind != format.KindHold {
				name = s.name
			}
		}
		return name
	}
	isScope := func(e *trace.Event) bool {
		return e.Kind.Spec().Scope && e.Kind != format.KindPending && e.Goid != 0
	}
	for name, data := range various(t) {
		tr := tracetest.Open(t, data)
		whole := map[uint64][]scope{}
		o := trace.Options{Running: true}
		for e := range tracetest.Events(t, tr, o) {
			if isScope(e) {
				whole[e.Goid] = append(whole[e.Goid], scope{e.Name, e.Start, e.Start + e.Dur, e.Kind})
			}
		}
		for _, cut := range []int{64, 3000, 20_000} {
			trace.ReadBy(tr, 3)
			o.Stretch = cut
			until := map[uint64]int64{} // the time up to which each row was reported
			err := trace.EachPart(tr, o, func() func(*trace.Part) map[uint64][]scope {
				return func(x *trace.Part) map[uint64][]scope {
					rows := map[uint64][]scope{}
					add := func(e *trace.Event) {
						if isScope(e) {
							rows[e.Goid] = append(rows[e.Goid], scope{e.Name, e.Start, e.Start + e.Dur, e.Kind})
						}
					}
					x.Running(func(since int64, e *trace.Event) {
						if isScope(e) && rows[e.Goid] == nil {
							rows[e.Goid] = []scope{{0, since, since, format.KindHold}}
						}
						add(e)
					})
					x.Events(func(e *trace.Event) bool { add(e); return true })
					until, last := x.Until()
					if last {
						until = tr.End()
					}
					for g := range rows {
						rows[g] = append(rows[g], scope{0, until, until, format.KindHold})
					}
					return rows
				}
			}, func(rows map[uint64][]scope) bool {
				for g, list := range rows {
					from, to := until[g], list[len(list)-1].start
					if first := list[0]; first.kind == format.KindHold && first.name == 0 && first.start == first.end && first.start != from {
						t.Errorf("%s cut by %d: row %d has records from %d on, was up to %d", name, cut, g, first.start, from)
					}
					for i := range int64(40) {
						at := from + (to-from)*i/40
						if got, want := innermost(list, at), innermost(whole[g], at); got != want && at < to {
							t.Fatalf("%s cut by %d: at %d row %d of %d..%d is in %d, want %d\n%v\n%v", name, cut, at, g, from, to, got, want, list, whole[g])
						}
					}
					until[g] = to
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// breaking returns an error from some offset on, once that is set.
type breaking struct {
	*bytes.Reader
	from atomic.Int64
}

func (b *breaking) ReadAt(p []byte, off int64) (int, error) {
	return failing{b.Reader, b.from.Load()}.ReadAt(p, off)
}

// TestNoGoroutineIsLeft checks that all goroutines stop at once, however a run ends.
func TestNoGoroutineIsLeft(t *testing.T) {
	data := tracetest.Bulk(60, false)
	cut := trace.Options{Stretch: 100_000}
	before := runtime.NumGoroutine()
	open := func(r failing) *trace.Trace {
		tr, err := trace.Open(r, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		trace.ReadBy(tr, 4)
		return tr
	}
	whole := failing{bytes.NewReader(data), int64(len(data))}
	n := 0
	if err := open(whole).Events(cut, func(*trace.Event) bool { n++; return n < 5000 }); err != nil || n != 5000 {
		t.Errorf("%d events, %v", n, err)
	}
	panics := func(what string, f func()) {
		defer func() {
			if p := recover(); p != what {
				t.Errorf("recovered %v, want %s", p, what)
			}
		}()
		f()
	}
	panics("in f", func() { open(whole).Events(cut, func(*trace.Event) bool { panic("in f") }) })
	all := func(int) bool { return true }
	panics("in a part", func() {
		trace.EachPart(open(whole), cut, func() func(*trace.Part) int { return func(*trace.Part) int { panic("in a part") } }, all)
	})
	panics("in done", func() {
		trace.EachPart(open(whole), cut, func() func(*trace.Part) int { return func(*trace.Part) int { return 1 } }, func(int) bool { panic("in done") })
	})
	counts := map[int]bool{}
	for workers := -1; workers < 6; workers += 2 {
		r := &breaking{Reader: bytes.NewReader(data)}
		r.from.Store(math.MaxInt64)
		tr, err := trace.Open(r, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		trace.ReadBy(tr, workers)
		r.from.Store(int64(len(data) / 2))
		for range 2 {
			n := 0
			if err := tr.Events(cut, func(*trace.Event) bool { n++; return true }); !errors.Is(err, errDisk) {
				t.Errorf("a broken disk: %v", err)
			}
			counts[n] = true
			n = 0
			err = trace.EachPart(tr, cut, func() func(*trace.Part) int {
				return func(x *trace.Part) (n int) { x.Events(func(*trace.Event) bool { n++; return true }); return n }
			}, func(k int) bool { n += k; return true })
			if !errors.Is(err, errDisk) {
				t.Errorf("a broken disk: %v", err)
			}
			counts[n] = true
		}
	}
	if len(counts) != 1 || counts[0] {
		t.Errorf("before the disk broke there are %v events", counts)
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			var b strings.Builder
			buf := make([]byte, 1<<16)
			b.Write(buf[:runtime.Stack(buf, true)])
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, b.String())
		}
	}
}
