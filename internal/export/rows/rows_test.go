package rows

import (
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestEndsComeInsideOut: ends come by time, at the same time the inner one first, and a wait
// after the hold that it waited for.
func TestEndsComeInsideOut(t *testing.T) {
	var h ends
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		x := running{end: random.Int64N(50)}
		if random.IntN(5) == 0 {
			x.wait = &wait{}
		}
		h.push(x)
	}
	var before running
	for n := 1000; n > 0; n-- {
		x := h.pop()
		if n < 1000 && !before.before(&x) {
			t.Fatalf("%+v comes before %+v", before, x)
		}
		before = x
	}
	if len(h.heap) != 0 {
		t.Errorf("%d are left", len(h.heap))
	}
}

// TestLocks: a wait got the lock from the goroutine that released it last, at or before the
// grant, but after the wait began, and not from itself or a later holder.
func TestLocks(t *testing.T) {
	const mu = 0xc000010080
	const a, b, c = 1, 2, 3 // goroutines
	hold := func(goid uint64, start, end int64) *trace.Event {
		return locking(format.KindHold, mu, goid, start, end)
	}
	wait := func(goid uint64, start, end int64) *trace.Event {
		return locking(format.KindWait, mu, goid, start, end)
	}
	for _, test := range []struct {
		about string
		holds []*trace.Event
		wait  *trace.Event
		from  int64 // start of the hold; 0: none
	}{
		{"one holder", []*trace.Event{hold(a, 1, 10)}, wait(b, 5, 12), 1},
		{"at the same time", []*trace.Event{hold(a, 1, 12)}, wait(b, 5, 12), 1},
		{"two in turn", []*trace.Event{hold(a, 1, 10), hold(c, 10, 11)}, wait(b, 5, 12), 10},
		{"readers", []*trace.Event{hold(a, 1, 11), hold(c, 2, 10)}, wait(b, 5, 12), 1},
		{"who got it since", []*trace.Event{hold(a, 1, 10), hold(c, 11, 20)}, wait(b, 5, 12), 1},
		{"itself", []*trace.Event{hold(b, 1, 10)}, wait(b, 5, 12), 0},
		{"long ago", []*trace.Event{hold(a, 1, 4)}, wait(b, 5, 12), 0},
		{"nobody", nil, wait(b, 5, 12), 0},
	} {
		ls := newLocks()
		for _, e := range test.holds {
			ls.begin(e, &Row{}, e.Goid)
		}
		w := ls.begin(test.wait, &Row{}, test.wait.Goid)
		in := ls.over(&running{end: test.wait.Start + test.wait.Dur, wait: w})
		if in == nil && test.from != 0 || in != nil && int64(in.ID) != test.from {
			t.Errorf("%s: from %+v, want %d", test.about, in, test.from)
		}
	}
}

// locking returns a wait or a hold of the lock at addr.
func locking(kind format.Kind, addr, goid uint64, start, end int64) *trace.Event {
	return &trace.Event{
		Kind: kind, Goid: goid, Start: start, Dur: end - start, Loc: format.Loc(start),
		Args: []format.Slot{{Type: format.SlotAddr, Value: addr}},
	}
}

// TestLocksAreForgotten: a program may create a million locks, one after the other.
func TestLocksAreForgotten(t *testing.T) {
	ls := newLocks()
	for i := range int64(100_000) {
		ls.begin(locking(format.KindHold, uint64(i+1), 1, 10*i, 10*i+5), &Row{}, 1)
	}
	if len(ls.m) > 2*minSweep {
		t.Errorf("%d locks are kept", len(ls.m))
	}
	for i := range int64(10_000) {
		ls.begin(locking(format.KindHold, 7, 1, i, i+1), &Row{}, 1)
	}
	if n := len(ls.m[7].holds); n > 2*recentHolds {
		t.Errorf("%d holds of a lock are kept", n)
	}
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		about      string
		start, end int64
		want       bool
	}{
		{"inside both", 30, 40, true},
		{"as long as the inner", 30, 50, true},
		{"over the inner's end", 30, 60, false},
		{"where the inner ends", 50, 100, true},
		{"over the outer's end", 60, 101, false},
		{"behind", 100, 200, true},
		{"nothing, at a begin", 20, 20, true},
		{"nothing, at an end", 50, 50, true},
		{"too late", 15, 16, false},
	} {
		r := &Row{}
		r.put(10, 100)
		r.put(20, 50)
		if got := r.fits(test.start, test.end); got != test.want {
			t.Errorf("%s: %v", test.about, got)
		}
	}
}
