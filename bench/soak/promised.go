//go:build linux

package main

// slack returns the maximum difference of the trace's times from the ledger's: 5 µs,
// and 100 ppm of the time since the start. The trace's clock is the processor's
// counter, compared with the system's once a second; behind the last comparison
// it goes on at the rate that it had, and the system's clock may be slewed
// meanwhile.
func (x *examination) slack(at int64) int64 { return 5_000 + (at-x.start)/10_000 }

// mostUncounted is the maximum number of a worker's steps whose separate ends were lost
// since lost ends were counted last: for each, the worker must have been off the CPU for
// as long as its chunk needs to be overwritten.
const mostUncounted = 2

// steps checks that the promised steps of a worker exist.
func (x *examination) steps(w int) {
	a := &x.l.workers[w]
	begun, ended := a.begun.Load(), a.ended.Load()
	from := x.firstPromised(a, begun, ended)
	polled := x.l.polled[w].Load()
	lossy := x.lostBetween(a, polled, ended)
	apart, uncounted := 0, 0 // ended but shown as open
	for n := from; n < ended; n++ {
		s := x.found[w][n]
		switch {
		case !a.kept(n):
			if s != nil {
				x.fail("step %d of worker %d was lost, and is there", n, w)
			}
		case s == nil:
			x.fail("step %d of worker %d, of which the last that ended is %d, is not there (those from %d on are promised)", n, w, ended-1, from)
		case s.open && a.unsure(n):
		case s.open && n >= polled && lossy:
			uncounted++
		case s.open:
			apart++
		default:
			x.promised++
		}
	}
	if lost := x.l.lostEnds.Load(); int64(apart) > lost {
		x.fail("%d steps of worker %d had ended and show as open, %d ends were lost", apart, w, lost)
	}
	if uncounted > mostUncounted {
		x.fail("%d steps of worker %d that have ended last show as open", uncounted, w)
	}
	for n, s := range x.found[w] {
		if n >= begun {
			x.fail("step %d of worker %d is there, of %d that began", n, w, begun)
		}
		if s.times > 1 {
			x.fail("step %d of worker %d is there %d times", n, w, s.times)
		}
	}
	for i := range a.times {
		m := &a.times[i]
		n := m.n.Load() - 1
		if s := x.found[w][n]; n < ended && n+remembered > ended && s != nil && a.kept(n) && !s.open {
			x.timed++
			x.between(m, s, "step", n)
		}
	}
}

// firstPromised returns the first step known to have begun after the time from which on the
// trace is complete.
func (x *examination) firstPromised(a *account, begun, ended uint64) uint64 {
	first := ended
	if x.until == 0 {
		first = 0 // nothing was overwritten
	}
	for i := range a.times {
		m := &a.times[i]
		if n := m.n.Load(); n > 0 && n <= ended && m.t0 > x.until+x.slack(x.until) {
			first = min(first, n-1)
		}
	}
	if begun > remembered { // of those before the ledger has forgotten what became of them
		first = max(first, begun-remembered)
	}
	return first
}

// lostBetween reports whether a step in a range found no place.
func (x *examination) lostBetween(a *account, from, to uint64) bool {
	if to > remembered {
		from = max(from, to-remembered)
	}
	for n := from; n < to; n++ {
		if !a.kept(n) {
			return true
		}
	}
	return false
}

// between checks that a scope began and ended at the stored times.
func (x *examination) between(m *moments, s *seen, what string, n uint64) {
	off := max(m.t0-s.start, s.start-m.t1, m.t2-s.stop, s.stop-m.t3, 0)
	x.off = max(x.off, off)
	if off > x.slack(s.stop) {
		x.fail("%s %d ran from %d to %d, and was begun between %d and %d and ended between %d and %d", what, n, s.start, s.stop, m.t0, m.t1, m.t2, m.t3)
	}
}

// longer checks the scopes whose begins were overwritten before they ended: they are
// known as long as their ends exist.
func (x *examination) longer() {
	for i := range x.l.batches {
		b := &x.l.batches[i]
		n := b.n.Load()
		if n == 0 || !b.kept || b.t2 <= x.until+x.slack(b.t2) {
			continue
		}
		var s *seen
		for start, one := range x.batch {
			if slack := x.slack(start); start >= b.t0-slack && start <= b.t1+slack {
				s = one
			}
		}
		switch {
		case s == nil:
			x.fail("batch %d, which ended %d ns after what was overwritten, is not there", n-1, b.t2-x.until)
		case s.open && !b.unsure:
			x.fail("batch %d had ended and shows as open", n-1)
		case !s.open:
			x.batches++
			x.between(&b.moments, s, "batch", n-1)
		}
	}
}
