package deltas

import (
	"math"
	"math/rand/v2"
	"testing"
)

// element is an element of a list, with fields coded as a user of lists might.
type element struct {
	start int64
	n     uint64
	z     int64
}

// TestLists: lists that grow at the same time are read back unchanged, from any time on.
func TestLists(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	extreme := []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 127, 128, -64, -65}
	var in Bytes
	lists, want, ends := make([]List, 40), make([][]element, 40), make([]int64, 40)
	for k := range ends {
		ends[k] = math.MinInt64
	}
	for range 20_000 {
		k := int(math.Sqrt(random.Float64() * 40 * 40))
		e := element{ends[k], random.Uint64() >> random.IntN(64), extreme[random.IntN(len(extreme))]}
		if len(want[k]) > 0 {
			e.start += int64(random.Uint64() >> (8 + random.IntN(56))) // the same, or later
		}
		l := &lists[k]
		if l.Begin(e.start, &in) {
			ends[k] = e.start
		}
		l.Put(uint64(e.start - ends[k]))
		l.Put(e.n)
		l.PutSigned(e.z)
		ends[k] = e.start
		want[k] = append(want[k], e)
	}
	for k := range lists {
		l := &lists[k]
		l.End(&in)
		l.End(&in)
		if l.Len() != len(want[k]) || l.Len() > 0 && l.Start() != want[k][0].start {
			t.Fatalf("list %d has %d elements, want %d", k, l.Len(), len(want[k]))
		}
		var r Reader
		var at int64
		for i, w := range want[k] {
			if i%Block == 0 {
				r, at = l.Block(i, &in)
			}
			at += int64(r.Next())
			if got := (element{at, r.Next(), r.NextSigned()}); got != w {
				t.Fatalf("element %d of list %d is %v, want %v", i, k, got, w)
			}
			b := l.Find(w.start)
			if b%Block != 0 || want[k][b].start > w.start || b+Block < len(want[k]) && want[k][b+Block].start <= w.start {
				t.Fatalf("element %d of list %d is in the block of %d", i, k, b)
			}
		}
		if l.Len() > 0 && (l.Find(math.MinInt64) != 0 || l.Find(math.MaxInt64) != (l.Len()-1)/Block*Block) {
			t.Errorf("list %d: %d before all, %d before the end", k, l.Find(math.MinInt64), l.Find(math.MaxInt64))
		}
	}
	if len(in.chunks) < 8 {
		t.Errorf("%d chunks", len(in.chunks))
	}
}
