package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// use sums up what happened at a lock in the range.
type use struct {
	l          *lock
	index      int32
	gain       float64 // gain if nobody waited for it; -1: not computed yet
	reported   bool    // a rule has reported it
	wait       int64   // ns, summed over waiters
	waits      int64   // number of waits, including those without a record
	hold       int64   // ns, summed over holders
	busy       int64   // ns in which it was held, as far as is recorded
	used       float64 // part of the range in which it was held
	holdWaited int64   // ns of hold in which others waited
	crowd      int64   // ns in which more waited than there are cores
	lost       float64 // ns of core time: the waiters' number, at most that of idle cores
	blocked    int64   // ns of holdWaited in which the holder was off the CPU, waiting for something other than a lock
	blockedBy  map[states.State]int64
	blockedAt  map[uint32]int64 // ns of blocked, by the holder's stack
	inside     map[uint16]int64 // ns of hold in scopes that began under the lock
	around     map[uint16]int64 // ns of holdWaited, or without holds of wait, by the holder's scope
	waiters    map[uint16]int64 // ns of wait, by the waiter's scope
	line       waitLine
	accounted  *account // nil: not computed yet
}

// waitLine is the number of waiters over time.
type waitLine struct {
	at   []int64
	n    []int
	some []int64 // ns up to then with at least one waiter
}

func newWaitLine(ts []turn) waitLine {
	type edge struct {
		t int64
		d int
	}
	var es []edge
	for _, w := range ts {
		es = append(es, edge{w.from, 1}, edge{w.to, -1})
	}
	slices.SortFunc(es, func(a, b edge) int { return cmp.Compare(a.t, b.t) })
	var l waitLine
	n, some := 0, int64(0)
	for i, e := range es {
		if i > 0 && n > 0 {
			some += e.t - es[i-1].t
		}
		n += e.d
		if k := len(l.at); k > 0 && l.at[k-1] == e.t {
			l.n[k-1] = n
			continue
		}
		l.at, l.n, l.some = append(l.at, e.t), append(l.n, n), append(l.some, some)
	}
	return l
}

// waited returns the ns between two moments with at least one waiter.
func (l *waitLine) waited(from, to int64) int64 { return l.upTo(to) - l.upTo(from) }

func (l *waitLine) upTo(t int64) int64 {
	i := sort.Search(len(l.at), func(i int) bool { return l.at[i] > t }) - 1
	if i < 0 {
		return 0
	}
	if l.n[i] > 0 {
		return l.some[i] + t - l.at[i]
	}
	return l.some[i]
}

// each calls f with the stretches that have waiters, and their number.
func (l *waitLine) each(f func(from, to int64, n int)) {
	for i := 0; i+1 < len(l.at); i++ {
		if l.n[i] > 0 {
			f(l.at[i], l.at[i+1], l.n[i])
		}
	}
}

// use computes the use of a lock.
func (m *model) use(l *lock) *use {
	u := &use{l: l, gain: -1, waits: max(l.contended, int64(len(l.waits))), blockedBy: map[states.State]int64{}, blockedAt: map[uint32]int64{}, inside: map[uint16]int64{}, around: map[uint16]int64{}, waiters: map[uint16]int64{}}
	u.line = newWaitLine(l.waits)
	u.wait = l.shortWait
	for _, w := range l.waits {
		u.wait += w.time()
		if name, ok := w.g.scope(w.from); ok {
			u.waiters[name] += w.time()
		}
		if len(l.holds) == 0 {
			m.waker(u, w)
		}
	}
	cores := max(m.cores.Count, 1)
	u.line.each(func(from, to int64, n int) {
		if float64(n) > cores {
			u.crowd += to - from
		}
		if !m.hasGo { // the holder uses one core
			u.lost += min(float64(n), cores-1) * float64(to-from)
			return
		}
		m.sweep.each(from, to, func(a, b int64, run, queue int) {
			if l.place { // for recorded locks, queued goroutines may be those that were handed the lock
				run += queue
			}
			u.lost += max(min(float64(n), cores-float64(run)), 0) * float64(b-a)
		})
	})
	end := int64(-1 << 62)
	for _, h := range l.holds {
		u.hold += h.time()
		if h.to > end {
			u.busy += h.to - max(h.from, end)
			end = h.to
		}
		u.holds(m, h)
	}
	if len(l.addrs) < 2 { // with several locks, holds may overlap
		u.used = float64(u.busy) / float64(m.span())
	}
	if whole, n := l.whole(); n > 0 && !l.every && l.acquired > 0 {
		// U = X·S: only holds that others waited for are recorded.
		u.used = max(u.used, min(float64(whole)/float64(n)*float64(l.acquired)/float64(m.span()), 1))
	}
	return u
}

// waker adds a wait for a lock without known holds to the scope of the goroutine that ended
// it, which is the one that unlocked it.
func (m *model) waker(u *use, w turn) {
	var by *gor
	at := w.to
	for i := w.g.at(w.from); i < len(w.g.ivs) && w.g.ivs[i].from < w.to; i++ {
		if v := &w.g.ivs[i]; v.by != 0 {
			by, at = m.byID[v.by], v.to
		}
	}
	if by == nil {
		return
	}
	if name, ok := by.scope(at - 1); ok {
		u.around[name] += w.time()
	}
}

func (u *use) holds(m *model, h turn) {
	g := h.g
	waited := u.line.waited(h.from, h.to)
	u.holdWaited += waited
	if name, ok := g.scope(h.from); ok {
		u.around[name] += waited
	}
	i := sort.Search(len(g.spans), func(i int) bool { return g.spans[i].from >= h.from })
	for at := h.from; i < len(g.spans) && g.spans[i].from < h.to; i++ {
		s := &g.spans[i]
		if s.from == m.from {
			continue // it began before the range, and perhaps before the hold
		}
		if d := min(s.to, h.to) - max(s.from, at); d > 0 { // without the parts that an outer scope covers
			u.inside[s.name] += d
			at = min(s.to, h.to)
		}
	}
	if waited == 0 {
		return
	}
	for i := g.at(h.from); i < len(g.ivs) && g.ivs[i].from < h.to; i++ {
		switch v := &g.ivs[i]; v.state {
		case states.Blocked, states.Network, states.Sleep, states.Channel, states.Select, states.Join, states.Cond:
			d := u.line.waited(max(v.from, h.from), min(v.to, h.to))
			u.blocked += d
			u.blockedBy[v.state] += d
			u.blockedAt[v.stack] += d
		}
	}
}

// aroundOf returns the total time that around divides.
func (u *use) aroundOf() int64 {
	if len(u.l.holds) == 0 {
		return u.wait
	}
	return u.holdWaited
}

// whole returns the sum and the number of the fully recorded holds.
func (l *lock) whole() (ns, n int64) {
	for _, h := range l.holds {
		if !h.guessed {
			ns += h.time()
			n++
		}
	}
	return ns, n
}

// misused returns notes on locks that can never be acquired again. It ends the hold of a
// goroutine that has ended, as that does nothing from then on.
func (m *model) misused() (notes []string) {
	for _, l := range m.locks {
		for i := range l.holds {
			if h := &l.holds[i]; h.open && h.g.ended && h.g.to < h.to {
				h.to = max(h.g.to, h.from)
				notes = append(notes, fmt.Sprintf("goroutine %d ended at %s while it held %s: others wait for it for ever", h.g.id, show.Duration(h.g.to), named(l.name)))
			}
		}
		for _, w := range l.waits {
			if w.open && w.holder == w.g.id {
				notes = append(notes, fmt.Sprintf("goroutine %d has waited since %s for %s, which it holds itself: it waits for ever", w.g.id, show.Duration(w.from), named(l.name)))
			}
		}
	}
	if n := len(notes); n > maxNotes {
		notes = append(notes[:maxNotes], fmt.Sprintf("… and %d more of this kind", n-maxNotes))
	}
	return notes
}

// maxNotes is the maximum number of notes of one kind.
const maxNotes = 5
