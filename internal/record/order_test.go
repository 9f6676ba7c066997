//go:build !scope_off

package record_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestG20: goroutines record what they do in turn, alone and handing over to the next:
// the trace has it in that order, without a gap per goroutine, and no time precedes
// the one that it followed.
func TestG20(t *testing.T) {
	if faultfs.Emulated() {
		t.Skip("an emulator's counter has the same tick for a scope and what is in it")
	}
	rounds := 5_000
	if faultfs.Full() && !sys.Race {
		rounds = 200_000
	}
	var lines []string
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks(), WithLimit(NoLimit))
		const ring = 4
		var turns [ring]chan int
		for i := range turns {
			turns[i] = make(chan int)
		}
		var wg sync.WaitGroup
		for g := range ring {
			wg.Go(func() {
				for i := 0; ; i++ {
					n := <-turns[g]
					if n >= rounds {
						if n < rounds+ring-1 {
							turns[(g+1)%ring] <- n + 1
						}
						return
					}
					outer := Task("own", g, i)
					Event("turn", n)
					outer()
					turns[(g+1)%ring] <- n + 1
				}
			})
		}
		wg.Go(func() { turns[0] <- 0 })
		wg.Wait()
		finish(t)
		if lost := Stats().Lost.Total(); lost > 0 {
			t.Skipf("%d were lost: the disk did not follow", lost)
		}
		verify(t, Path())
		turn, last := int64(0), int64(-1)
		var own [ring]int64
		var ended [ring]int64
		each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
			if e.Start < last {
				t.Errorf("a record of %d ns comes after one of %d", e.Start, last)
			}
			last = e.Start
			switch tr.Name(e.Name) {
			case "turn":
				if e.Args[0].Int() != turn || e.Depth != 1 {
					t.Fatalf("turn %d comes after %d, at depth %d", e.Args[0].Int(), turn-1, e.Depth)
				}
				turn++
			case "own":
				g := e.Args[0].Value
				if e.Args[1].Int() != own[g] || e.Start < ended[g] {
					t.Fatalf("goroutine %d: scope %d at %d ns comes after %d, which ended at %d", g, e.Args[1].Int(), e.Start, own[g]-1, ended[g])
				}
				own[g]++
				ended[g] = e.Start + e.Dur
			}
		})
		if turn != int64(rounds) {
			t.Errorf("%d turns, want %d", turn, rounds)
		}
		lines = append(lines, fmt.Sprintf("%s: %d turns of %d goroutines in order", strings.TrimPrefix(t.Name(), "TestG20/"), turn, ring))
	})
	t.Logf("G20: %s", strings.Join(lines, "; "))
}

// TestG20ClockStep: the clock steps while a scope is open. The trace records between
// which moments that was, durations across it are not trusted, and everything else
// stays in order.
func TestG20ClockStep(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithHeartbeat(time.Hour)) // the recorder's own could read the clock later than the test's, and be written earlier
		r := record.Current.Load()
		beat := func() { r.Beat(r.Clock().Read(8)) }
		across := Task("across")
		from := time.Now()
		until(t, "a stretch by which the rate is known", func() bool { return time.Since(from) > 150*time.Millisecond })
		beat()
		for _, step := range []int64{5e9, -5e9} {
			r.BeatMu().Lock()
			r.Last().Mono -= step // as if the counter had stopped, or stepped back
			r.BeatMu().Unlock()
			beat()
			before := time.Now()
			until(t, "a stretch by which the rate is known", func() bool { return time.Since(before) > 150*time.Millisecond })
			beat()
			Task("after")()
			beat() // the next step comes after this
		}
		across()
		finish(t)
		verify(t, Path())
		tr := tracetest.OpenFile(t, Path())
		var names []string
		last := int64(-1)
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			names = append(names, fmt.Sprintf("%s %v", tr.Name(e.Name), e.Quality))
			if e.Start < last || e.Dur < 0 {
				t.Errorf("a scope at %d, of %d ns, after one at %d", e.Start, e.Dur, last)
			}
			last = e.Start
		}
		if len(tr.Breaks()) != 2 || len(names) != 3 || names[0] != "across unknown" {
			t.Errorf("breaks %v, scopes %q", tr.Breaks(), names)
		}
		spans := int64(0)
		for _, p := range tr.Problems() {
			if p.Damage() {
				t.Errorf("damage: %s", p.Text)
			}
			spans += p.Count
		}
		if spans != 1 {
			t.Errorf("%d scopes are said to span a step, want 1", spans)
		}
	})
	t.Log("G20: the clock steps forward and back: 2 breaks are recorded, the times of 1 scope across them are not used, all others are in order")
}
