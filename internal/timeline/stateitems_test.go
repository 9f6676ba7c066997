package timeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// TestItemsAreKept: coded states decode to the same values: with rows that grow at the same
// time, gaps, extreme values and more kinds than have a number.
func TestItemsAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	extreme := []uint32{0, 1, 127, 128, math.MaxInt32, math.MaxUint32}
	any := func(most int) uint32 {
		if random.IntN(20) == 0 {
			return extreme[random.IntN(len(extreme))]
		}
		return uint32(random.IntN(most))
	}
	s := newStates(nil)
	want := map[uint64][]states.Interval{}
	ends := map[uint64]int64{}
	for n := range 150_000 {
		v := states.Interval{
			Goid: uint64(random.IntN(100) * random.IntN(2)), Stack: any(2), ByStack: any(2), Thread: uint32(random.IntN(3)),
			Proc: int32(random.IntN(3)) - 1, State: states.State(random.IntN(int(states.Count))), ReasonName: fmt.Sprint(random.IntN(9)),
		}
		if n%2 == 0 { // nearly all of different kinds
			v.Stack, v.ByStack = random.Uint32(), random.Uint32()
		}
		if random.IntN(2) == 0 {
			v.By = random.Uint64() >> random.IntN(64)
		}
		end, ok := ends[v.Goid]
		if !ok {
			end = math.MinInt64 + int64(random.IntN(3))
		}
		v.From = end
		if ok && random.IntN(5) == 0 {
			v.From += 1 + random.Int64()>>(20+random.IntN(43))
			want[v.Goid] = append(want[v.Goid], states.Interval{From: end, To: v.From, Proc: -1, ReasonName: ""})
		}
		v.To = v.From + 1 + random.Int64()>>(20+random.IntN(43))
		ends[v.Goid] = v.To
		want[v.Goid] = append(want[v.Goid], v)
		s.add(&v)
	}
	s.finish()
	if n := len(s.kinds.list); n != kindsMost+1 {
		t.Errorf("%d kinds have a number, want %d", n, kindsMost+1)
	}
	intervalOf := func(c *stateCursor) states.Interval {
		place := s.places.list[c.place]
		return states.Interval{
			From: c.start, To: c.end, State: c.state, Stack: c.stack, ByStack: c.byStack, Thread: place.thread, Proc: int32(place.proc) - 1,
			By: at(s.goids.list, int(c.by)), ReasonName: s.reasons.list[c.reason],
		}
	}
	for goid, list := range want {
		r := s.byGoid[goid]
		c := s.from(r, math.MinInt64)
		for i, w := range list {
			w.Goid = 0
			if !c.next() {
				t.Fatalf("goroutine %d has %d items, want %d", goid, i, len(list))
			}
			if got := intervalOf(&c); got != w {
				t.Fatalf("item %d of goroutine %d is\n%+v, want\n%+v", i, goid, got, w)
			}
		}
		if c.next() || r.items.Len() != len(list) || r.end != list[len(list)-1].To {
			t.Errorf("goroutine %d has %d items up to %d, want %d", goid, r.items.Len(), r.end, len(list))
		}
		for range 200 { // from any moment on
			i := random.IntN(len(list))
			w := list[i]
			t0 := w.From + random.Int64N(w.To-w.From)
			c := s.from(r, t0)
			if c.next(); c.start != w.From || c.end != w.To || c.i != i+1 || s.upTo(r, t0) != i+1 {
				t.Fatalf("at %d is item %d, from %d to %d, want %d, from %d to %d", t0, c.i-1, c.start, c.end, i, w.From, w.To)
			}
		}
		first, last := list[0], list[len(list)-1]
		for _, p := range [][3]int64{
			{math.MinInt64, math.MaxInt64, int64(len(list))}, {last.To, math.MaxInt64, 0}, {last.From, math.MaxInt64, 1},
			{first.From, first.From, 1}, {first.To - 1, first.To, 2},
		} {
			if n := s.touching(r, p[0], p[1]); n != min(int(p[2]), len(list)) {
				t.Errorf("%d items of goroutine %d touch %d to %d, want %d", n, goid, p[0], p[1], p[2])
			}
		}
	}
}

// TestTracksAreKept: a track returns its stretches by time, whether they were added by time
// or not.
func TestTracksAreKept(t *testing.T) {
	for _, disorder := range []int{0, 1, 1000} {
		random := rand.New(rand.NewPCG(7, 8))
		s := newStates(nil)
		places := make([]*track, 3)
		for i := range places {
			places[i] = &track{}
		}
		var want []held
		at := int64(math.MinInt64 / 2)
		for n := range 10_000 {
			at += random.Int64() >> (20 + random.IntN(43))
			h := held{at, at + 1 + random.Int64()>>(3+random.IntN(60)), random.Uint32() >> random.IntN(32), states.State(random.IntN(int(states.Count)))}
			if random.IntN(10_000) < disorder {
				h.start -= int64(random.IntN(1000))
			}
			want = append(want, h)
			places[n/777%3].add(h, &s.coded)
		}
		for _, p := range places {
			p.finish(&s.coded)
		}
		slices.SortStableFunc(want, func(a, b held) int { return int(min(max(a.start-b.start, -1), 1)) })
		if got := slices.Collect(s.heldFrom(places, math.MinInt64)); !slices.EqualFunc(got, want, func(a, b held) bool { return a.start == b.start }) {
			t.Fatalf("disorder of %d: the %d starts are not those of the %d", disorder, len(got), len(want))
		} else if disorder == 0 && !slices.Equal(got, want) {
			t.Errorf("what was put in in order is given back otherwise")
		} else {
			sum := func(list []held) (n uint64) {
				for _, h := range list {
					n += uint64(h.end)*3 + uint64(h.row)*5 + uint64(h.state)
				}
				return n
			}
			if sum(got) != sum(want) {
				t.Errorf("disorder of %d: it is not what was put in", disorder)
			}
		}
		for range 200 {
			i := random.IntN(len(want))
			for h := range s.heldFrom(places, want[i].start) {
				if h.start > want[i].start {
					t.Fatalf("from %d on the first starts at %d", want[i].start, h.start)
				}
				break
			}
		}
	}
}
