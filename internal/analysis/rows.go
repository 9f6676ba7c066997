package analysis

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// rows replays what each goroutine's row was in. Every moment of a row belongs
// to one scope at most: to the one that began last among those that run, the
// innermost. Where scopes nest, what belongs to a scope is its duration without
// its children's: its self time. Where they overlap, because ends came out of
// order, the one that began later has the moments that both cover. So self times
// are never negative, and on a row they add up to the time that it was in any
// scope at all.
//
// Waits for locks take part like scopes: who waits does nothing of his own.
// Holds don't, since holding a lock is not something that one does: they are
// told who had the moments while they lasted. Neither do pending scopes, which
// are instants.
//
// A scope that outlasts another one, which began before it, has all moments that the other
// had left. So what is kept of a row is no more than what nests in each other.
type rows struct {
	// from and to bound the moments that count for Self and OpenSelf of what begins.
	from, to int64
	// charge, if there is one, is given each stretch of a goroutine's time with the innermost scope.
	charge func(goid uint64, r *running, from, to int64)
	// held tells that lock was held while by had the stretch; by nil: no scope.
	held func(lock *Lock, by *running, from, to int64)

	table  rowTable
	last   *row // that somebody asked for; nil: it may be forgotten
	sweep  int  // rows at which those that are over are dropped
	free   []*row
	nobody int64 // the self time of what has none
}

// running is a scope or a wait on a row.
type running struct {
	end  int64
	self *int64 // sums up the time that it has for itself
	name uint16
	kind format.Kind
}

type holding struct {
	end  int64
	lock *Lock
}

// row is one goroutine's. All up to cursor has been given away.
type row struct {
	goid   uint64
	cursor int64
	stack  []running // behind ground, those that run nest in each other: the last of them is the innermost
	holds  []holding

	busy, open int64 // when the last of all its scopes ends, and the last of those that are open
}

// minSweep keeps small traces from sweeping at every other event.
const minSweep = 64

// at returns goid's row with all before t given away.
func (rs *rows) at(goid uint64, t int64) *row {
	r := rs.last
	if r == nil || r.goid != goid {
		if r = rs.table.get(goid); r == nil {
			if rs.table.n >= max(rs.sweep, minSweep) {
				rs.dropEnded(t)
			}
			r = rs.resume(goid, t)
		}
		rs.last = r
	}
	if rs.charge == nil && len(r.holds) == 0 {
		r.cursor = max(r.cursor, t)
	} else {
		rs.advance(r, t)
	}
	return r
}

// resume returns goid's row, of which all before since is given away.
func (rs *rows) resume(goid uint64, since int64) *row {
	if r := rs.table.get(goid); r != nil {
		return r
	}
	r := &row{}
	if n := len(rs.free); n > 0 {
		r, rs.free = rs.free[n-1], rs.free[:n-1]
	}
	for len(r.stack) < ground {
		r.stack = append(r.stack, running{end: 1 << 62, self: &rs.nobody})
	}
	*r = row{goid: goid, cursor: since, stack: r.stack[:ground], holds: r.holds[:0], busy: math.MinInt64, open: math.MinInt64}
	rs.table.put(goid, r)
	return r
}

// leave gives away all up to a moment, of what is the last part the rest, and forgets the
// rows: the next part is told what it is to know of them.
func (rs *rows) leave(until int64, last bool) {
	if last {
		rs.finish()
		return
	}
	rs.table.each(func(_ uint64, r *row) {
		rs.advance(r, until)
		rs.free = append(rs.free, r)
	})
	rs.table.clear()
	rs.last, rs.sweep = nil, 0
}

// begin puts a scope or wait on a row that at returned. Its time is its own, and none of that
// of those around it, until others begin in it.
func (rs *rows) begin(r *row, e *trace.Event, s *Stats, open bool) {
	from, end := e.Start, e.Start+e.Dur
	n := r.running(from)
	for {
		x := &r.stack[n-1]
		to := min(x.end, end)
		*x.self -= rs.within(from, to)
		if from = to; x.end > end {
			break
		}
		n--
	}
	r.stack = r.stack[:n]
	*rs.push(r, e, s, open).self += rs.within(e.Start, end)
}

// nest puts a scope or wait on a row whose time is not to be reckoned.
func (rs *rows) nest(r *row, e *trace.Event, s *Stats, open bool) {
	r.stack = r.stack[:r.running(e.Start+e.Dur)]
	rs.push(r, e, s, open)
}

// push is for begin and nest. s is nil for waits and for scopes that are filtered out. The
// moments of what is open are in no sum of ended ones.
func (rs *rows) push(r *row, e *trace.Event, s *Stats, open bool) *running {
	end := e.Start + e.Dur
	if e.Kind != format.KindWait {
		r.busy = max(r.busy, end)
		if open {
			r.open = max(r.open, end)
		}
	}
	n := len(r.stack)
	r.stack = slices.Grow(r.stack, 1)[:n+1]
	x := &r.stack[n] // filled in there: a copy of what was just made waits until that is written
	x.end, x.self, x.name, x.kind = end, &rs.nobody, e.Name, e.Kind
	switch {
	case s == nil:
	case open:
		x.self = &s.OpenSelf
	default:
		x.self = &s.Self
	}
	return x
}

// ground is how many each stack stands on that never end: nobody has to look where that is.
const ground = 4

// running is as much of the stack as has not ended by t. How many have is different each time,
// and a processor that foresees it wrongly loses more than it takes to look at four.
func (r *row) running(t int64) int {
	n := len(r.stack)
	top := (*[ground]running)(r.stack[n-ground:])
	ended := func(i int) int { return int(uint64(top[i].end-t-1) >> 63) }
	n -= ended(3) + ended(2) + ended(1) + ended(0)
	for r.stack[n-1].end <= t {
		n--
	}
	return n
}

// within is how much of a stretch counts.
func (rs *rows) within(from, to int64) int64 { return max(min(to, rs.to)-max(from, rs.from), 0) }

// maxHolds is how many holds of a row, the last of them, are told who had the moments. With
// any number, what has to be told would grow with its square.
const maxHolds = 256

// hold puts a hold on a row that at returned.
func (r *row) hold(e *trace.Event, l *Lock) {
	if len(r.holds) == maxHolds {
		r.holds = r.holds[:copy(r.holds, r.holds[1:])]
	}
	r.holds = append(r.holds, holding{e.Start + e.Dur, l})
}

// innermost is what runs on a row that at returned and began last; nil: nothing.
func (r *row) innermost() *running {
	r.stack = r.stack[:r.running(r.cursor)]
	if n := len(r.stack); n > ground {
		return &r.stack[n-1]
	}
	return nil
}

// outermost reports whether no scope runs on a row that at returned.
func (r *row) outermost() bool { return r.busy <= r.cursor }

// advance gives away all up to t.
func (rs *rows) advance(r *row, t int64) {
	for r.cursor < t && (rs.charge != nil || len(r.holds) > 0) {
		next, top := t, r.innermost()
		if top != nil {
			if next = min(t, top.end); rs.charge != nil {
				rs.charge(r.goid, top, r.cursor, next)
			}
		}
		if len(r.holds) > 0 {
			rs.give(r, top, next)
		}
		r.cursor = next
	}
	r.cursor = max(r.cursor, t)
}

// give tells the holds on r who had the time from r.cursor to next.
func (rs *rows) give(r *row, top *running, next int64) {
	kept := r.holds[:0]
	for _, h := range r.holds {
		if to := min(next, h.end); to > r.cursor {
			rs.held(h.lock, top, r.cursor, to)
		}
		if h.end > next {
			kept = append(kept, h)
		}
	}
	r.holds = kept
}

// dropEnded forgets the rows on which nothing runs at t. No event begins
// earlier any more, so they have nothing left to give.
func (rs *rows) dropEnded(t int64) {
	old := rs.table
	rs.table, rs.last = rowTable{}, nil
	old.each(func(goid uint64, r *row) {
		if rs.advance(r, t); r.innermost() == nil && len(r.holds) == 0 {
			rs.free = append(rs.free, r)
		} else {
			rs.table.put(goid, r)
		}
	})
	rs.sweep = 2 * rs.table.n
}

// finish gives away the rest.
func (rs *rows) finish() {
	rs.table.each(func(_ uint64, r *row) {
		end := int64(math.MinInt64)
		for _, x := range r.stack[ground:] {
			end = max(end, x.end)
		}
		for i := range r.holds {
			end = max(end, r.holds[i].end)
		}
		rs.advance(r, end)
	})
	rs.table, rs.last, rs.sweep = rowTable{}, nil, 0
}
