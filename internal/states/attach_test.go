package states

import (
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/deltas"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
)

func TestIndex(t *testing.T) {
	const unit = 100_000 // so long that a switch matters little
	x := newIndex(nil)
	for _, v := range []Interval{
		{From: 100, To: 200, State: CPU, On: true, Thread: 1},
		{From: 200, To: 250, State: Syscall, On: true, Thread: 1},
		{From: 250, To: 300, State: Preempted, Thread: 1},
		{From: 300, To: 400, State: CPU, On: true, Thread: 1},
		{From: 400, To: 500, State: Lock},
		{From: 500, To: 600, State: GC, On: true, Thread: 1}, // it helps
		{From: 600, To: 700, State: GC},                      // it waits
		{From: 700, To: 750, State: Running, Thread: 1},
		{From: 750, To: 760, State: Syscall, Thread: 1},
		{From: 760, To: 800, State: GC, Thread: 1},
		{From: 800, To: 1000, State: Blocked, Thread: 1},
		{From: 2000, To: 2500, State: CPU, On: true, Thread: 1},
	} {
		v.Goid, v.From, v.To = 7, v.From*unit, v.To*unit
		x.add(&v)
	}
	x.done(&Facts{Stretches: []gotrace.Stretch{{From: 0, To: 1000 * unit}, {From: 2000 * unit, To: 3000 * unit}}})
	for _, c := range []struct {
		goid     uint64
		from, to int64
		units    int64
		q        format.Quality
	}{
		{7, 100, 700, 350, format.Exact},
		{7, 150, 220, 70, format.Exact},
		{7, 210, 280, 40, format.Exact},
		{7, 400, 500, 0, format.Exact},
		{7, 0, 100, 0, format.Exact},
		{7, 550, 720, 70, format.AtMost},
		{7, 600, 1000, 100, format.AtMost},
		{7, 800, 1000, 0, format.Exact},
		{7, 900, 2100, 0, format.Unknown}, // nothing was recorded in between
		{7, 2100, 2300, 200, format.Exact},
		{7, 2900, 3100, 0, format.Unknown},
		{8, 100, 200, 0, format.Unknown},
	} {
		if ns, q := x.at(c.goid, c.from*unit, c.to*unit); ns != c.units*unit || q != c.q {
			t.Errorf("goroutine %d from %d to %d: %d (%v), want %d (%v)", c.goid, c.from, c.to, ns, q, c.units*unit, c.q)
		}
	}
	if n := x.byID[7].sure.list.Len(); n != 4 {
		t.Errorf("%d stretches are kept, want 4: what touches is one", n)
	}
}

// TestSwitchesMakeTimesLikely: each time that the system takes a thread off its CPU, the
// time by switches exceeds the thread's actual time by some microseconds.
func TestSwitchesMakeTimesLikely(t *testing.T) {
	x := newIndex(nil)
	add := func(from, to int64, s State) {
		x.add(&Interval{Goid: 7, From: from, To: to, State: s, On: s == CPU, Thread: 1})
	}
	for at := int64(0); at < 10e6; at += 1e6 { // every ms by Go's own scheduler
		add(at, at+5e5, CPU)
		add(at+5e5, at+1e6, Channel)
	}
	for at := int64(10e6); at < 20e6; at += 1e6 { // every ms by the system
		add(at, at+5e5, CPU)
		add(at+5e5, at+1e6, []State{Preempted, Blocked, Stalled, TextFault, DataFault}[at/1e6%5])
	}
	for at := int64(20e6); at < 50e6; at += 3e6 { // every 3 ms
		add(at, at+2e6, CPU)
		add(at+2e6, at+3e6, Preempted)
	}
	x.done(&Facts{Stretches: []gotrace.Stretch{{From: 0, To: 1e9}}})
	for _, c := range []struct {
		from, to int64
		want     format.Quality
	}{
		{0, 10e6, format.Exact},
		{0, 20e6, format.Exact}, // 100 µs of 10 ms: a hundredth
		{5e6, 20e6, format.Likely},
		{10e6, 20e6, format.Likely},
		{10.1e6, 10.4e6, format.Exact}, // no switch in between
		{10.5e6, 10.9e6, format.Exact}, // off the CPU all the time
		{10.4e6, 11.1e6, format.Likely},
		{20e6, 50e6, format.Exact},
	} {
		if _, q := x.at(7, c.from, c.to); q != c.want {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, q, c.want)
		}
	}
}

func TestStretches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s stretches
	var coded deltas.Bytes
	var on [10_000]bool
	for at := 0; at < len(on)-20; {
		from := at + r.IntN(3)*r.IntN(5)
		to := from + 1 + r.IntN(10)
		s.add(int64(from), int64(to), &coded)
		for i := from; i < to; i++ {
			on[i] = true
		}
		at = to
	}
	s.done(&coded)
	sum := int64(0)
	for i, b := range on {
		if got := s.until(int64(i), &coded); got != sum {
			t.Fatalf("up to %d there are %d, want %d", i, got, sum)
		}
		if b {
			sum++
		}
	}
}
