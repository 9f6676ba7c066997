package timeline

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

const nothing = "header clock=monotonic start=1000 mono=1000\nstate closed=1\n"

// history returns random events by start: nested and overlapping scopes, some of which never
// end, and instants, on a few rows.
func history(rnd *rand.Rand, n int, end int64) []trace.Event {
	var list []trace.Event
	kinds := []format.Kind{format.KindTask, format.KindTask, format.KindTask, format.KindWait, format.KindHold, format.KindEvent, format.KindCounter}
	for range n {
		e := trace.Event{
			Kind: kinds[rnd.IntN(len(kinds))], Name: uint16(2 + rnd.IntN(4)), Goid: uint64(rnd.IntN(4)),
			Thread: uint32(rnd.IntN(3)), Start: rnd.Int64N(end),
		}
		switch e.Kind {
		case format.KindCounter:
			e.ValueType, e.Value = format.SlotInt, uint64(rnd.IntN(9))
		case format.KindEvent:
		default:
			e.Dur = rnd.Int64N(int64(1) << (1 + rnd.IntN(12)))
			if rnd.IntN(20) == 0 {
				e.Dur = rnd.Int64N(end)
			}
			if rnd.IntN(50) == 0 || e.Start+e.Dur > end {
				e.Open, e.Dur = true, end-e.Start
			} else if q := rnd.IntN(4); q > 0 {
				e.Quality, e.CPU = format.Quality(q), rnd.Int64N(e.Dur+1)
			}
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b trace.Event) int { return cmp.Compare(a.Start, b.Start) })
	for i := range list {
		list[i].Loc = format.Loc(i+1) * format.RecordSize
	}
	return list
}

// atOnce returns the index of a trace that is read at its end.
func atOnce(t testing.TB, list []trace.Event, end int64) *Index {
	x := newIndex(tracetest.OpenText(t, nothing))
	for i := range list {
		x.take(&list[i])
	}
	x.arrange(end)
	return x
}

// TestGrownEqualsLoaded: a trace read while it grew gives the same tile as one read at its
// end. Each poll returns only new items.
func TestGrownEqualsLoaded(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		const end = 1 << 16
		list := history(rnd, 400, end)
		want := pack(t, &Container{Tile: atOnce(t, list, end).Tile(0, end, 0)})

		x := newIndex(tracetest.OpenText(t, nothing))
		seen, values, open := 0, 0, 0
		var came []drawn
		polls := []int64{}
		for range rnd.IntN(40) {
			polls = append(polls, rnd.Int64N(end))
		}
		polls = append(polls, end)
		slices.Sort(polls)
		before := int64(-1)
		for _, now := range polls {
			poll(x, list, before, now)
			before = now
			tile, next, ok := x.Since(int64(seen))
			if !ok {
				t.Fatalf("seed %d: at %d what moved made the page load anew", seed, now)
			}
			seen = int(next)
			news := pack(t, &Container{Tile: tile, Open: x.Open(), Live: true})
			came = append(came, news.items()...)
			values += len(news.floats["seriesValue"])
			open = len(news.Open.Items)
		}
		got := pack(t, &Container{Tile: x.Tile(0, end, 0)})
		if a, b := sorted(got), sorted(want); !slices.Equal(a, b) {
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Fatalf("seed %d: item %d of %d: %+v\nwant, of %d: %+v", seed, i, len(a), a[i], len(b), b[min(i, len(b)-1)])
				}
			}
		}
		ended := slices.DeleteFunc(sorted(want), func(d drawn) bool { return d.flags&flagOpen != 0 })
		if came = inOrder(came); !slices.Equal(came, ended) || len(sorted(want))-len(ended) != open || values != len(want.floats["seriesValue"]) {
			t.Fatalf("seed %d: the polls returned %d that ended, %d open and %d values, want %d, %d and %d, or they differ",
				seed, len(came), open, values, len(ended), len(sorted(want))-len(ended), len(want.floats["seriesValue"]))
		}
		for _, name := range []string{"seriesName", "seriesCount", "seriesTime"} {
			if !slices.Equal(got.ints[name], want.ints[name]) {
				t.Fatalf("seed %d: %s is %v, want %v", seed, name, got.ints[name], want.ints[name])
			}
		}
		locks := func(x *Index) []string { return lockLines(pack(t, &Container{Locks: x.LockTile(0, end, 0)})) }
		if a, b := locks(x), locks(atOnce(t, list, end)); !slices.Equal(a, b) {
			t.Fatalf("seed %d: the locks are\n%s\nwant\n%s", seed, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		if a, b := x.Items(), int64(len(got.items())); a != b {
			t.Fatalf("seed %d: %d items, the tile has %d", seed, a, b)
		}
	}
}

// poll passes to x what a Follower would deliver at now: what ended since before, by end,
// then what is open.
func poll(x *Index, list []trace.Event, before, now int64) {
	x.round++
	var ended []trace.Event
	for _, e := range list {
		if over := e.Start + e.Dur; !e.Open && over > before && over <= now {
			ended = append(ended, e)
		}
	}
	slices.SortStableFunc(ended, func(a, b trace.Event) int { return cmp.Compare(a.Start+a.Dur, b.Start+b.Dur) })
	for i := range ended {
		x.add(&ended[i])
	}
	for _, e := range list {
		if e.Start <= now && (e.Open || e.Start+e.Dur > now) {
			e.Open, e.Quality, e.CPU = true, 0, 0
			e.Dur = now - e.Start
			x.begun(&e)
		}
	}
	x.gone()
	x.arrange(now)
}

func sorted(d *decoded) []drawn { return inOrder(d.items()) }

func inOrder(list []drawn) []drawn {
	slices.SortFunc(list, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.goid, b.goid), cmp.Compare(a.depth, b.depth), cmp.Compare(a.start, b.start), cmp.Compare(a.name, b.name),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.dur, b.dur), cmp.Compare(a.thread, b.thread))
	})
	return list
}

// TestLoadedIsNotTakenTwice: events that were loaded already, and that a follower delivers,
// count once.
func TestLoadedIsNotTakenTwice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	const end = 1 << 14
	list := history(rnd, 300, end)
	x := newIndex(tracetest.OpenText(t, nothing))
	x.since = end / 4
	for i := range list {
		x.take(&list[i])
	}
	x.arrange(end)
	want := pack(t, &Container{Tile: x.Tile(0, end, 0)})
	for i := range list {
		list[i].Start++ // as after the next calibration
	}
	poll(x, list, end/2, end)
	if got := pack(t, &Container{Tile: x.Tile(0, end, 0)}); !slices.Equal(got.items(), want.items()) {
		t.Errorf("%d items, want %d", len(got.items()), len(want.items()))
	}
}

// TestLanes: lanes have no overlaps, nested scopes are at the reader's depth, and a tile of
// a range has what touches it.
func TestLanes(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		const end = 1 << 16
		list := history(rnd, 300, end)
		x := atOnce(t, list, end)
		for range 10 {
			from := rnd.Int64N(end)
			to := from + rnd.Int64N(end-from)
			d := pack(t, &Container{Tile: x.Tile(from, to, 0)})
			items := d.items()
			want := 0
			for _, e := range list {
				if e.Kind != format.KindCounter && e.Start <= to && e.Start+e.Dur >= from {
					want++
				}
			}
			if len(items) != want || x.Count(from, to) != int64(want) {
				t.Fatalf("seed %d: %d items in [%d, %d], want %d, Count %d", seed, len(items), from, to, want, x.Count(from, to))
			}
			for i, it := range items[1:] {
				before := items[i]
				if before.goid == it.goid && before.depth == it.depth && before.start+before.dur > it.start {
					t.Fatalf("seed %d: %+v overlaps %+v", seed, before, it)
				}
			}
		}
	}
}

// TestLateScopes: late begins and ends in any order give valid lanes.
func TestLateScopes(t *testing.T) {
	x := newIndex(tracetest.OpenText(t, nothing))
	add := func(start, dur int64) {
		x.add(&trace.Event{Kind: format.KindTask, Goid: 1, Name: 2, Start: start, Dur: dur, Loc: format.Loc(start*100 + dur)})
		x.arrange(start + dur)
	}
	add(20, 10)
	add(40, 5)
	cursor := x.Cursor()
	add(10, 60) // around both: it was not seen while it was open
	if _, _, ok := x.Since(cursor); ok {
		t.Error("lanes moved, and the page was not asked to load anew")
	}
	var got [][3]int64
	for _, it := range pack(t, &Container{Tile: x.Tile(0, math.MaxInt32, 0)}).items() {
		got = append(got, [3]int64{it.depth, it.start, it.dur})
	}
	if want := [][3]int64{{0, 10, 60}, {1, 20, 10}, {1, 40, 5}}; !slices.Equal(got, want) {
		t.Errorf("lanes are %v, want %v", got, want)
	}
}

// TestEndThatWasReadLate: one chunk is read before another: the first has an open scope, the
// second scopes that began after its end. When its end is known, these move up.
func TestEndThatWasReadLate(t *testing.T) {
	x := newIndex(tracetest.OpenText(t, nothing))
	event := func(start, dur, loc int64, open bool) *trace.Event {
		return &trace.Event{Kind: format.KindTask, Goid: 1, Name: 2, Start: start, Dur: dur, Loc: format.Loc(loc), Open: open}
	}
	x.take(event(10, 90, 1, true))
	x.take(event(50, 10, 2, false))
	x.arrange(100)
	cursor := x.Cursor()
	x.add(event(10, 30, 1, false))
	x.arrange(110)
	var got [][3]int64
	for _, it := range pack(t, &Container{Tile: x.Tile(0, math.MaxInt32, 0)}).items() {
		got = append(got, [3]int64{it.depth, it.start, it.dur})
	}
	if want := [][3]int64{{0, 10, 30}, {0, 50, 10}}; !slices.Equal(got, want) {
		t.Errorf("lanes are %v, want %v", got, want)
	}
	if _, _, ok := x.Since(cursor); ok {
		t.Error("lanes moved, and the page was not asked to load anew")
	}
}
