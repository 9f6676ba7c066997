package doctor

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// Replay does again what the goroutines did, on as many cores as there were, in order of
// readiness, and tells when the last of it is done. Done once as it was, and once with
// something taken out, it tells what taking it out would gain: where all cores are busy,
// less than the waits that go away, and where another goroutine is what everybody waits
// for, nothing.
//
// What a goroutine did is a list of steps: to run for so long, to wait until another one
// has come to where it woke it, to wait for something outside for as long as it took.
// Waits in the run queue are no steps, unless a core was free: they come out of the replay. So does the order in
// which a lock is had not: it stays as it was.

// step is what a goroutine does next.
type step struct {
	kind stepKind
	name int32 // of stepRun: the innermost scope, -1: none
	lock int32 // of waits: for which lock, -1: none
	edge int32 // of stepWait and stepWake
	ns   int64
	s    states.State
	send bool
}

type stepKind uint8

const (
	stepRun   stepKind = iota // on a core
	stepYield                 // to the end of the run queue
	stepDelay                 // something outside
	stepWait                  // until the edge's stepWake
	stepWake
)

// script is what a goroutine does.
type script struct {
	g     *gor
	steps []step
	begin int32 // the edge by which it was made; -1: it was there, or nobody known made it
	late  int64 // ns after the beginning, where nobody made it
	end   int64 // of the last step
}

// replayed is what was made of the model for replays.
type replayed struct {
	scripts []script
	edges   int
	cores   int
	last    int   // the script whose end is the end
	time    int64 // how long the replay takes with nothing taken out
	real    int64 // and how long it took
}

// maxSteps bounds what is replayed: each takes 32 bytes, and each replay some 100 ns for
// each.
const maxSteps = 8 << 20

// plan makes the scripts; nil where that is too much, or where there is nobody whose end
// could be told.
func (m *model) plan() *replayed {
	r := &replayed{cores: max(int(math.Round(m.cores.Count)), 1), last: -1}
	wakes := m.wakes()
	total := 0
	for _, g := range m.gs {
		if g.role != roleUser && g.role != roleCollector || len(g.ivs) == 0 {
			continue
		}
		sc := m.script(r, g, wakes)
		if total += len(sc.steps); total > maxSteps {
			return nil
		}
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
	r.time = r.do(change0)
	if r.time <= 0 {
		return nil
	}
	return r
}

// lastOne is the goroutine whose end is the end of the run: main, or where that waits to
// the end, or is not there, the one that ran last.
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

// wake is that a goroutine wakes or makes another one.
type wake struct {
	time int64
	edge int32
}

type wakeList struct {
	n  int
	by map[*gor][]wake   // by time
	of map[edgeKey]int32 // the edge that ends a wait, or begins a goroutine
}

type edgeKey struct {
	g  *gor
	at int64
}

// wakes finds all edges whose both ends can be replayed.
func (m *model) wakes() *wakeList {
	w := &wakeList{by: map[*gor][]wake{}, of: map[edgeKey]int32{}}
	add := func(by uint64, g *gor, at int64) {
		x := m.byID[by]
		if x == nil || x == g || x.role != roleUser || len(x.ivs) == 0 || at <= m.from {
			return
		}
		// A waker that did nothing from then on would never be reached in a replay.
		if i := x.at(at - 1); i == len(x.ivs) || x.ivs[i].state == states.Unknown {
			return
		}
		w.of[edgeKey{g, at}] = int32(w.n)
		w.by[x] = append(w.by[x], wake{at, int32(w.n)})
		w.n++
	}
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		if g.created {
			add(g.creator, g, g.from)
		}
		for i := range g.ivs {
			if v := &g.ivs[i]; v.by != 0 && waits(v.state) {
				add(v.by, g, v.to)
			}
		}
	}
	for _, list := range w.by {
		slices.SortStableFunc(list, func(a, b wake) int { return cmp.Compare(a.time, b.time) })
	}
	return w
}

// waits tells whether a goroutine in that state waits until another one wakes it, if one
// does. Who sleeps, or waits for the network, is woken by whoever's processor looks at
// the timers, and waits for something else.
func waits(s states.State) bool {
	switch s {
	case states.Lock, states.Join, states.Cond, states.Channel, states.Select:
		return true
	}
	return false
}

// script makes g's script.
func (m *model) script(r *replayed, g *gor, w *wakeList) script {
	sc := script{g: g, begin: -1, late: max(g.ivs[0].from-m.from, 0)}
	if e, ok := w.of[edgeKey{g, g.from}]; ok && g.created {
		sc.begin, sc.late = e, 0
	}
	wakes := w.by[g]
	f := 0 // of g.flat
	run := func(v *iv, from, to int64) {
		if v.state == states.GC && to > from {
			sc.steps = append(sc.steps, step{kind: stepRun, name: noName, lock: -1, ns: to - from, s: v.state})
			return
		}
		for at := from; at < to; {
			for f < len(g.flat) && g.flat[f].to <= at {
				f++
			}
			end, name := to, int32(-1)
			if f < len(g.flat) {
				if g.flat[f].from <= at {
					end, name = min(to, g.flat[f].to), int32(g.flat[f].name)
				} else {
					end = min(to, g.flat[f].from)
				}
			}
			sc.steps = append(sc.steps, step{kind: stepRun, name: name, lock: -1, ns: end - at, s: v.state})
			at = end
		}
	}
	// until puts all wakes up to t, and what it runs between them if it does.
	until := func(t int64, v *iv, at int64) int64 {
		for len(wakes) > 0 && wakes[0].time <= t {
			if v != nil {
				run(v, at, wakes[0].time)
				at = max(at, wakes[0].time)
			}
			sc.steps = append(sc.steps, step{kind: stepWake, edge: wakes[0].edge, lock: -1})
			wakes = wakes[1:]
		}
		return at
	}
	ends := len(g.ivs) // behind the last one in which it does something, or wakes somebody
	for ends > 0 && !g.ivs[ends-1].core && (len(wakes) == 0 || g.ivs[ends-1].from >= wakes[len(wakes)-1].time) {
		ends--
	}
	if ends > 0 {
		sc.end = g.ivs[ends-1].to
	}
	for i := range g.ivs[:ends] {
		v := &g.ivs[i]
		d := v.to - v.from
		switch {
		case v.core:
			run(v, until(v.to, v, v.from), v.to)
			continue
		case v.state == states.Runnable || v.state == states.Preempted:
			switch {
			case i == 0 || v.state == states.Preempted:
			case g.ivs[i-1].core:
				sc.steps = append(sc.steps, step{kind: stepYield, lock: -1})
			case m.sweep.mean(v.from, v.to) < float64(r.cores)-0.5:
				// A core was free: not the run queue kept it, but that waking takes time.
				w := &g.ivs[i-1]
				sc.steps = append(sc.steps, step{kind: stepDelay, ns: d, lock: w.lock, s: w.state, send: w.send})
			}
		case v.state == states.Unknown:
			sc.steps = append(sc.steps, step{kind: stepDelay, ns: d, lock: -1, s: v.state})
		default:
			s := step{kind: stepDelay, ns: d, lock: v.lock, s: v.state, send: v.send}
			if e, ok := w.of[edgeKey{g, v.to}]; ok && v.by != 0 {
				s.kind, s.edge = stepWait, e
			}
			sc.steps = append(sc.steps, s)
		}
		until(v.to, nil, 0)
	}
	until(math.MaxInt64, nil, 0)
	return sc
}

// without says what is taken out of a replay.
type without struct {
	lock  int32                             // waits for it; -1: none
	skip  func(sc *script, s *step) bool    // steps that take no time
	scale func(sc *script, s *step) float64 // what becomes of a run step's time; nil: it stays
	cores int                               // 0: those that there are
}

// change0 takes nothing out.
var change0 = without{lock: -1}

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
	was, is := mean(change0), mean(x)
	if was <= 0 || is > was {
		return 0
	}
	return 1 - is/was
}

// gain is which part of the time goes away without x, 0 to 1.
func (r *replayed) gain(x without) float64 {
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

// play is do, and tells also for how long exactly one core was in use. Into ends, if it is
// not nil, it puts when each script is done; what is not stays as it is.
func (r *replayed) play(x without, ends []int64) (time, one int64) {
	cores := r.cores
	if x.cores > 0 {
		cores = x.cores
	}
	next := make([]int, len(r.scripts))
	woken := make([]bool, r.edges)
	waiter := make([]int32, r.edges) // +1
	var q dues
	var ready []int
	head := 0
	var now, seq int64
	push := func(t int64, p int, core bool) {
		seq++
		heap.Push(&q, due{t, seq, p, core})
	}
	for p := range r.scripts {
		if e := r.scripts[p].begin; e >= 0 {
			waiter[e] = int32(p) + 1
		} else {
			push(r.scripts[p].late, p, false)
		}
	}
	free := cores
	// lets gives p's core to the next one that wants it, if there is one. Who waits no more
	// does so: else one would do all its work before the others, who shared the cores with
	// it, and who waits for what they do would come last.
	lets := func(p int) bool {
		if len(ready) == head {
			return false
		}
		ready = append(ready, p)
		free++
		return true
	}
	// advance takes p, which has a core, on until it needs time or has to wait.
	advance := func(p int) bool {
		sc := &r.scripts[p]
		for next[p] < len(sc.steps) {
			s := &sc.steps[next[p]]
			next[p]++
			switch s.kind {
			case stepRun:
				ns := s.ns
				if x.skip != nil && x.skip(sc, s) {
					ns = 0
				} else if x.scale != nil {
					ns = int64(float64(ns) * x.scale(sc, s))
				}
				if ns > 0 {
					push(now+ns, p, true)
					return false
				}
			case stepYield:
				if lets(p) {
					return false
				}
			case stepWake:
				if !woken[s.edge] {
					woken[s.edge] = true
					if w := waiter[s.edge]; w > 0 {
						ready = append(ready, int(w)-1)
					}
				}
			case stepWait:
				if woken[s.edge] {
					break
				}
				if x.lock >= 0 && s.lock == x.lock || x.skip != nil && x.skip(sc, s) {
					woken[s.edge] = true
					if lets(p) {
						return false
					}
					break
				}
				waiter[s.edge] = int32(p) + 1
				free++
				return false
			case stepDelay:
				if x.lock >= 0 && s.lock == x.lock || x.skip != nil && x.skip(sc, s) {
					if lets(p) {
						return false
					}
					break
				}
				push(now+s.ns, p, false)
				free++
				return false
			}
		}
		free++
		if ends != nil {
			ends[p] = now
		}
		return p == r.last
	}
	for {
		for free > 0 && head < len(ready) {
			p := ready[head]
			if head++; head > 1024 && 2*head > len(ready) {
				ready = append(ready[:0], ready[head:]...)
				head = 0
			}
			free--
			if advance(p) {
				return now, one
			}
		}
		if len(q) == 0 {
			return -1, 0
		}
		d := heap.Pop(&q).(due)
		if free == cores-1 {
			one += d.time - now
		}
		now = d.time
		if !d.core {
			ready = append(ready, d.p)
			continue
		}
		if advance(d.p) {
			return now, one
		}
	}
}
