package timeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// placed returns states of goroutines, given as (goroutine, from, to, state, processor,
// thread). Recording was interrupted from 400 to 500.
func placed(list [][6]int64) *States {
	s := newStates(func(uint32) []string { return nil })
	for _, v := range list {
		s.add(&states.Interval{Goid: uint64(v[0]), From: v[1], To: v[2], State: states.State(v[3]), Proc: int32(v[4]), Thread: uint32(v[5])})
	}
	s.stretches = []gotrace.Stretch{{From: 0, To: 400}, {From: 500, To: 1000}}
	s.finish()
	return s
}

const syscall = int64(states.Syscall)

var twoProcs = [][6]int64{
	{1, 0, 100, cpu, 0, 11}, {1, 100, 150, locked, -1, 0}, {1, 150, 200, cpu, 1, 12},
	{2, 60, 100, runnable, -1, 0}, {2, 100, 160, syscall, 0, 11}, // it loses its processor
	{3, 120, 140, cpu, 0, 13}, {3, 180, 190, cpu, 0, 13}, {3, 600, 640, cpu, 0, 13},
}

// tracked formats the tracks of a tile.
func (d *decoded) tracked() (list []string) {
	i := 0
	for r, key := range d.ints["trackKey"] {
		start := d.ints["trackStart"][r]
		text := fmt.Sprintf("%s %d:", []string{"processor", "thread"}[key&1], key>>1)
		for range d.ints["trackCount"][r] {
			name := "idle"
			if s := d.ints["track"][i]; int(s) < len(d.States.Names) {
				name = d.States.Names[s]
			}
			text += fmt.Sprintf(" %d %s", start, name)
			if by := d.ints["trackBy"][i]; by != 0 {
				text += fmt.Sprintf(" of %d", by)
			}
			if n := d.ints["trackMany"][i]; n > 1 {
				text += fmt.Sprintf(" (%d, %d of it)", n, d.ints["trackTop"][i])
			}
			start += d.ints["trackDur"][i]
			text += ","
			i++
		}
		list = append(list, fmt.Sprintf("%s %d", text, start))
	}
	return list
}

func TestTracks(t *testing.T) {
	s := placed(twoProcs)
	whole := []string{
		"processor 0: 0 cpu of 1, 100 syscall of 2, 120 cpu of 3, 140 idle, 180 cpu of 3, 190 unknown, 600 cpu of 3, 640",
		"processor 1: 150 cpu of 1, 200",
		"thread 11: 0 cpu of 1, 100 syscall of 2, 160",
		"thread 12: 150 cpu of 1, 200",
		"thread 13: 120 cpu of 3, 140 idle, 180 cpu of 3, 190 unknown, 600 cpu of 3, 640",
	}
	slices.Sort(whole)
	for _, c := range []struct {
		from, to, res int64
		want          []string
	}{
		{0, 1000, 2, whole},
		{-1 << 62, 1 << 62, 2, whole},
		{130, 150, 2, []string{"processor 0: 120 cpu of 3, 140 idle, 180", "processor 1: 150 cpu of 1, 200", "thread 11: 100 syscall of 2, 160",
			"thread 12: 150 cpu of 1, 200", "thread 13: 120 cpu of 3, 140 idle, 180"}},
		{700, 800, 2, nil},
		{0, 1000, 64, []string{"processor 0: 0 cpu of 1, 100 idle (4, 40 of it), 190 unknown, 600 cpu of 3, 640", "processor 1: 150 cpu of 1, 200",
			"thread 11: 0 cpu of 1, 100 syscall of 2, 160", "thread 12: 150 cpu of 1, 200", "thread 13: 120 idle (3, 40 of it), 190 unknown, 600 cpu of 3, 640"}},
	} {
		d := pack(t, &Container{States: s.Tile(c.from, c.to, c.res, nil)})
		got := d.tracked()
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d to %d at %d: got\n%q, want\n%q", c.from, c.to, c.res, got, c.want)
		}
	}
	// Every interval has its place, so there are no tracks.
	tile := s.Tile(0, 1000, 0, nil)
	d := pack(t, &Container{States: tile})
	if got, want := d.ints["stateProc"], []int64{1, 0, 2, 0, 1, 1, 0, 1, 0, 1}; !slices.Equal(got, want) || d.ints["trackKey"] != nil {
		t.Errorf("the processors are %v, want %v; %q", got, want, d.tracked())
	}
	if tile.Procs != 2 || !slices.Equal(tile.Known, [][2]int64{{0, 400}, {500, 1000}}) {
		t.Errorf("%d processors; known is %v", tile.Procs, tile.Known)
	}
	if tile := s.Tile(0, 1000, 0, func(uint64) bool { return true }); tile.Known != nil {
		t.Errorf("a tile of some goroutines has all states in %v", tile.Known)
	}
}

// TestCounts: the numbers of running, ready and blocked goroutines add up.
func TestCounts(t *testing.T) {
	counts := func(s *States, from, to int64) (got [classes][]int64, tile *StateTile) {
		tile = s.Tile(from, to, 2, nil)
		d := pack(t, &Container{States: tile})
		for c, name := range []string{"countRunning", "countReady", "countBlocked"} {
			got[c] = d.ints[name]
		}
		return got, tile
	}
	got, tile := counts(placed(twoProcs), 90, 170)
	if tile.CountFrom != 90 || tile.Bin != 1 || len(got[classReady]) != 80 {
		t.Fatalf("%d bins of %d from %d", len(got[classReady]), tile.Bin, tile.CountFrom)
	}
	for at, want := range map[int][classes]int64{95: {1, 1, 0}, 110: {0, 0, 2}, 130: {1, 0, 2}, 155: {1, 0, 1}, 165: {1, 0, 0}} {
		for c := range want {
			if n := got[c][at-90]; n != want[c] {
				t.Errorf("at %d %d are of class %d, want %d", at, n, c, want[c])
			}
		}
	}

	random := rand.New(rand.NewPCG(1, 2))
	var list [][6]int64
	var want [classes]int64
	for goid := range int64(20) {
		at := random.Int64N(1000)
		for range 1000 {
			to := at + 1 + int64(random.ExpFloat64()*3000)
			c := random.IntN(3)
			list = append(list, [6]int64{goid + 1, at, to, []int64{cpu, runnable, locked}[c], -1, 0})
			want[c] += to - at
			at = to
		}
	}
	s := placed(list)
	got, tile = counts(s, 0, math.MaxInt64-1)
	for c := range got {
		sum := int64(0)
		for _, n := range got[c] {
			sum += n
			if n < 0 || n > 20*tile.Bin {
				t.Fatalf("%d ns in %d", n, tile.Bin)
			}
		}
		if sum != want[c] || len(got[c]) > countBins {
			t.Errorf("class %d: %d ns in %d bins, want %d", c, sum, len(got[c]), want[c])
		}
	}
}

// TestWhatCountsAsRunning: assisting the collector on a processor counts; what the system
// does to a thread in a system call does not, nor do the runtime's own waits.
func TestWhatCountsAsRunning(t *testing.T) {
	s := placed(nil)
	on := uint16(s.places.of(place{thread: 5, proc: 1}, 10))
	for _, c := range []struct {
		it     stateKind
		system bool
		want   class
	}{
		{stateKind{state: states.CPU, place: on}, false, classRunning},
		{stateKind{state: states.Preempted, place: on}, false, classRunning},
		{stateKind{state: states.Preempted, place: on, stack: 3}, false, classBlocked},
		{stateKind{state: states.Syscall, place: on, stack: 3}, false, classBlocked},
		{stateKind{state: states.Runnable}, false, classReady},
		{stateKind{state: states.Sleep}, false, classBlocked},
		{stateKind{state: states.GC}, false, classBlocked},
		{stateKind{state: states.GC, place: on}, false, classRunning},
		{stateKind{state: states.GC, place: on}, true, classRunning},
		{stateKind{state: states.Sleep}, true, classNone},
		{stateKind{state: states.Runnable}, true, classNone},
		{stateKind{}, false, classNone},
	} {
		if got := s.classOf(&c.it, c.system); got != c.want {
			t.Errorf("%v of the runtime's %v counts as %d, want %d", c.it.state, c.system, got, c.want)
		}
	}
}

// TestTracksMerge: a processor with the same goroutine all along has the same runs as that.
func TestTracksMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var list [][6]int64
	at := int64(5)
	for range 20_000 {
		to := at + 1 + int64(random.ExpFloat64()*300)
		list = append(list, [6]int64{7, at, to, random.Int64N(int64(states.Count)), 0, 0})
		at = to
	}
	s := placed(list)
	for _, res := range []int64{2, 64, 1024, 1 << 16} {
		for _, part := range [][2]int64{{0, at}, {at / 3, at / 2}} {
			d := pack(t, &Container{States: s.Tile(part[0], part[1], res, nil)})
			for _, same := range [][2]string{{"track", "state"}, {"trackDur", "stateDur"}, {"trackMany", "stateMany"}, {"trackTop", "stateTop"}, {"trackStart", "stateStart"}} {
				if a, b := d.ints[same[0]], d.ints[same[1]]; !slices.Equal(a, b) || len(a) == 0 {
					t.Errorf("at %d in %v the %d of %s are not the %d of %s", res, part, len(a), same[0], len(b), same[1])
				}
			}
		}
	}
}
