package rows

import (
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestEndsComeInsideOut: by time, at the same time the inner one first, and a
// wait after the hold that it waited for.
func TestEndsComeInsideOut(t *testing.T) {
	var h ends
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		h.push(running{end: random.Int64N(50), wait: random.IntN(5) == 0})
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

// TestLocks: a wait got the lock from who released it last, be it before or at
// the grant, but not from before it waited, from itself, or from who got it since.
func TestLocks(t *testing.T) {
	const mu = 0xc000010080
	a, b, c := &Row{Number: 1}, &Row{Number: 2}, &Row{Number: 3}
	hold := func(r *Row, start, end int64) running {
		return running{lock: mu, row: r, key: uint64(r.Number), start: start, end: end, loc: format.Loc(start)}
	}
	wait := func(r *Row, start, end int64) running {
		x := hold(r, start, end)
		x.wait = true
		return x
	}
	for _, test := range []struct {
		about string
		holds []running
		wait  running
		from  int64 // start of the hold; 0: none
	}{
		{"one holder", []running{hold(a, 1, 10)}, wait(b, 5, 12), 1},
		{"at the same time", []running{hold(a, 1, 12)}, wait(b, 5, 12), 1},
		{"two in turn", []running{hold(a, 1, 10), hold(c, 10, 11)}, wait(b, 5, 12), 10},
		{"readers", []running{hold(a, 1, 11), hold(c, 2, 10)}, wait(b, 5, 12), 1},
		{"who got it since", []running{hold(a, 1, 10), hold(c, 11, 20)}, wait(b, 5, 12), 1},
		{"itself", []running{hold(b, 1, 10)}, wait(b, 5, 12), 0},
		{"long ago", []running{hold(a, 1, 4)}, wait(b, 5, 12), 0},
		{"nobody", nil, wait(b, 5, 12), 0},
	} {
		ls := newLocks()
		for i := range test.holds {
			ls.begin(&test.holds[i], false)
		}
		ls.begin(&test.wait, false)
		in := ls.over(&test.wait)
		if in == nil && test.from != 0 || in != nil && int64(in.ID) != test.from {
			t.Errorf("%s: from %+v, want %d", test.about, in, test.from)
		}
	}
}

// TestLocksAreForgotten: a program may make a lock for each of a million things.
func TestLocksAreForgotten(t *testing.T) {
	ls := newLocks()
	for i := range int64(100_000) {
		x := running{lock: uint64(i + 1), row: &Row{}, key: 1, start: 10 * i, end: 10*i + 5}
		ls.begin(&x, false)
	}
	if len(ls.m) > 2*minSweep {
		t.Errorf("%d locks are kept", len(ls.m))
	}
	x := running{lock: 7, row: &Row{}, key: 1, start: 1, end: 2}
	ls.begin(&x, false)
	for i := range 10_000 {
		x.start, x.end = int64(i), int64(i+1)
		ls.begin(&x, false)
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
