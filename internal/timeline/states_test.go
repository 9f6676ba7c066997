package timeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// statesOf returns the states of goroutines, given as (goroutine, from, to, state).
func statesOf(list [][4]int64) *States {
	s := newStates(func(id uint32) []string {
		if id == 0 {
			return nil
		}
		return []string{"sync.(*Mutex).Lock mutex.go:46", fmt.Sprintf("main.f%d main.go:%d", id, id)}
	})
	for k, v := range list {
		it := states.Interval{Goid: uint64(v[0]), From: v[1], To: v[2], State: states.State(v[3]), Proc: -1}
		if it.State == states.Lock {
			it.Stack, it.By, it.ByStack, it.ReasonName, it.Thread = uint32(k+1), 99, 7, "sync", 77
		}
		s.add(&it)
	}
	s.finish()
	return s
}

// tileState is an item of a StateTile.
type tileState struct {
	goid, start, dur, state int64
	many, top, lock         int64
}

func (d *decoded) states() (list []tileState) {
	i := 0
	at := func(name string) int64 {
		if c := d.ints[name]; c != nil {
			return c[i]
		}
		return 0
	}
	for r, goid := range d.ints["stateGoid"] {
		start := d.ints["stateStart"][r]
		for range d.ints["stateCount"][r] {
			list = append(list, tileState{goid, start, at("stateDur"), at("state"), at("stateMany"), at("stateTop"), at("stateLock")})
			start += at("stateDur")
			i++
		}
	}
	return list
}

const (
	cpu      = int64(states.CPU)
	runnable = int64(states.Runnable)
	locked   = int64(states.Lock)
	unknown  = int64(states.Unknown)
)

func TestStateTile(t *testing.T) {
	s := statesOf([][4]int64{
		{5, 100, 200, cpu}, {5, 200, 250, locked}, {5, 250, 260, runnable}, {5, 260, 1000, cpu},
		{3, 50, 60, cpu}, {3, 90, 100, locked}, // a gap between them
		{5, 900, 1100, runnable}, // overlaps: the first one counts
		{5, 1100, 1100, cpu},
	})
	d := pack(t, &Container{States: s.Tile(0, 2000, 0, nil), Pending: true, Problems: []string{"p"}})
	want := []tileState{
		{goid: 3, start: 50, dur: 10, state: cpu}, {goid: 3, start: 60, dur: 30, state: unknown}, {goid: 3, start: 90, dur: 10, state: locked},
		{goid: 5, start: 100, dur: 100, state: cpu}, {goid: 5, start: 200, dur: 50, state: locked}, {goid: 5, start: 250, dur: 10, state: runnable},
		{goid: 5, start: 260, dur: 740, state: cpu}, {goid: 5, start: 1000, dur: 100, state: runnable},
	}
	if got := d.states(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	h := d.States
	if h == nil || h.Names[locked] != "lock" || !d.Pending || !slices.Equal(d.Problems, []string{"p"}) {
		t.Fatalf("%+v", d)
	}
	k := slices.IndexFunc(d.states(), func(v tileState) bool { return v == want[4] })
	var stack []string
	for _, f := range h.Stacks[d.ints["stateStack"][k]] {
		stack = append(stack, h.Frames[f])
	}
	if !slices.Equal(stack, []string{"sync.(*Mutex).Lock mutex.go:46", "main.f2 main.go:2"}) ||
		h.Reasons[d.ints["stateReason"][k]] != "sync" || d.ints["stateBy"][k] != 99 || d.ints["stateThread"][k] != 77 {
		t.Errorf("the wait: %q, %v", stack, d.ints)
	}
	// A part has what touches it, and only the selected rows.
	part := pack(t, &Container{States: s.Tile(210, 255, 0, func(goid uint64) bool { return goid != 3 })})
	if got := part.states(); !slices.Equal(got, want[4:6]) {
		t.Errorf("a part: %v", got)
	}
}

// TestStatesMerge: the state that took most of a stretch is its state, with the time of
// waiting for locks beside it.
func TestStatesMerge(t *testing.T) {
	s := statesOf([][4]int64{
		{5, 0, 30, cpu}, {5, 30, 50, locked}, {5, 50, 90, runnable}, {5, 90, 100, cpu}, // 40 each: the first of them
		{5, 100, 200, cpu}, {5, 200, 201, runnable}, {5, 201, 202, locked},
	})
	got := pack(t, &Container{States: s.Tile(0, 1000, 101, nil)}).states()
	want := []tileState{{5, 0, 100, cpu, 4, 40, 20}, {5, 100, 100, cpu, 1, 100, 0}, {5, 200, 2, runnable, 2, 1, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestStatesAtAnyResolution: merging loses nothing, and gives at most the requested number
// of items.
func TestStatesAtAnyResolution(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var list [][4]int64
	var sums [states.Count]int64
	for goid := range int64(5) {
		at := random.Int64N(1000)
		for range 5000 {
			to := at + 1 + int64(random.ExpFloat64()*300)
			state := random.Int64N(int64(states.Count))
			list = append(list, [4]int64{goid + 1, at, to, state})
			sums[state] += to - at
			at = to
		}
	}
	s := statesOf(list)
	const end = int64(math.MaxInt64 - 1)
	if res := s.ResFor(0, end, s.count()); res != 0 {
		t.Errorf("for all there are the resolution is %d", res)
	}
	for _, most := range []int64{20_000, 1000, 100, 5} {
		res := s.ResFor(0, end, most)
		got := pack(t, &Container{States: s.Tile(0, end, res, nil)}).states()
		if int64(len(got)) > most || res < 2 {
			t.Errorf("%d items at %d, want at most %d", len(got), res, most)
		}
		var dur, lock int64
		var all [states.Count]int64
		for i, v := range got {
			dur += v.dur
			lock += v.lock
			all[v.state] += v.top
			if i > 0 && got[i-1].goid == v.goid && got[i-1].start+got[i-1].dur != v.start {
				t.Fatalf("a gap before %v", v)
			}
			if v.many > 1 && v.dur >= 5*res {
				t.Errorf("%v is merged at %d", v, res)
			}
		}
		var want int64
		for _, v := range sums {
			want += v
		}
		if dur != want || lock != sums[locked] {
			t.Errorf("at %d: %d ns, %d of them locked; want %d, %d", res, dur, lock, want, sums[locked])
		}
	}
}

func TestNoStates(t *testing.T) {
	s, err := LoadStates(context.Background(), tracetest.OpenText(t, small))
	if s != nil || err != nil {
		t.Errorf("without a Go execution trace: %v, %v", s, err)
	}
}

// TestStacksOnce: stacks that are shown alike are one in a tile.
func TestStacksOnce(t *testing.T) {
	s := newStates(func(id uint32) []string {
		return [][]string{{}, {"main.f f.go:1"}, {"main.f f.go:1"}, {"main.g g.go:1"}}[id]
	})
	for i := range int64(4) {
		s.add(&states.Interval{Goid: 1, From: i, To: i + 1, State: states.Lock, Stack: uint32(i), Proc: -1})
	}
	s.finish()
	tile := s.Tile(0, 4, 0, nil)
	if want := [][]int{{}, {1}, {2}}; !reflect.DeepEqual(tile.Stacks, want) {
		t.Errorf("stacks %v, want %v", tile.Stacks, want)
	}
	d := pack(t, &Container{States: tile})
	if got, want := d.ints["stateStack"], []int64{0, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("the items are at %v, want %v", got, want)
	}
}

func TestFrameTexts(t *testing.T) {
	got := frameTexts([]*symbols.Frame{{Func: "example.com/a/b/v2.(*T).M", File: `C:\src\t.go`, Line: 7}, {Func: "main.f"}})
	if want := []string{"b.(*T).M t.go:7", "main.f"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// BenchmarkStates measures drawing ten million states as a whole.
func BenchmarkStates(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	s := newStates(func(uint32) []string { return nil })
	for goid := range uint64(16) {
		at := int64(0)
		for range 10_000_000 / 16 {
			to := at + 1 + random.Int64N(2000)
			v := states.Interval{Goid: goid + 1, From: at, To: to, State: states.State(random.IntN(int(states.Count))), Proc: -1}
			if v.State < states.Runnable {
				v.Proc, v.Thread = int32(goid), uint32(goid+1)
			}
			s.add(&v)
			at = to
		}
	}
	s.finish()
	for b.Loop() {
		s.Tile(0, 1<<40, 1<<20, nil)
	}
}
