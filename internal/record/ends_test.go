//go:build !scope_off

package record_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestEndsInAnyOrder begins scopes and ends them first to last, last to first,
// and mixed.
func TestEndsInAnyOrder(t *testing.T) {
	const n = 100
	for _, c := range []struct {
		name  string
		order func(i int) int
	}{
		{"first in first out", func(i int) int { return i }},
		{"last in first out", func(i int) int { return n - 1 - i }},
		{"mixed", func(i int) int { return i * 37 % n }},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing)
				ends := make([]func(), n)
				for i := range ends {
					ends[i] = Task("s", i)
				}
				for i := range ends {
					ends[c.order(i)]()
				}
				r := stop(t)
				stops := make([]int64, n)
				for i, e := range r.events {
					if want := fmt.Sprintf("int:%d", i); e.args != want || e.Open {
						t.Fatalf("event %d is %v, want %s", i, &e, want)
					}
					stops[i] = e.Start + e.Dur
				}
				if !slices.IsSortedFunc(order(n, c.order), func(a, b int) int { return int(stops[a] - stops[b]) }) {
					t.Errorf("the ends are not in the order in which they were called")
				}
			})
		})
	}
}

func order(n int, f func(int) int) (o []int) {
	for i := range n {
		o = append(o, f(i))
	}
	return o
}

// TestEndsOnOtherPs: goroutines begin scopes, move from P to P, and end them; others
// end scopes that they began.
func TestEndsOnOtherPs(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	const workers = 8
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		ends := make(chan func(), 100)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range rounds / workers {
					outer := Task("own", w, i)
					runtime.Gosched()
					passed := Task("passed", w, i)
					if i%3 == 0 {
						time.Sleep(time.Microsecond)
					}
					ends <- passed
					outer()
					select {
					case end := <-ends:
						end()
					default:
					}
				}
			})
		}
		go func() { wg.Wait(); close(ends) }()
		for end := range ends {
			end()
		}
		r := stop(t)
		per := map[string]int{}
		for _, e := range r.events {
			if e.Open || e.name == "own" && e.EndGoid != 0 {
				t.Fatalf("not whole: %v, ended by %d", &e, e.EndGoid)
			}
			per[e.name+" "+e.args]++
		}
		if want := 2 * (rounds / workers * workers); len(per) != want || len(r.events) != want {
			t.Errorf("%d events, %d different ones, want %d", len(r.events), len(per), want)
		}
		if n := Stats().Misuse; n.DoubleEnds != 0 || n.StaleEnds != 0 || n.ForeignEnds > int64(len(per)/2) {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestLongScopes has scopes that outlive the chunks that they began in: some of those
// have been written out when they end, so their ends are apart.
func TestLongScopes(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		began := []func(){
			Task("outer"), Task("args", 1, "two", KV("three", 3)), Taskf("taskf %d", 4),
			Process("process", 5), Pending("pending", 6),
		}
		span, elsewhere := Begin("span", 7), Task("elsewhere")
		idx := chunkOf(span)
		inner := 0
		for ; record.Current.Load().Pool().State(idx) != pool.Gone; breathe(t) {
			for range atOnce {
				Task("inner")()
			}
			if inner += atOnce; inner > 1<<21 {
				t.Fatalf("after %d scopes the first chunk is in state %d", inner, record.Current.Load().Pool().State(idx))
			}
		}
		done := make(chan bool)
		go func() { elsewhere(); close(done) }()
		<-done
		span.End(KV("late", 8))
		for _, end := range slices.Backward(began) {
			end()
		}
		r := stop(t)
		var got []string
		last := r.named("inner")[inner-1].Start
		for i := range r.events {
			if e := &r.events[i]; e.name != "inner" {
				got = append(got, e.String())
				if e.Start+e.Dur < last {
					t.Errorf("%s ended at %d, before the last inner scope began at %d", e.name, e.Start+e.Dur, last)
				}
			}
		}
		want := []string{
			`task "outer"`, `task "args" depth=1 | int:1 string:"two" three=int:3`, `taskf "taskf %d" depth=2 | int:4`,
			`process "process" depth=3 | int:5`, `task "span" depth=4 | int:7 || late=int:8`, `task "elsewhere" depth=5`,
			`pending "pending" depth=4 | int:6`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("recorded\n%q, want\n%q", got, want)
		}
		if n := len(r.named("inner")); n != inner {
			t.Errorf("%d inner scopes, want %d", n, inner)
		}
	})
}

// chunkOf returns the number of the chunk that holds a span's record.
func chunkOf(s Span) int64 { return record.Current.Load().Offset(handleOf(s)) / pool.ChunkSize }

// TestSecondEndApart ends a scope twice whose chunk has been written out: the recorder
// can't detect that, and the reader takes the first end.
func TestSecondEndApart(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		s := Begin("twice")
		for idx := chunkOf(s); record.Current.Load().Pool().State(idx) != pool.Gone; breathe(t) {
			for range atOnce {
				Event("fill")
			}
		}
		s.End()
		Event("between")
		s.End()
		finish(t)
		var twice, between *seen
		tr := tracetest.OpenFile(t, Path())
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			switch tr.Name(e.Name) {
			case "twice":
				twice = &seen{Event: *e}
			case "between":
				between = &seen{Event: *e}
			}
		}
		if twice == nil || between == nil {
			t.Fatal("not found")
		}
		if twice.Open || twice.Start+twice.Dur > between.Start {
			t.Errorf("the scope ended at %d, its first end was called before %d", twice.Start+twice.Dur, between.Start)
		}
	})
}

// TestTwoEndsAtOnce: two goroutines end the same scopes, and each scope ends once. For
// some 30 ns between its check of the record and its store, an end does not see another
// one (see the package comment, Ends apart): then the trace has both, and counts it.
func TestTwoEndsAtOnce(t *testing.T) {
	const n = 5000
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		ends := make(chan func())
		done := make(chan bool)
		go func() {
			for end := range ends {
				end()
			}
			close(done)
		}()
		for i := range n {
			end := Task("s", i)
			ends <- end
			end()
		}
		close(ends)
		<-done
		finish(t)
		events := 0
		_, problems := eachAnyway(t, Path(), func(tr *trace.Trace, e *trace.Event) {
			if want := fmt.Sprintf("int:%d", events); slotsText(e.Args, tr.Name) != want || e.Open {
				t.Fatalf("event %d is %v, want it ended, %s", events, e, want)
			}
			events++
		})
		for _, p := range problems {
			if !strings.Contains(p.Text, "ended twice") || p.Count > n/100 {
				t.Errorf("problem at %d (%d times): %s", p.Offset, p.Count, p.Text)
			}
		}
		if s := Stats(); events != n || s.Recorded != n || s.Misuse.DoubleEnds > n || s.Misuse.StaleEnds != 0 || s.Lost.Total() != 0 {
			t.Errorf("%d events, %+v", events, s)
		}
	})
}
