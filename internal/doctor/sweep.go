package doctor

import (
	"sort"

	"github.com/scopeview/scopeview/internal/states"
)

// sweep counts, in one pass over time, how many goroutines do what at once.
type sweep struct {
	known int64   // ns in which all goroutines' states are known; shares are of these
	at    []int64 // moments
	run   []uint8 // number of the program's goroutines that run from then on, at most 255
	sum   []int64 // ∫ run up to then, in ns
	queue []uint8 // number that are runnable from then on and have no core, at most 255

	hist   []int64 // ns by the number that ran at once
	lost   [parts]float64
	single map[*gor]int64 // ns in which it alone ran
	alone  map[*gor]int64 // ns in which it alone ran, and nobody waited for a lock, in a queue, or for its siblings
}

// part is a use of the cores' time.
type part int

const (
	partRun part = iota
	partLock
	partChannel
	partJoin
	partSerial
	partSystem
	partQueue
	partGC
	partKernel
	partInflation
	partOther
	parts
)

var partNames = [parts]string{"running", "waiting for locks", "waiting for channels", "waiting to join", "no work for them", "waiting in the system's run queue", "waiting in Go's run queue",
	"garbage collection", "page faults and system calls", "work inflation", "the runtime and the recorder"}

// what classifies the state of a goroutine for the sweep.
type what uint8

const (
	whatNothing what = iota // nothing to do, or waits for something outside
	whatUnknown
	whatRun
	whatPreempted // it would run but for another program on its CPU
	whatCollect
	whatOther   // the runtime's own goroutines and package scope's run
	whatCrowded // another thread of the program has its CPU
	whatQueue
	whatLock
	whatGC
	whatKernel
	whatChannel
	whatJoin
	whats
)

func whatOf(g *gor, v *iv) what {
	switch {
	case v.core && (g.role == roleCollector || v.state == states.GC):
		return whatCollect
	case v.core && g.role != roleUser:
		return whatOther
	case g.role != roleUser:
		return whatNothing
	case v.core && v.state == states.Preempted:
		return whatPreempted
	case v.core:
		return whatRun
	case v.lock >= 0:
		return whatLock
	}
	return whatWaits[v.state]
}

// whatWaits classifies the states of the program's goroutines that have no core. Waits for
// something outside count as whatNothing.
var whatWaits = [states.Count]what{
	states.Unknown: whatUnknown, states.Preempted: whatCrowded, states.Runnable: whatQueue, states.Lock: whatLock, states.GC: whatGC,
	states.TextFault: whatKernel, states.DataFault: whatKernel, states.Stalled: whatKernel, states.Blocked: whatKernel, states.Channel: whatChannel, states.Select: whatChannel, states.Cond: whatChannel, states.Join: whatJoin,
}

// change is a change of what a goroutine does.
type change struct {
	time int64
	g    *gor
	from what
	to   what
}

// look makes the sweep, for one core if their number is not known.
func (m *model) look() {
	s := &sweep{single: map[*gor]int64{}, alone: map[*gor]int64{}}
	m.sweep = s
	cores := m.cores.Count
	if cores <= 0 {
		cores = 1
	}
	w := sweeper{s: s, cores: cores, now: m.from, ran: map[*gor]struct{}{}}
	n := 0
	for _, g := range m.gs {
		n += len(g.ivs) + 1
	}
	s.at, s.run, s.sum, s.queue = make([]int64, 0, n), make([]uint8, 0, n), make([]int64, 0, n), make([]uint8, 0, n)
	m.changes(func(c *change) {
		w.upTo(min(max(c.time, m.from), m.to))
		w.change(c)
	})
	w.upTo(m.to)
	s.at, s.run, s.sum, s.queue = append(s.at, m.to), append(s.run, 0), append(s.sum, w.sum), append(s.queue, 0)
}

// sweeper is the state of a sweep.
type sweeper struct {
	s     *sweep
	cores float64
	now   int64
	sum   int64      // as sweep.sum
	n     [whats]int // number of goroutines by what they do
	ran   map[*gor]struct{}
}

// upTo adds the stretch up to t, in which nothing changes.
func (w *sweeper) upTo(t int64) {
	d := t - w.now
	if d <= 0 {
		return
	}
	s, n := w.s, &w.n
	run := n[whatRun] + n[whatPreempted]
	s.at, s.run, s.sum = append(s.at, w.now), append(s.run, uint8(min(run, 255))), append(s.sum, w.sum)
	s.queue = append(s.queue, uint8(min(n[whatQueue]+n[whatCrowded], 255)))
	w.now = t
	w.sum += d * int64(run)
	if n[whatUnknown] > 0 && run == 0 {
		return // may be a gap in the states
	}
	s.count(d, n, w.cores)
	if run != 1 {
		return
	}
	for g := range w.ran {
		s.single[g] += d
		if n[whatLock]+n[whatQueue]+n[whatCrowded]+n[whatJoin]+n[whatCollect] == 0 {
			s.alone[g] += d
		}
	}
}

func (w *sweeper) change(c *change) {
	w.n[c.from]--
	w.n[c.to]++
	if c.from == whatRun || c.from == whatPreempted {
		delete(w.ran, c.g)
	}
	if c.to == whatRun || c.to == whatPreempted {
		w.ran[c.g] = struct{}{}
	}
}

// count adds a stretch in which nothing changes. Idle cores are attributed to goroutines
// that could have used one, the surest first: those in the run queue or waiting for a lock
// could continue; those waiting in a channel may have nothing to do.
func (s *sweep) count(d int64, n *[whats]int, cores float64) {
	s.known += d
	run := n[whatRun] + n[whatPreempted]
	for len(s.hist) <= run {
		s.hist = append(s.hist, 0)
	}
	s.hist[run] += d
	left := cores
	take := func(p part, many int) {
		x := min(float64(many), left)
		s.lost[p] += x * float64(d)
		left -= x
	}
	take(partRun, n[whatRun])
	take(partGC, n[whatCollect])
	take(partOther, n[whatOther])
	take(partSystem, n[whatPreempted]+n[whatCrowded])
	take(partQueue, n[whatQueue])
	take(partLock, n[whatLock])
	take(partGC, n[whatGC])
	take(partKernel, n[whatKernel])
	take(partChannel, n[whatChannel])
	take(partJoin, n[whatJoin])
	s.lost[partSerial] += left * float64(d)
}

// share returns ns over the time in which all states are known.
func (s *sweep) share(ns int64) float64 {
	if s.known <= 0 {
		return 0
	}
	return float64(ns) / float64(s.known)
}

// mean returns the mean number that ran at once between two moments.
func (s *sweep) mean(from, to int64) float64 {
	if to <= from {
		return 0
	}
	return float64(s.integral(to)-s.integral(from)) / float64(to-from)
}

func (s *sweep) integral(t int64) int64 {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] > t }) - 1
	if i < 0 {
		return 0
	}
	return s.sum[i] + (min(t, s.at[len(s.at)-1])-s.at[i])*int64(s.run[i])
}

// each calls f with the stretches between two moments and the numbers that ran and were
// queued in each.
func (s *sweep) each(from, to int64, f func(from, to int64, run, queue int)) {
	i := max(sort.Search(len(s.at), func(i int) bool { return s.at[i] > from })-1, 0)
	for ; i+1 < len(s.at) && s.at[i] < to; i++ {
		if a, b := max(s.at[i], from), min(s.at[i+1], to); b > a {
			f(a, b, int(s.run[i]), int(s.queue[i]))
		}
	}
}

// alones calls f with the stretches between two moments in which one goroutine ran.
func (s *sweep) alones(from, to int64, f func(from, to int64)) {
	s.each(from, to, func(a, b int64, run, _ int) {
		if run == 1 {
			f(a, b)
		}
	})
}

// ran returns the sum of the ns that goroutines of the program ran.
func (s *sweep) ran() (ns int64) {
	for n, d := range s.hist {
		ns += int64(n) * d
	}
	return ns
}
