//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// tally sums up the findings in victims' traces.
type tally struct {
	runs   int
	begun  uint64 // scopes begun
	ended  uint64 // of those, ended
	owed   uint64 // of those, not overwritten
	open   int    // in the traces, and not ended
	lost   int64  // begins not recorded, but counted
	behind uint64 // ended, and not in the trace: only with the heap
	ends   int64  // ends that found no room, and were counted
	over   int64  // records overwritten
}

func (a *tally) add(b *tally) {
	a.runs += b.runs
	a.begun += b.begun
	a.ended += b.ended
	a.owed += b.owed
	a.open += b.open
	a.lost += b.lost
	a.behind += b.behind
	a.ends += b.ends
	a.over += b.over
}

func (a *tally) String() string {
	return fmt.Sprintf("%d runs, %d scopes begun, %d ended, %d overwritten records, %d of the rest there, %d missing, %d open; lost and counted: %d begins, %d ends",
		a.runs, a.begun, a.ended, a.over, a.owed-a.behind, a.behind, a.open, a.lost, a.ends)
}

// check compares a victim's trace with its shared counters: every scope whose end
// had returned is in the trace, ended, unless a ring has overwritten it; no scope
// is there that was not begun, or twice; one per worker may be open. With mayLack,
// scopes may be missing, or open, and are counted.
func (t *truth) check(path string, mayLack bool) (*tally, error) {
	sum := &tally{runs: 1, lost: t.lost.Load(), ends: t.lostEnds.Load()}
	for w := range t.workers {
		sum.begun += t.workers[w].begun.Load()
		sum.ended += t.workers[w].ended.Load()
	}
	tr, err := trace.OpenFile(path)
	if err != nil {
		st, statErr := os.Stat(path)
		if t.running.Load() == 0 && (errors.Is(err, fs.ErrNotExist) || statErr == nil && st.Size() == 0 || headless(path)) {
			return sum, nil // killed before there was a trace
		}
		return nil, err
	}
	defer tr.Close()
	if closed := tr.Closed(); closed != (t.stopped.Load() == 1) {
		return nil, fmt.Errorf("the trace says closed is %t", closed)
	}
	var ended, open [victimWorkers]map[uint64]int
	for w := range ended {
		ended[w], open[w] = map[uint64]int{}, map[uint64]int{}
	}
	var odd error
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind != format.KindTask || tr.Name(e.Name) != "n" {
			return true
		}
		if len(e.Args) == 0 && e.Start <= tr.Overwritten().Until { // a tick before it may be the same ns
			return true // its begin is overwritten: only its end is left
		}
		if len(e.Args) != 2 || e.Args[0].Value >= victimWorkers {
			odd = fmt.Errorf("a scope with the arguments %v", e.Args)
			return false
		}
		if w, k := e.Args[0].Value, e.Args[1].Value; e.Open {
			open[w][k]++
		} else {
			ended[w][k]++
		}
		return true
	}); err != nil || odd != nil {
		return nil, errors.Join(err, odd)
	}
	all := true // whichever gave the name first has recorded its place before continuing
	for w := range t.workers {
		all = all && t.workers[w].ended.Load() > 0
	}
	if all && !mayLack && !slices.ContainsFunc(tr.NamePlaces(0), func(p trace.Place) bool {
		return tr.Name(p.Name) == "n" && strings.HasSuffix(p.Function, ".(*truth).work")
	}) {
		return nil, fmt.Errorf("of the names %q it is not known where they are from: %+v", tr.Names(), tr.NamePlaces(0))
	}
	state := tr.State()
	sum.over = state.Overwritten
	until := int64(0) // ns of the monotonic clock since when nothing was overwritten
	if state.Until > 0 {
		until = tr.Header().StartMono + tr.Nanos(state.Until)
	}
	unended := int64(0)
	for w := range ended {
		begun, done := t.workers[w].begun.Load(), t.workers[w].ended.Load()
		for k := t.workers[w].first(until, done); k < done; k++ {
			switch {
			case ended[w][k] == 1:
			case mayLack && ended[w][k] == 0:
				sum.behind++
			case ended[w][k] == 0 && open[w][k] == 1:
				unended++
			default:
				return nil, fmt.Errorf("worker %d: scope %d of %d that had ended is there %d times ended, %d times open", w, k, done, ended[w][k], open[w][k])
			}
		}
		sum.owed += done - t.workers[w].first(until, done)
		for k, n := range ended[w] {
			if k >= begun || n != 1 {
				return nil, fmt.Errorf("worker %d: scope %d is there %d times, %d were begun", w, k, n, begun)
			}
		}
		for k, n := range open[w] {
			if k >= begun || n != 1 || ended[w][k] != 0 {
				return nil, fmt.Errorf("worker %d: scope %d is open %d times and ended %d times, %d were begun", w, k, n, ended[w][k], begun)
			}
			if k >= done || mayLack {
				sum.open++
			}
		}
	}
	if unended > sum.ends {
		return nil, fmt.Errorf("%d scopes that had ended show as open, %d ends were lost", unended, sum.ends)
	}
	if sum.open > victimWorkers && !mayLack {
		return nil, fmt.Errorf("%d scopes are open, at most %d were", sum.open, victimWorkers)
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			return nil, fmt.Errorf("the trace is damaged: %s", p.Text)
		}
	}
	return sum, nil
}

// slack is the maximum difference between the victim's clock and the trace's: more
// than the error of the trace's first knots, less than a hundredth of a victim's
// life.
const slack = 500_000 // ns

// first returns the number of the first of a worker's scopes that certainly began
// after the last overwritten record.
func (w *work) first(until int64, done uint64) uint64 {
	if until == 0 {
		return 0
	}
	first := done
	for i := range w.times {
		if n := w.times[i].n.Load(); n > 0 && w.times[i].at.Load() > until+slack {
			first = min(first, n-1)
		}
	}
	return first
}

// headless reports whether a file's header was not stored yet.
func headless(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [8]byte
	_, err = f.ReadAt(b[:], 0)
	return err == nil && b == [8]byte{}
}
