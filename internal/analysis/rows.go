package analysis

import (
	"math"

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
	// charge, if there is one, is given each stretch of time with the innermost scope.
	charge func(r *running, from, to int64)
	// held tells that lock was held while by had the stretch; by nil: no scope.
	held func(lock *Lock, by *running, from, to int64)

	table rowTable
	sweep int // rows at which those that are over are dropped
	free  []*row
}

// running is a scope or a wait on a row.
type running struct {
	end   int64
	goid  uint64
	name  uint16
	kind  format.Kind
	open  bool   // so that its moments are in no sum of ended ones
	stats *Stats // nil for waits and for scopes that are filtered out
}

// self adds to the time that the scope has for itself.
func (x *running) self(d int64) {
	switch {
	case x.stats == nil:
	case x.open:
		x.stats.OpenSelf += d
	default:
		x.stats.Self += d
	}
}

type holding struct {
	end  int64
	lock *Lock
}

// row is one goroutine's. All up to cursor has been given away.
type row struct {
	cursor int64
	stack  []running // those that run nest in each other: the last of them is the innermost
	holds  []holding

	busy, open int64 // when the last of all its scopes ends, and the last of those that are open
}

// minSweep keeps small traces from sweeping at every other event.
const minSweep = 64

// at returns goid's row with all before t given away.
func (rs *rows) at(goid uint64, t int64) *row {
	r := rs.table.get(goid)
	if r == nil {
		if rs.table.n >= max(rs.sweep, minSweep) {
			rs.dropEnded(t)
		}
		return rs.resume(goid, t)
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
	*r = row{cursor: since, stack: r.stack[:0], holds: r.holds[:0], busy: math.MinInt64, open: math.MinInt64}
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
	rs.sweep = 0
}

// begin puts a scope or wait on a row that at returned. Its time is its own, and none of that
// of those around it, until others begin in it.
func (rs *rows) begin(r *row, e *trace.Event, s *Stats, open bool) {
	from, end := e.Start, e.Start+e.Dur
	for n := len(r.stack); n > 0; n-- {
		x := &r.stack[n-1]
		if x.end > from {
			to := min(x.end, end)
			x.self(-rs.within(from, to))
			if from = to; x.end > end {
				break
			}
		}
		r.stack = r.stack[:n-1]
	}
	r.push(e, s, open)
	r.stack[len(r.stack)-1].self(rs.within(e.Start, end))
}

// resume puts a scope or wait on a row whose time has been reckoned.
func (r *row) resume(e *trace.Event, s *Stats, open bool) {
	n := len(r.stack)
	for n > 0 && r.stack[n-1].end <= e.Start+e.Dur {
		n--
	}
	r.stack = r.stack[:n]
	r.push(e, s, open)
}

func (r *row) push(e *trace.Event, s *Stats, open bool) {
	end := e.Start + e.Dur
	if e.Kind != format.KindWait {
		r.busy = max(r.busy, end)
		if open {
			r.open = max(r.open, end)
		}
	}
	r.stack = append(r.stack, running{end, e.Goid, e.Name, e.Kind, open, s})
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
	for n := len(r.stack); n > 0 && r.stack[n-1].end <= r.cursor; n-- {
		r.stack = r.stack[:n-1]
	}
	if n := len(r.stack); n > 0 {
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
				rs.charge(top, r.cursor, next)
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
	rs.table = rowTable{}
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
		for i := range r.stack {
			end = max(end, r.stack[i].end)
		}
		for i := range r.holds {
			end = max(end, r.holds[i].end)
		}
		rs.advance(r, end)
	})
	rs.table, rs.sweep = rowTable{}, 0
}
