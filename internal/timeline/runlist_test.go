package timeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// randomRuns returns runs in order. wild includes numbers of any size.
func randomRuns(rnd *rand.Rand, n int, wild bool) (list []run) {
	at := int64(rnd.IntN(1000)) - 500
	size := func() int64 {
		if wild && rnd.IntN(9) == 0 {
			return rnd.Int64() >> rnd.IntN(62)
		}
		return rnd.Int64N(1 << rnd.IntN(20))
	}
	for range n {
		at += min(size(), 1<<50)
		r := run{bounds: bounds{start: at, end: at + size(), longest: size()}, busy: size() - 50, count: 1,
			name: uint16(rnd.IntN(5)), thread: uint16(rnd.IntN(3)), kind: format.KindTask, flags: uint8(rnd.IntN(9))}
		if rnd.IntN(2) == 0 {
			r.count = 1 + uint32(rnd.IntN(100))
		}
		if r.count == 1 {
			r.item = int32(rnd.IntN(1000))
		}
		if wild && rnd.IntN(4) == 0 {
			r.name, r.thread, r.kind, r.count = math.MaxUint16, uint16(rnd.Uint32()), format.KindWait, 1+rnd.Uint32N(math.MaxUint32)
			r.item, r.busy, r.longest = 0, math.MinInt64, -1
		}
		list = append(list, r)
	}
	return list
}

// TestRunList: any runs are returned unchanged.
func TestRunList(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, packedRuns - 1, packedRuns, packedRuns + 1, 5*packedRuns + 7} {
		for _, wild := range []bool{false, true} {
			want := randomRuns(rnd, n, wild)
			var x runList
			var before []int64
			items := int64(0)
			for i := range want {
				x.push(&want[i])
				before = append(before, items)
				items += int64(want[i].count)
			}
			if x.len() != n || x.items != items || x.before(n) != items {
				t.Fatalf("%d runs: it has %d, of %d items, want %d", n, x.len(), x.items, items)
			}
			for i := range want {
				if x.startOf(i) != want[i].start || x.endOf(i) != want[i].end || x.before(i) != before[i] {
					t.Fatalf("run %d of %d: %d to %d, %d items before; want %+v, %d", i, n, x.startOf(i), x.endOf(i), x.before(i), want[i], before[i])
				}
				for _, at := range []int64{want[i].start - 1, want[i].start, want[i].start + 1} {
					first := slices.IndexFunc(want, func(r run) bool { return r.start >= at })
					if first < 0 {
						first = n
					}
					if got := x.from(at); got != first {
						t.Fatalf("from %d, in %d runs: %d, want %d", at, n, got, first)
					}
				}
			}
			for range 50 {
				first := rnd.IntN(n + 1)
				end := first + rnd.IntN(n-first+1)
				var got []run
				m := newMerger(0, false, math.MinInt64, math.MaxInt64, func(r *run) { got = append(got, *r) }) // nothing joins
				x.give(m, first, end)
				m.end()
				if !slices.Equal(got, want[first:end]) {
					t.Fatalf("runs %d to %d of %d: %+v\nwant %+v", first, end, n, got, want[first:end])
				}
			}
		}
	}
}
