package doctor

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// step is one step of a goroutine in a replay.
type step struct {
	kind stepKind
	name int32 // of stepRun: the innermost scope; -1: none
	lock int32 // of waits: index of the lock; -1: none
	edge int32 // of stepWait and stepWake
	ns   int64
	s    states.State
	send bool
}

type stepKind uint8

const (
	stepRun   stepKind = iota // on a core
	stepYield                 // to the end of the run queue
	stepDelay                 // waits for something outside
	stepWait                  // waits for the edge's stepWake
	stepWake
)

// script is the steps of a goroutine.
type script struct {
	g     *gor
	steps []step
	begin int32 // edge of its creation; -1: it existed before, or its creator is not known
	late  int64 // ns from the beginning, if begin is -1
	end   int64 // of the last step
}

// maxSteps bounds the steps of a replay: each takes 32 bytes, and some 100 ns in each
// replay.
const maxSteps = 8 << 20

// lastOne returns the goroutine whose end is the end of the run: main, or the goroutine that
// ran last if main is missing or waits to the end.
func (m *model) lastOne() (last *gor) {
	end := int64(-1)
	for _, g := range m.gs {
		if g.role != roleUser || 2*g.sum(m.from, m.to, func(v *iv) bool { return v.state == states.Unknown }) > m.span() {
			continue
		}
		for i := len(g.ivs) - 1; i >= 0; i-- {
			if v := &g.ivs[i]; v.core {
				if g.id == 1 && v.to >= m.to-m.span()/20 {
					return g
				}
				if v.to > end {
					last, end = g, v.to
				}
				break
			}
		}
	}
	return last
}

// wake is the time at which a goroutine wakes or creates another one.
type wake struct {
	time int64
	edge int32
}

type wakeList struct {
	n  int
	by map[*gor][]wake // by time
}

// wakes finds the edges of which both ends can be replayed, and stores each in the interval
// or goroutine that it wakes or creates.
func (m *model) wakes() *wakeList {
	w := &wakeList{by: map[*gor][]wake{}}
	add := func(by uint64, g *gor, at int64, edge *int32) {
		x := m.byID[by]
		if x == nil || x == g || x.role != roleUser || len(x.ivs) == 0 || at <= m.from {
			return
		}
		// A replay would never reach a waker that does nothing from then on.
		if i := x.at(at - 1); i == len(x.ivs) || x.ivs[i].state == states.Unknown {
			return
		}
		w.by[x] = append(w.by[x], wake{at, int32(w.n)})
		w.n++
		*edge = int32(w.n)
	}
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		if g.created {
			add(g.creator, g, g.from, &g.edge)
		}
		for i := range g.ivs {
			if v := &g.ivs[i]; v.by != 0 && waits(v.state) {
				add(v.by, g, v.to, &v.edge)
			}
		}
	}
	for _, list := range w.by {
		slices.SortStableFunc(list, func(a, b wake) int { return cmp.Compare(a.time, b.time) })
	}
	return w
}

// waits reports whether a goroutine in state s waits for another goroutine to wake it. A
// sleep or a network wait does not count: it is ended by whichever processor checks the
// timers, and waits for something outside.
func waits(s states.State) bool {
	switch s {
	case states.Lock, states.Join, states.Cond, states.Channel, states.Select:
		return true
	}
	return false
}

// script makes g's script, with capacity for this many steps; -1: it only counts them.
func (m *model) script(r *replayed, g *gor, w *wakeList, steps int) (sc script, n int) {
	x := scripter{m: m, g: g, wakes: w.by[g], cores: r.cores, only: steps < 0}
	x.sc = script{g: g, steps: make([]step, 0, max(steps, 0)), begin: -1, late: max(g.ivs[0].from-m.from, 0)}
	if g.edge != 0 {
		x.sc.begin, x.sc.late = g.edge-1, 0
	}
	ends := x.ends()
	if ends > 0 {
		x.sc.end = g.ivs[ends-1].to
	}
	for i := range g.ivs[:ends] {
		x.interval(i)
	}
	x.wake(math.MaxInt64, nil)
	return x.sc, x.n
}

// scripter makes the script of a goroutine, interval by interval.
type scripter struct {
	m     *model
	g     *gor
	sc    script
	n     int    // steps
	only  bool   // only count the steps
	wakes []wake // remaining wake-ups
	flat  int    // current index in g.flats
	cores int
}

func (x *scripter) add(s step) {
	if x.n++; !x.only {
		x.sc.steps = append(x.sc.steps, s)
	}
}

// ends returns the index behind the last interval in which g does something, or wakes
// another goroutine.
func (x *scripter) ends() int {
	ivs, n := x.g.ivs, len(x.g.ivs)
	for n > 0 && !ivs[n-1].core && (len(x.wakes) == 0 || ivs[n-1].from >= x.wakes[len(x.wakes)-1].time) {
		n--
	}
	return n
}

// interval adds the steps of an interval.
func (x *scripter) interval(i int) {
	v := &x.g.ivs[i]
	switch {
	case v.core:
		x.run(v, x.wake(v.to, v), v.to)
		return
	case v.state == states.Runnable:
		x.queue(i)
	case v.state == states.Preempted:
	case v.state == states.Unknown:
		x.add(step{kind: stepDelay, ns: v.to - v.from, lock: -1, s: v.state})
	default:
		s := step{kind: stepDelay, ns: v.to - v.from, lock: v.lock, s: v.state, send: v.send}
		if v.edge != 0 {
			s.kind, s.edge = stepWait, v.edge-1
		}
		x.add(s)
	}
	x.wake(v.to, nil)
}

// queue adds the step of an interval in which g is runnable.
func (x *scripter) queue(i int) {
	if i == 0 {
		return
	}
	v, before := &x.g.ivs[i], &x.g.ivs[i-1]
	if before.core {
		x.add(step{kind: stepYield, lock: -1})
	} else if x.m.sweep.mean(v.from, v.to) < float64(x.cores)-0.5 {
		// A core was free: the wake-up took the time, not the run queue.
		x.add(step{kind: stepDelay, ns: v.to - v.from, lock: before.lock, s: before.state, send: before.send})
	}
}

// wake adds the steps of all wake-ups up to t. If v is not nil, g runs meanwhile, and wake
// adds the run steps between them and returns the time up to which these go.
func (x *scripter) wake(t int64, v *iv) (at int64) {
	if v != nil {
		at = v.from
	}
	for len(x.wakes) > 0 && x.wakes[0].time <= t {
		w := x.wakes[0]
		x.wakes = x.wakes[1:]
		if v != nil {
			x.run(v, at, w.time)
			at = max(at, w.time)
		}
		x.add(step{kind: stepWake, edge: w.edge, lock: -1})
	}
	return at
}

// run adds the steps of a part of an interval in which g has a core: one for each innermost
// scope.
func (x *scripter) run(v *iv, from, to int64) {
	if v.state == states.GC && to > from {
		x.add(step{kind: stepRun, name: noName, lock: -1, ns: to - from, s: v.state})
		return
	}
	flat := x.g.flats()
	for at := from; at < to; {
		for x.flat < len(flat) && flat[x.flat].to <= at {
			x.flat++
		}
		end, name := to, int32(noName)
		if x.flat < len(flat) {
			if f := &flat[x.flat]; f.from <= at {
				end, name = min(to, f.to), int32(f.name)
			} else {
				end = min(to, f.from)
			}
		}
		x.add(step{kind: stepRun, name: name, lock: -1, ns: end - at, s: v.state})
		at = end
	}
}

// plan makes the scripts; nil if they are too long, or if the end of the run can't be
// determined.
func (m *model) plan() *replayed {
	r := &replayed{cores: max(int(math.Round(m.cores.Count)), 1), last: -1}
	wakes := m.wakes()
	total := 0
	var of []*gor
	var steps []int // steps are counted first, so that too many are never allocated, and nothing is copied
	for _, g := range m.gs {
		if g.role != roleUser && g.role != roleCollector || len(g.ivs) == 0 {
			continue
		}
		_, n := m.script(r, g, wakes, -1)
		if total += n; total > maxSteps {
			return nil
		}
		of, steps = append(of, g), append(steps, n)
	}
	for i, g := range of {
		sc, _ := m.script(r, g, wakes, steps[i])
		r.scripts = append(r.scripts, sc)
	}
	r.edges = wakes.n
	if last := m.lastOne(); last != nil {
		for i := range r.scripts {
			if r.scripts[i].g == last {
				r.last = i
			}
		}
	}
	if r.last < 0 {
		return nil
	}
	r.real = r.scripts[r.last].end - m.from
	r.time = r.do(removal{})
	if r.time <= 0 {
		return nil
	}
	return r
}
