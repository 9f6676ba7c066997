package analysis

import (
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// TestStateIndex: between any two times, the index gives the sum over the intervals.
func TestStateIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	x := newStateIndex()
	var all []states.Interval
	at := int64(1000)
	for range 5000 {
		from := at
		if r.IntN(50) == 0 {
			from += r.Int64N(100) // nothing is known in between
		}
		at = from + 1 + r.Int64N(1000)
		v := states.Interval{Goid: 7, From: from, To: at, State: states.State(r.IntN(int(states.Count)))}
		all = append(all, v)
		x.add(&v)
	}
	naive := func(from, to int64) (sum StateTimes) {
		rest := to - from
		for _, v := range all {
			d := max(min(v.To, to)-max(v.From, from), 0)
			sum[v.State] += d
			rest -= d
		}
		sum[states.Unknown] += rest
		return sum
	}
	for range 2000 {
		from := r.Int64N(at + 2000)
		to := from + r.Int64N(1+min(at+3000-from, []int64{10, 5000, 1 << 40}[r.IntN(3)]))
		var got StateTimes
		x.between(&got, 7, from, to)
		if want := naive(from, to); got != want {
			t.Fatalf("%d to %d: %v, want %v", from, to, got, want)
		}
	}
	var got StateTimes
	x.between(&got, 8, 100, 300)
	if got[states.Unknown] != 200 || got.Sum() != 200 {
		t.Errorf("of a goroutine that is not there: %v", got)
	}
}
