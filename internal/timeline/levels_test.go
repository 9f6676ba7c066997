package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// laneOf returns an index with one row, given as (kind, start, dur).
func laneOf(t testing.TB, list [][3]int64) *Index {
	var events []trace.Event
	for i, e := range list {
		events = append(events, trace.Event{Kind: format.Kind(e[0]), Name: uint16(2 + i), Goid: 1, Start: e[1], Dur: e[2]})
	}
	return atOnce(t, events, 1<<20)
}

// merged returns the items of a tile as (name, start, dur, count, busy).
func merged(t testing.TB, x *Index, res int64) (list [][5]int64) {
	for _, it := range pack(t, &Container{Tile: x.Tile(0, 1<<20, res)}).items() {
		list = append(list, [5]int64{it.name, it.start, it.dur, it.count, it.busy})
	}
	return list
}

func TestMerging(t *testing.T) {
	const task, wait = int64(format.KindTask), int64(format.KindWait)
	x := laneOf(t, [][3]int64{
		{task, 0, 10},      // 2: these
		{task, 15, 40},     // 3
		{task, 60, 20},     // 4: are narrow and near, the second is the longest
		{task, 100, 64},    // 5: not narrow
		{task, 201, 5},     // 6
		{wait, 222, 6},     // 7: a wait stays separate
		{wait, 230, 3},     // 8
		{task, 250, 0},     // 9
		{task, 351, 1},     // 10: too far from the one before
		{wait, 1000, 1},    // 11: waits and others within a quarter of 64 ns
		{task, 1001, 2},    // 12
		{wait, 1003, 1},    // 13
		{task, 1010, 1000}, // 14
	})
	if got, want := merged(t, x, 100), [][5]int64{
		{3, 0, 80, 3, 70}, {5, 100, 64, 1, 64}, {6, 201, 5, 1, 5}, {7, 222, 11, 2, 9}, {9, 250, 0, 1, 0}, {10, 351, 1, 1, 1},
		{12, 1000, 4, 3, 4}, {14, 1010, 1000, 1, 1000},
	}; !slices.Equal(got, want) {
		t.Errorf("at 100 ns, which is 64\n got %v\nwant %v", got, want)
	}
	if got := merged(t, x, 1); len(got) != 13 {
		t.Errorf("at 1 ns there are %d items, want 13", len(got))
	}
	if got, want := x.ResFor(0, 1<<20, 13), int64(0); got != want {
		t.Errorf("ResFor 13 is %d, want %d", got, want)
	}
	for n := int64(2); n < 13; n++ {
		res := x.ResFor(0, 1<<20, n)
		if got := len(merged(t, x, res)); int64(got) > n {
			t.Errorf("ResFor %d is %d: %d items", n, res, got)
		}
		if res > 2 {
			if got := len(merged(t, x, res/2)); int64(got) <= n {
				t.Errorf("ResFor %d is %d, but half of it leaves %d items", n, res, got)
			}
		}
	}
}

// TestLevels: at every resolution nothing is lost and nothing long is merged. A lane has no
// more items than can be distinguished, whatever its levels are made of.
func TestLevels(t *testing.T) {
	for seed := range uint64(5) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		x := newIndex(tracetest.OpenText(t, nothing))
		now, total, n := int64(0), int64(0), 0
		grow := func(count int) {
			for range count {
				dur := rnd.Int64N(int64(1) << (1 + rnd.IntN(14)))
				e := trace.Event{Kind: format.KindTask, Name: 2, Goid: 1, Start: now, Dur: dur}
				if rnd.IntN(3) == 0 {
					e.Kind, e.Name = format.KindWait, 3
				}
				x.take(&e)
				now += dur + rnd.Int64N(100)
				total += dur
			}
			n += count
			x.arrange(now)
		}
		grow(4000)
		for round := range 3 {
			for k := range 40 {
				res := int64(1) << k
				items := pack(t, &Container{Tile: x.Tile(0, now, res)}).items()
				var count, busy int64
				for i, it := range items {
					count += it.count
					busy += it.busy
					if it.count > 1 && it.dur >= 5*res || it.busy > it.dur {
						t.Fatalf("seed %d: at %d ns %+v", seed, res, it)
					}
					if i > 0 && items[i-1].start+items[i-1].dur > it.start {
						t.Fatalf("seed %d: at %d ns %+v overlaps %+v", seed, res, items[i-1], it)
					}
				}
				if count != int64(n) || busy != total {
					t.Fatalf("seed %d: at %d ns %d scopes of %d ns, want %d of %d", seed, res, count, busy, n, total)
				}
				if most := 2*now/(res/(1<<mixed)+1) + 2; int64(len(items)) > most {
					t.Fatalf("seed %d: at %d ns %d items, want at most %d", seed, res, len(items), most)
				}
			}
			grow(100 << (2 * round)) // a few that are in no level, then many
		}
		for _, v := range x.rows[0].lanes[0].rare.levels.list {
			if v.runs.len() > n/thinner*2 {
				t.Errorf("seed %d: %d runs in the level of %d ns of %d items", seed, v.runs.len(), v.res, n)
			}
			n = v.runs.len()
		}
	}
}

// TestWaitsApart: a tile's waits among others follow the rule, whatever levels there are.
func TestWaitsApart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 2))
	l, now := &lane{}, int64(0)
	for range 20_000 {
		s := scope{kind: format.KindTask, start: now, dur: rnd.Int64N(int64(1) << (1 + rnd.IntN(10)))}
		if rnd.IntN(3) == 0 {
			s.kind = format.KindWait
		}
		l.put(&s)
		now += s.dur + rnd.Int64N(int64(1)<<rnd.IntN(8))
	}
	l.prepare()
	type part struct {
		start, end, count, longest int64
		wait                       bool
	}
	join := func(list []part, res int64, apart bool) (out []part) {
		for _, p := range list {
			n := len(out) - 1
			if n >= 0 && p.longest < res && out[n].longest < res && p.start-out[n].end < res && p.start/(4*res) == out[n].start/(4*res) && (!apart || p.wait == out[n].wait) {
				o := &out[n]
				o.end, o.count = p.end, o.count+p.count
				if p.longest > o.longest {
					o.longest, o.wait = p.longest, p.wait
				}
				continue
			}
			out = append(out, p)
		}
		return out
	}
	var items []part
	for i := range l.n {
		it := l.at(i)
		d := l.durOf(i, it)
		items = append(items, part{it.start, it.start + d, 1, d, it.kind == format.KindWait})
	}
	for k := 1; k < 20; k++ {
		res := int64(1) << k
		want := join(join(items, max(res/4, 1), false), res, true)
		var got []part
		l.runs(0, now, res, func(r *run) { got = append(got, part{r.start, r.end, int64(r.count), r.longest, r.waits()}) })
		if !slices.Equal(got, want) {
			t.Errorf("at %d: %d runs, want %d, or others", res, len(got), len(want))
		}
	}
}
