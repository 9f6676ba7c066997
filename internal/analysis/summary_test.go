package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Names for the tests.
const (
	nameA = iota + format.FirstName
	nameB
	nameC
	lockL
	lockM
	rowR
	rowS
)

var names = map[uint16]string{nameA: "A", nameB: "B", nameC: "C", lockL: "L", lockM: "M", rowR: "R", rowS: "S"}

func scope(name uint16, goid uint64, start, end int64) trace.Event {
	return trace.Event{Kind: format.KindTask, Name: name, Goid: goid, Start: start, Dur: end - start}
}

func kind(k format.Kind, e trace.Event) trace.Event {
	e.Kind = k
	return e
}

func open(e trace.Event) trace.Event {
	e.Open = true
	return e
}

func cpu(e trace.Event, q format.Quality, ns int64) trace.Event {
	e.Quality, e.CPU = q, ns
	return e
}

func track(e trace.Event, name uint16) trace.Event {
	e.Track = name
	return e
}

func summarize(o SummaryOptions, events ...trace.Event) *Summary {
	s := NewSummary(o)
	for i := range events {
		s.Add(&events[i])
	}
	s.Finish()
	return s
}

// selfs formats the self times as "A=3 B=7", those of open scopes after a +.
func selfs(s *Summary) string {
	var b []string
	for _, st := range s.Stats {
		text := fmt.Sprintf("%s=%d", names[st.Name], st.Self)
		if st.OpenSelf > 0 {
			text += fmt.Sprintf("+%d", st.OpenSelf)
		}
		b = append(b, text)
	}
	return strings.Join(b, " ")
}

func TestSelf(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	for _, test := range []struct {
		about  string
		events []trace.Event
		want   string
	}{
		{"alone", []trace.Event{scope(nameA, 1, 0, 10)}, "A=10"},
		{"a child", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 2, 5)}, "A=7 B=3"},
		{"a child as long as its parent", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 0, 10)}, "A=0 B=10"},
		{"children in a row", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 0, 5), scope(nameB, 1, 5, 10)}, "A=0 B=10"},
		{"grandchild", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 1, 9), scope(nameC, 1, 2, 4)}, "A=2 B=6 C=2"},
		{"recursion", []trace.Event{scope(nameA, 1, 0, 10), scope(nameA, 1, 1, 9), scope(nameA, 1, 2, 4)}, "A=10"},
		{"other goroutine", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 2, 2, 5)}, "A=10 B=3"},
		{"overlap", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 5, 15)}, "A=5 B=10"},
		{"overlap, then the rest of the first", []trace.Event{
			scope(nameA, 1, 0, 20), scope(nameB, 1, 5, 12), scope(nameC, 1, 8, 10)}, "A=13 B=5 C=2"},
		{"three that overlap", []trace.Event{scope(nameA, 1, 0, 6), scope(nameB, 1, 2, 8), scope(nameC, 1, 4, 5)}, "A=2 B=5 C=1"},
		{"a gap", []trace.Event{scope(nameA, 1, 0, 3), scope(nameA, 1, 7, 9)}, "A=5"},
		{"a wait inside", []trace.Event{scope(nameA, 1, 0, 10), kind(wait, scope(lockL, 1, 2, 5))}, "A=7"},
		{"a hold inside", []trace.Event{scope(nameA, 1, 0, 10), kind(hold, scope(lockL, 1, 2, 5))}, "A=10"},
		{"a pending scope inside", []trace.Event{scope(nameA, 1, 0, 10), kind(format.KindPending, scope(nameB, 1, 5, 5))}, "A=10"},
		{"an open parent", []trace.Event{open(scope(nameA, 1, 0, 10)), scope(nameB, 1, 2, 5)}, "A=0+7 B=3"},
		{"one open, one not", []trace.Event{scope(nameA, 1, 0, 10), open(scope(nameA, 1, 10, 30))}, "A=10+20"},
		{"no duration", []trace.Event{scope(nameA, 1, 0, 10), scope(nameB, 1, 5, 5)}, "A=10 B=0"},
		{"unknown goroutine", []trace.Event{scope(nameA, 0, 0, 10), scope(nameB, 0, 2, 5)}, "A=0 B=0"},
	} {
		if got := selfs(summarize(SummaryOptions{}, test.events...)); got != test.want {
			t.Errorf("%s: %s, want %s", test.about, got, test.want)
		}
	}
}

func TestSelfUnknownIsCounted(t *testing.T) {
	s := summarize(SummaryOptions{}, scope(nameA, 0, 0, 10), scope(nameA, 1, 0, 10))
	if st := s.Stats[0]; st.NoSelf != 1 || st.Count != 2 || st.Self != 10 {
		t.Errorf("%+v", st)
	}
}

// TestSelfIsPartOfTotal: open scopes are in neither, whatever is selected.
func TestSelfIsPartOfTotal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var events []trace.Event
		at := int64(0)
		// Each scope is in the one before it, and from one of them on they are open.
		for depth, ended := int64(0), rnd.Int64N(6); depth < 6; depth++ {
			at += rnd.Int64N(50)
			e := track(scope(uint16(nameA+rnd.IntN(3)), 1, at, 1000-depth*10), rowR)
			if e.Open = depth < ended; e.Open {
				e.Dur = 1000 - e.Start
			}
			events = append(events, e)
		}
		for _, o := range []SummaryOptions{{}, {From: 200}, {From: 200, To: 990}, {ByTrack: true}, {ByTrack: true, From: 200}} {
			for _, st := range summarize(o, events...).Stats {
				if st.Self > st.Total || st.OpenSelf > st.OpenTime {
					t.Fatalf("%+v: self %d of %d, of open ones %d of %d", o, st.Self, st.Total, st.OpenSelf, st.OpenTime)
				}
			}
		}
	}
}

func TestSelfWithinRange(t *testing.T) {
	got := selfs(summarize(SummaryOptions{From: 4, To: 8}, scope(nameA, 1, 0, 10), scope(nameB, 1, 3, 5)))
	if got != "A=3 B=1" {
		t.Errorf("%s, want A=3 B=1", got)
	}
}

// TestSelfAddsUp draws rows of scopes that nest and overlap at random: the self times of a
// row add up to the time that it was in any scope.
func TestSelfAddsUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var events []trace.Event
		for range 1 + rnd.IntN(150) {
			start := rnd.Int64N(1000)
			events = append(events, scope(uint16(nameA+rnd.IntN(3)), 1+rnd.Uint64N(3), start, start+rnd.Int64N(200)))
		}
		slices.SortFunc(events, func(a, b trace.Event) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur))
		})
		var want, got int64
		var covered [4][1200]bool
		for _, e := range events {
			for ns := e.Start; ns < e.Start+e.Dur; ns++ {
				if !covered[e.Goid][ns] {
					covered[e.Goid][ns] = true
					want++
				}
			}
		}
		for _, st := range summarize(SummaryOptions{}, events...).Stats {
			if st.Self < 0 || st.Self > st.Total {
				t.Fatalf("self %d of total %d", st.Self, st.Total)
			}
			got += st.Self
		}
		if got != want {
			t.Fatalf("self times add up to %d, want %d: %+v", got, want, events)
		}
	}
}

// TestRowsMemory adds events for which memory would grow without bound if nothing were
// dropped: goroutines that live for one scope, and scopes each of which outlasts the begin
// of the next, so that the row is never empty.
func TestRowsMemory(t *testing.T) {
	s := NewSummary(SummaryOptions{})
	for i := range int64(100_000) {
		e := scope(nameA, uint64(10+i), 10*i, 10*i+15)
		s.Add(&e)
		e = scope(nameB, 1, 10*i, 10*i+15)
		s.Add(&e)
		if n := s.rows.table.n; n > 2*minSweep {
			t.Fatalf("%d rows kept after %d goroutines", n, i)
		}
		if n := len(s.rows.table.get(1).stack); n > 2*minSweep {
			t.Fatalf("%d scopes kept after %d", n, i)
		}
	}
	s.Finish()
	if got := selfs(s); got != "A=1500000 B=1000005" {
		t.Errorf("self %s", got)
	}
}

func TestStats(t *testing.T) {
	s := summarize(SummaryOptions{},
		cpu(scope(nameA, 1, 0, 100), format.Exact, 90),
		cpu(scope(nameA, 1, 100, 300), format.Likely, 50),
		cpu(scope(nameA, 1, 300, 600), format.AtMost, 250),
		scope(nameA, 1, 600, 1000),
		open(scope(nameA, 1, 1000, 1700)),
		cpu(kind(format.KindProcess, scope(nameA, 2, 1000, 1100)), format.Exact, 180),
		kind(format.KindEvent, scope(nameB, 1, 1200, 1200)),
	)
	all := s.Stats
	if len(all) != 2 || all[0].Process || !all[1].Process {
		t.Fatalf("%d groups", len(all))
	}
	a := all[0]
	if a.Count != 4 || a.Total != 1000 || a.Open != 1 || a.OpenTime != 700 || a.Mean() != 250 || a.Times.Max() != 400 || a.Times.Min() != 100 {
		t.Errorf("%+v", a)
	}
	if a.CPU != 140 || a.CPUWall != 300 || a.AtMost != 250 || a.AtMostWall != 300 {
		t.Errorf("CPU %d of %d, at most %d of %d", a.CPU, a.CPUWall, a.AtMost, a.AtMostWall)
	}
	if share, ok := a.Coverage(); !ok || share != 0.3 {
		t.Errorf("coverage %v %v", share, ok)
	}
	if ratio, ok := a.PerWall(); !ok || ratio != 140.0/300 {
		t.Errorf("CPU / wall %v %v", ratio, ok)
	}
	if p, ok := all[1].PerWall(); !ok || p != 1.8 {
		t.Errorf("process: CPU / wall %v %v", p, ok)
	}
	var none Stats
	if _, ok := none.Coverage(); ok || none.Mean() != 0 {
		t.Error("an empty group has a coverage or a mean")
	}
	if _, ok := none.PerWall(); ok {
		t.Error("an empty group has a CPU / wall")
	}
}

func TestByTrack(t *testing.T) {
	s := summarize(SummaryOptions{ByTrack: true},
		track(scope(nameA, 1, 0, 10), rowR),
		track(scope(nameB, 1, 2, 5), rowR),
		track(cpu(kind(format.KindProcess, scope(nameC, 1, 10, 20)), format.Exact, 40), rowR),
		track(scope(nameA, 2, 0, 4), rowR),
		track(kind(format.KindWait, scope(lockL, 3, 0, 50)), rowS),
		track(scope(nameA, 3, 60, 70), rowS),
	)
	all := s.Stats
	if len(all) != 2 || all[0].Name != rowR || all[1].Name != rowS {
		t.Fatalf("%d groups", len(all))
	}
	if r := all[0]; r.Count != 3 || r.Total != 24 || r.Self != 24 || r.CPUWall != 0 {
		t.Errorf("R: %+v", r)
	}
	if r := all[1]; r.Count != 1 || r.Total != 10 || r.Self != 10 {
		t.Errorf("S: %+v", r)
	}
}

func TestKeep(t *testing.T) {
	s := summarize(SummaryOptions{Keep: func(e *trace.Event) bool { return e.Name == nameA }},
		scope(nameA, 1, 0, 10), scope(nameB, 1, 2, 5), kind(format.KindHold, scope(lockL, 1, 2, 3)))
	if got := selfs(s); got != "A=7" || len(s.Locks) != 0 {
		t.Errorf("%s and %d locks, want A=7, whose child counts though it is not shown", got, len(s.Locks))
	}
}

// TestClockStep: a scope across a step of the clock is counted, but its time is in no sum.
func TestClockStep(t *testing.T) {
	s := summarize(SummaryOptions{Breaks: Breaks{{From: 20, To: 1000}}},
		scope(nameA, 1, 0, 10), scope(nameA, 1, 15, 1005), kind(format.KindWait, scope(lockL, 1, 16, 1004)),
		kind(format.KindHold, scope(lockL, 1, 1004, 1005)), scope(nameA, 1, 1010, 1020))
	if a := s.Stats[0]; a.Across != 1 || a.Count != 2 || a.Total != 20 || a.Self != 20 || a.Times.Max() != 10 {
		t.Errorf("%+v", a)
	}
	if l := s.Locks[0]; l.Waits != (Periods{Across: 1}) || l.Holds.Total != 1 {
		t.Errorf("%+v", l)
	}
}

func TestInstantsAndCounters(t *testing.T) {
	at := func(k format.Kind, name uint16, ns int64) trace.Event { return kind(k, scope(name, 1, ns, ns)) }
	value := func(name uint16, ns int64, typ format.SlotType, bits uint64) trace.Event {
		e := at(format.KindCounter, name, ns)
		e.ValueType, e.Value = typ, bits
		return e
	}
	s := summarize(SummaryOptions{Keep: func(e *trace.Event) bool { return e.Name != nameC }},
		at(format.KindEvent, nameA, 5), at(format.KindEvent, nameA, 9), at(format.KindPending, nameA, 9), open(at(format.KindPending, nameA, 10)),
		at(format.KindEvent, nameC, 9),
		value(nameB, 1, format.SlotInt, 1<<64-2), value(nameB, 2, format.SlotUint, 7), value(nameB, 3, format.SlotFloat, math.Float64bits(0.5)),
	)
	if is := s.Instants; len(is) != 2 || *is[0] != (Instants{nameA, format.KindEvent, 2, 0, 5, 9}) || *is[1] != (Instants{nameA, format.KindPending, 1, 1, 9, 9}) {
		t.Errorf("%+v", is)
	}
	if cs := s.Counters; len(cs) != 1 || *cs[0] != (Counter{nameB, 3, -2, 7, 0.5}) {
		t.Errorf("%+v", cs)
	}
	if len(s.Stats) != 0 {
		t.Error("instants among the scopes")
	}
}
