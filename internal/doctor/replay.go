package doctor

import "container/heap"

// A replay repeats the goroutines' work on the same number of cores, in order of readiness,
// and returns the time at which the last of it is done. One replay changes nothing, another
// removes something: the difference is the gain of removing it. Where all cores are busy,
// the gain is less than the waits that go away. Where all goroutines wait for another one,
// it is nothing.
//
// The work of a goroutine is a list of steps (script.go). A wait in the run queue is no
// step, unless a core was free: it results from the replay. The order in which goroutines
// acquire a lock stays as it was.

// replayed is the part of the model that replays need.
type replayed struct {
	scripts []script
	edges   int
	cores   int
	last    int   // index of the script whose end is the end of the run
	time    int64 // ns of the replay with nothing removed
	real    int64 // ns of the run
}

// removal selects what a replay leaves out. Its zero value leaves out nothing.
type removal struct {
	skip  func(sc *script, s *step) bool    // steps that take no time
	scale func(sc *script, s *step) float64 // factor for the time of a run step; nil: unchanged
	cores int                               // 0: unchanged
}

// time returns the ns of a run step.
func (x *removal) time(sc *script, s *step) int64 {
	switch {
	case x.skip != nil && x.skip(sc, s):
		return 0
	case x.scale != nil:
		return int64(float64(s.ns) * x.scale(sc, s))
	}
	return s.ns
}

// wait reports whether a step that waits takes no time.
func (x *removal) wait(sc *script, s *step) bool {
	return x.skip != nil && x.skip(sc, s)
}

// gainOf returns the part of the time, on average, by which the goroutines for which meant
// returns true end earlier under x. Where they share their work, that is the gain of the
// run: which of them did more than the others and ended last was chance.
func (r *replayed) gainOf(x removal, of func(g *gor) bool) float64 {
	mean := func(x removal) (sum float64) {
		ends := make([]int64, len(r.scripts))
		for i := range ends {
			ends[i] = -1
		}
		t, _ := r.play(x, ends)
		n := 0
		for i := range r.scripts {
			if of(r.scripts[i].g) {
				if ends[i] < 0 {
					ends[i] = t
				}
				sum += float64(ends[i])
				n++
			}
		}
		return sum / float64(max(n, 1))
	}
	was, is := mean(removal{}), mean(x)
	if was <= 0 || is > was {
		return 0
	}
	return 1 - is/was
}

// gain returns the part of the time, 0 to 1, by which the run is shorter under x; 0 where
// nothing could be replayed.
func (r *replayed) gain(x removal) float64 {
	if r == nil {
		return 0
	}
	t := r.do(x)
	if t < 0 || t >= r.time {
		return 0
	}
	return 1 - float64(t)/float64(r.time)
}

// due is the time at which a player continues.
type due struct {
	time int64
	seq  int64
	p    int
	core bool // it holds a core until then
}

type dues []due

func (d dues) Len() int { return len(d) }
func (d dues) Less(i, j int) bool {
	return d[i].time < d[j].time || d[i].time == d[j].time && d[i].seq < d[j].seq
}
func (d dues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dues) Push(x any)   { *d = append(*d, x.(due)) }
func (d *dues) Pop() any {
	x := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return x
}

// do replays and returns the ns until the last script is done; -1 if that does not happen.
func (r *replayed) do(x removal) int64 {
	t, _ := r.play(x, nil)
	return t
}

// play is like do, and also returns the ns in which exactly one core was in use. If ends is
// not nil, it stores there the time at which each script is done, and leaves those of
// unfinished scripts unchanged.
func (r *replayed) play(x removal, ends []int64) (time, one int64) {
	y := r.player(x, ends)
	for !y.over {
		if y.free > 0 && y.head < len(y.ready) {
			y.free--
			y.advance(y.first())
			continue
		}
		if len(y.due) == 0 {
			return -1, 0
		}
		d := heap.Pop(&y.due).(due)
		if y.free == y.cores-1 {
			y.one += d.time - y.now
		}
		y.now = d.time
		if d.core {
			y.advance(d.p)
		} else {
			y.ready = append(y.ready, d.p)
		}
	}
	return y.now, y.one
}

// player plays scripts once. Its slices are indexed like replayed.scripts, unless noted.
type player struct {
	r      *replayed
	x      removal
	cores  int
	free   int   // free cores
	now    int64 // ns
	one    int64 // ns in which exactly one core was in use
	over   bool  // the last script is done
	next   []int
	woken  []bool  // by edge
	waiter []int32 // by edge: the waiter, plus one
	due    dues
	seq    int64 // last seq in due
	ready  []int // indexes of scripts that want a core, from head on
	head   int
	ends   []int64 // end of each script; nil: not wanted
}

func (r *replayed) player(x removal, ends []int64) *player {
	y := &player{r: r, x: x, cores: r.cores, next: make([]int, len(r.scripts)), woken: make([]bool, r.edges), waiter: make([]int32, r.edges), ends: ends}
	if x.cores > 0 {
		y.cores = x.cores
	}
	y.free = y.cores
	for p := range r.scripts {
		if e := r.scripts[p].begin; e >= 0 {
			y.waiter[e] = int32(p) + 1
		} else {
			y.later(r.scripts[p].late, p, false)
		}
	}
	return y
}

// later continues p after ns, with the core that it has, or when it gets one.
func (y *player) later(ns int64, p int, core bool) {
	y.seq++
	heap.Push(&y.due, due{y.now + ns, y.seq, p, core})
}

// first removes and returns the player that has wanted a core for the longest time.
func (y *player) first() int {
	p := y.ready[y.head]
	if y.head++; y.head > 1024 && 2*y.head > len(y.ready) {
		y.ready = append(y.ready[:0], y.ready[y.head:]...)
		y.head = 0
	}
	return p
}

// lets gives p's core to the next player that wants one, and reports whether there is one.
// It is called for steps whose wait is removed: otherwise one goroutine would do all its
// work before those that shared the cores with it, and goroutines that wait for the others
// would come last.
func (y *player) lets(p int) bool {
	if len(y.ready) == y.head {
		return false
	}
	y.ready = append(y.ready, p)
	y.free++
	return true
}

// advance runs p, which has a core, until a step takes time or waits.
func (y *player) advance(p int) {
	sc := &y.r.scripts[p]
	for y.next[p] < len(sc.steps) {
		s := &sc.steps[y.next[p]]
		y.next[p]++
		if y.stops(p, sc, s) {
			return
		}
	}
	y.free++
	if y.ends != nil {
		y.ends[p] = y.now
	}
	y.over = p == y.r.last
}

// stops does a step of p, and reports whether p stops for it.
func (y *player) stops(p int, sc *script, s *step) bool {
	switch s.kind {
	case stepRun:
		ns := y.x.time(sc, s)
		if ns > 0 {
			y.later(ns, p, true)
		}
		return ns > 0
	case stepYield:
		return y.lets(p)
	case stepWake:
		y.wake(s.edge)
		return false
	case stepWait:
		if y.woken[s.edge] {
			return false
		}
		if y.x.wait(sc, s) {
			y.woken[s.edge] = true
			return y.lets(p)
		}
		y.waiter[s.edge] = int32(p) + 1
	case stepDelay:
		if y.x.wait(sc, s) {
			return y.lets(p)
		}
		y.later(s.ns, p, false)
	}
	y.free++
	return true
}

// wake makes the present or future waiter of an edge continue.
func (y *player) wake(edge int32) {
	if y.woken[edge] {
		return
	}
	y.woken[edge] = true
	if w := y.waiter[edge]; w > 0 {
		y.ready = append(y.ready, int(w)-1)
	}
}
