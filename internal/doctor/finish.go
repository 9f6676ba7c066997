package doctor

import (
	"cmp"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
)

// finish sorts and links the model after everything was added.
func (m *model) finish() {
	slices.SortFunc(m.gs, func(a, b *gor) int { return cmp.Compare(a.id, b.id) })
	for _, g := range m.gs {
		slices.SortStableFunc(g.ivs, func(a, b iv) int { return cmp.Compare(a.from, b.from) })
		for i := range g.spans {
			if s := &g.spans[i]; s.cpu == -1 && m.hasGo && len(g.ivs) > 0 && s.to-s.from < m.span()/4 {
				s.cpu = g.onCPU(s.from, s.to) // only for short scopes: many long ones would visit the same intervals again and again
			}
		}
		for i := range g.ivs {
			g.from, g.to = min(g.from, g.ivs[i].from), max(g.to, g.ivs[i].to)
		}
	}
	for _, l := range m.locks {
		slices.SortStableFunc(l.waits, func(a, b turn) int { return cmp.Compare(a.from, b.from) })
		slices.SortStableFunc(l.holds, func(a, b turn) int { return cmp.Compare(a.from, b.from) })
	}
	m.waitedFor()
	for _, l := range m.locks {
		if !l.every && !l.place {
			m.guessHolds(l)
		}
	}
}

// guessHolds adds holds that were not recorded because the lock was free when it was taken.
// Their waiters' records name the holder, and the states name the goroutine that woke them.
func (m *model) guessHolds(l *lock) {
	known := map[*gor][]turn{}
	for _, h := range l.holds {
		known[h.g] = append(known[h.g], h)
	}
	var guessed []turn
	for _, w := range l.waits {
		if w.holder == 0 {
			continue
		}
		for i := w.g.at(w.from); i < len(w.g.ivs) && w.g.ivs[i].from < w.to; i++ {
			v := &w.g.ivs[i]
			by := m.byID[v.by]
			if v.by != w.holder || by == nil {
				continue
			}
			h := turn{g: by, from: w.from, to: min(v.to, w.to), guessed: true}
			hs := known[h.g]
			k := sort.Search(len(hs), func(k int) bool { return hs[k].to > h.from })
			if k == len(hs) || hs[k].from >= h.to { // otherwise it is recorded
				guessed = append(guessed, h)
			}
			break
		}
	}
	slices.SortStableFunc(guessed, func(a, b turn) int { return cmp.Compare(a.from, b.from) })
	last := map[*gor]int{} // last guessed hold of each goroutine, an index of l.holds
	for _, h := range guessed {
		if i, ok := last[h.g]; ok && l.holds[i].to >= h.from {
			l.holds[i].to = max(l.holds[i].to, h.to)
			continue
		}
		last[h.g] = len(l.holds)
		l.holds = append(l.holds, h)
	}
	slices.SortStableFunc(l.holds, func(a, b turn) int { return cmp.Compare(a.from, b.from) })
}

// flats returns the stretches in which each scope is the innermost one; of overlapping
// scopes that is the one that began later. It is computed on first use: without states most
// goroutines never need it, and it takes as much memory as the scopes.
func (g *gor) flats() []flat {
	if g.flat == nil {
		g.flatten()
	}
	return g.flat
}

// flatten computes flat from spans.
func (g *gor) flatten() {
	var open []span
	at := int64(0)
	put := func(to int64) { // adds the stretches from at to to
		for n := len(open); n > 0 && at < to; n = len(open) {
			top := open[n-1]
			if end := min(top.to, to); end > at {
				if k := len(g.flat); k > 0 && g.flat[k-1].to == at && g.flat[k-1].name == top.name {
					g.flat[k-1].to = end
				} else {
					g.flat = append(g.flat, flat{at, end, top.name})
				}
				at = end
			}
			if top.to <= at {
				open = open[:n-1]
			}
		}
		at = max(at, to)
	}
	for _, s := range g.spans {
		put(s.from)
		open = append(open, s)
	}
	put(1<<63 - 1)
}

// waitedFor sets the lock of the intervals in which goroutines wait for one: by the records
// of package scope's locks, and by the place for others. A woken goroutine that is not
// running yet still waits for the lock: unlocking a mutex readies a waiter, but the
// unlocking goroutine often locks it again before the waiter runs.
func (m *model) waitedFor() {
	for n, l := range m.locks {
		for _, w := range l.waits {
			for i := w.g.at(w.from); i < len(w.g.ivs) && w.g.ivs[i].from < w.to; i++ {
				if v := &w.g.ivs[i]; v.lock < 0 && !v.core {
					v.lock = int32(n)
				}
			}
		}
	}
	m.waitedInPlaces()
}

// waitedInPlaces makes a lock for each place where goroutines wait without a record.
func (m *model) waitedInPlaces() {
	places := map[string]int32{}
	for g := range m.users() {
		for i := range g.ivs {
			v := &g.ivs[i]
			if v.state != states.Lock || v.lock >= 0 {
				continue
			}
			place := m.place(v.stack)
			if place == "" {
				continue
			}
			n, ok := places[place]
			if !ok {
				n = int32(len(m.locks))
				places[place] = n
				m.locks = append(m.locks, &lock{name: place, kind: format.LockUnknown, place: true, acquired: -1})
			}
			v.lock = n
			w := turn{g: g, from: v.from, to: v.to}
			// A woken waiter still waits for the lock until it has a core: where locks are
			// handed on fast, that is most of their cost.
			if i+1 < len(g.ivs) {
				if next := &g.ivs[i+1]; next.state == states.Runnable && next.from == w.to {
					next.lock, w.to = n, next.to
				}
			}
			m.locks[n].waits = append(m.locks[n].waits, w)
			m.locks[n].contended++
		}
	}
}
