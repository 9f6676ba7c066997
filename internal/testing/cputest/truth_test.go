//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"testing"

	xtrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/trace"
)

// checked is a scope with what is known of it.
type checked struct {
	trace.Event
	inside
	truth
	drift   int64 // see recorded.drift
	drifted bool  // it is known
}

// truth has the values of a scope in the Go trace.
type truth struct {
	most   int64 // ns running or in a system call between the outer marks
	least  int64 // ns of CPU time of the computing within, where the goroutine did not yield
	yields int   // how often the goroutine left its thread between the inner marks
	around int   // and how often between the outer ones
	hops   int   // how often it came back on another thread
	scans  int   // how often it left for its stack to be scanned, which does not count as a yield
	lost   int   // how often it lost its P in a system call, which does not count if it gets one at once
}

// goTruth has the values of one goroutine in the Go trace.
type goTruth struct {
	scopes []*goScope // by begin
	burns  []burn     // by begin; they don't nest
}

type goScope struct {
	truth
	outer, inner state // at the begins
}

// burn is a stretch of computing.
type burn struct {
	whole bool       // the goroutine did not yield in it
	in    []*goScope // the scopes that were open
}

// state has the clocks of a goroutine.
type state struct {
	at      int64
	running int64
	syscall int64
	yields  int
	hops    int
	scans   int
	lost    int
}

// follower follows one goroutine through the Go trace.
type follower struct {
	goTruth
	state
	now    xtrace.GoState
	on     xtrace.ThreadID
	open   []*goScope
	yields int // when the stretch of computing began
}

// advance moves the goroutine's clocks to t.
func (f *follower) advance(t int64) {
	switch d := t - f.at; f.now {
	case xtrace.GoRunning:
		f.running += d
	case xtrace.GoSyscall:
		f.syscall += d
	}
	f.at = t
}

func (f *follower) transition(e xtrace.Event) {
	f.advance(int64(e.Time()))
	st := e.StateTransition()
	from, to := st.Goroutine()
	if from.Executing() && !to.Executing() {
		f.state.yields++
		switch {
		case from == xtrace.GoSyscall:
			f.lost++
		case to == xtrace.GoWaiting && st.Reason == "preempted":
			f.scans++
		}
	}
	if to.Executing() && !from.Executing() {
		if f.on != e.Thread() {
			f.hops++
		}
		f.on = e.Thread()
	}
	f.now = to
}

func (f *follower) mark(t int64, what string) {
	f.advance(t)
	switch what {
	case outerBegin:
		s := &goScope{outer: f.state}
		f.scopes = append(f.scopes, s)
		f.open = append(f.open, s)
	case innerBegin:
		f.top().inner = f.state
	case innerEnd:
		s := f.top()
		s.yields = f.state.yields - s.inner.yields
	case outerEnd:
		s := f.top()
		s.most = f.running + f.syscall - s.outer.running - s.outer.syscall
		s.around = f.state.yields - s.outer.yields
		s.hops = f.hops - s.outer.hops
		s.scans = f.scans - s.outer.scans
		s.lost = f.lost - s.outer.lost
		f.open = f.open[:len(f.open)-1]
	case burnBegin:
		f.yields = f.state.yields
	case burnEnd:
		f.burns = append(f.burns, burn{f.yields == f.state.yields, append([]*goScope(nil), f.open...)})
	}
}

func (f *follower) top() *goScope { return f.open[len(f.open)-1] }

// readGoTrace follows all goroutines through the Go trace.
func readGoTrace(t *testing.T, path string) map[uint64]*goTruth {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rd, err := xtrace.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	all := map[xtrace.GoID]*follower{}
	get := func(id xtrace.GoID) *follower {
		f := all[id]
		if f == nil {
			f = &follower{}
			all[id] = f
		}
		return f
	}
	for {
		e, err := rd.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind() {
		case xtrace.EventStateTransition:
			if r := e.StateTransition().Resource; r.Kind == xtrace.ResourceGoroutine {
				get(r.Goroutine()).transition(e)
			}
		case xtrace.EventLog:
			get(e.Goroutine()).mark(int64(e.Time()), e.Log().Category)
		}
	}
	truths := map[uint64]*goTruth{}
	for id, f := range all {
		if len(f.open) != 0 {
			t.Fatalf("goroutine %d has scopes without an end in the Go trace", id)
		}
		truths[uint64(id)] = &f.goTruth
	}
	return truths
}

// join puts together what the two traces and the workers know.
func (r *run) join(truths map[uint64]*goTruth, rec *recorded) []checked {
	r.t.Helper()
	var all []checked
	for _, w := range r.workers {
		g, es := truths[w.goid], rec.scopes[w.goid]
		delete(rec.scopes, w.goid)
		if g == nil || len(g.scopes) != len(w.scopes) || len(es) != len(w.scopes) || len(g.burns) != len(w.burns) {
			r.t.Fatalf("goroutine %d: %d scopes and %d burns are %d scopes in the trace, and in the Go trace %+v", w.goid, len(w.scopes), len(w.burns), len(es), g)
		}
		for i, b := range g.burns {
			for _, s := range b.in {
				if b.whole {
					s.least += w.burns[i]
				}
			}
		}
		for i, e := range es {
			c := checked{Event: e, inside: w.scopes[i], truth: g.scopes[i].truth}
			c.drift, c.drifted = rec.drift(&e, c.first)
			all = append(all, c)
		}
	}
	for goid, es := range rec.scopes {
		r.t.Errorf("%d scopes of goroutine %d, which had none", len(es), goid)
	}
	return all
}
