package doctor

import "container/heap"

// A replay does again what the goroutines did, on as many cores as there were, in order of
// readiness, and tells when the last of it is done. One replay is of all as it was, another
// has something taken out: the difference is what taking it out would gain. Where all cores
// are busy, that is less than the waits that go away. Where everybody waits for another
// goroutine, it is nothing.
//
// What a goroutine did is a list of steps (script.go). A wait in the run queue is no step,
// unless a core was free: it comes out of the replay. The order in which a lock is had stays
// as it was.

// replayed is what was made of the model for replays.
type replayed struct {
	scripts []script
	edges   int
	cores   int
	last    int   // the script whose end is the end
	time    int64 // how long the replay takes with nothing taken out
	real    int64 // and how long it took
}

// without says what is taken out of a replay: nothing, if it is zero.
type without struct {
	skip  func(sc *script, s *step) bool    // steps that take no time
	scale func(sc *script, s *step) float64 // what becomes of a run step's time; nil: it stays
	cores int                               // 0: those that there are
}

// time is how long a run step takes.
func (x *without) time(sc *script, s *step) int64 {
	switch {
	case x.skip != nil && x.skip(sc, s):
		return 0
	case x.scale != nil:
		return int64(float64(s.ns) * x.scale(sc, s))
	}
	return s.ns
}

// wait reports whether a step that waits takes no time.
func (x *without) wait(sc *script, s *step) bool {
	return x.skip != nil && x.skip(sc, s)
}

// gainOf is which part of the time goes away without x for those who are meant, on
// average. Where they share their work out among them, that is what the run gains: that
// one of them did more than the others, and is the last, was by chance.
func (r *replayed) gainOf(x without, meant func(g *gor) bool) float64 {
	mean := func(x without) (sum float64) {
		ends := make([]int64, len(r.scripts))
		for i := range ends {
			ends[i] = -1
		}
		t, _ := r.play(x, ends)
		n := 0
		for i := range r.scripts {
			if meant(r.scripts[i].g) {
				if ends[i] < 0 {
					ends[i] = t
				}
				sum += float64(ends[i])
				n++
			}
		}
		return sum / float64(max(n, 1))
	}
	was, is := mean(without{}), mean(x)
	if was <= 0 || is > was {
		return 0
	}
	return 1 - is/was
}

// gain is which part of the time goes away without x, 0 to 1; 0 where nothing could be
// replayed.
func (r *replayed) gain(x without) float64 {
	if r == nil {
		return 0
	}
	t := r.do(x)
	if t < 0 || t >= r.time {
		return 0
	}
	return 1 - float64(t)/float64(r.time)
}

// due is that a player goes on at some time.
type due struct {
	time int64
	seq  int64
	p    int
	core bool // it is on a core until then
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

// do replays and returns how long it takes until the last one is done; -1 if it does
// not come to that.
func (r *replayed) do(x without) int64 {
	t, _ := r.play(x, nil)
	return t
}

// play is do, and returns also for how long exactly one core was in use. Into ends, if it is
// not nil, it puts when each script is done; what is not stays as it is.
func (r *replayed) play(x without, ends []int64) (time, one int64) {
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

// player plays scripts once. It has an index into replayed.scripts for each goroutine.
type player struct {
	r      *replayed
	x      without
	cores  int
	free   int   // cores that nobody has
	now    int64 // ns
	one    int64 // ns in which exactly one core was in use
	over   bool  // the last one is done
	next   []int
	woken  []bool  // by edge
	waiter []int32 // by edge, +1
	due    dues
	seq    int64 // of due
	ready  []int // who wants a core, from head on
	head   int
	ends   []int64 // when each is done; nil: nobody asks
}

func (r *replayed) player(x without, ends []int64) *player {
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

// later lets p go on after so long, with the core that it has, or when it gets one.
func (y *player) later(ns int64, p int, core bool) {
	y.seq++
	heap.Push(&y.due, due{y.now + ns, y.seq, p, core})
}

// first takes who wants a core for the longest time.
func (y *player) first() int {
	p := y.ready[y.head]
	if y.head++; y.head > 1024 && 2*y.head > len(y.ready) {
		y.ready = append(y.ready[:0], y.ready[y.head:]...)
		y.head = 0
	}
	return p
}

// lets gives p's core to the next one that wants it, and reports whether there is one. Who
// waits no more does so: else one would do all its work before the others, who shared the
// cores with it, and who waits for what they do would come last.
func (y *player) lets(p int) bool {
	if len(y.ready) == y.head {
		return false
	}
	y.ready = append(y.ready, p)
	y.free++
	return true
}

// advance takes p, which has a core, on until it needs time or has to wait.
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

// stops does a step of p, and reports whether p goes on later.
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

// wake lets go on who waits for an edge, or will.
func (y *player) wake(edge int32) {
	if y.woken[edge] {
		return
	}
	y.woken[edge] = true
	if w := y.waiter[edge]; w > 0 {
		y.ready = append(y.ready, int(w)-1)
	}
}
