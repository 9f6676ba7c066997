package analysis

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// rows replays the scopes of each goroutine's row. Every moment of a row belongs to at most
// one scope: to the running one that began last, the innermost. Where scopes nest, a scope
// has its duration without its children's: its self time. Where they overlap, because ends
// came out of order, the one that began later has the moments that both cover. So self times
// are never negative, and on a row they add up to the time that it was in any scope.
//
// Waits for locks count like scopes: a waiting goroutine does nothing of its own. Holds
// don't, since holding a lock is no activity: held is called with the scopes that run while
// they last. Pending scopes don't either: they are instants.
//
// A scope that outlasts another one, which began before it, gets the other one's remaining
// moments. So the stack of a row only contains scopes that nest.
type rows struct {
	// from and to bound the time that counts for Self and OpenSelf.
	from, to int64
	// charge, if not nil, is called with each stretch of a goroutine's time and its innermost
	// scope.
	charge func(goid uint64, r *running, from, to int64)
	// held is called for each stretch in which lock was held and by was the innermost scope;
	// by nil: no scope.
	held func(lock *Lock, by *running, from, to int64)

	table        rowTable
	last         *row // row of the last lookup; nil: look it up again
	sweep        int  // number of rows from which finished ones are dropped
	free         []*row
	unattributed int64 // self time of scopes that have no Stats
}

// running is a scope or a wait on a row.
type running struct {
	end  int64
	self *int64 // sum of its self time
	name uint16
	kind format.Kind
}

type holding struct {
	end  int64
	lock *Lock
}

// row is the row of one goroutine. All time before cursor has been charged.
type row struct {
	goid   uint64
	cursor int64
	stack  []running // beyond ground, running scopes that nest: the last is the innermost
	holds  []holding

	busy, open int64 // end of the last of all its scopes, and of the open ones
}

// minSweep keeps small traces from being swept at every other event.
const minSweep = 64

// at returns goid's row with all time before t charged.
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

// resume returns goid's row, with all time before since charged.
func (rs *rows) resume(goid uint64, since int64) *row {
	if r := rs.table.get(goid); r != nil {
		return r
	}
	r := &row{}
	if n := len(rs.free); n > 0 {
		r, rs.free = rs.free[n-1], rs.free[:n-1]
	}
	for len(r.stack) < ground {
		r.stack = append(r.stack, running{end: 1 << 62, self: &rs.unattributed})
	}
	*r = row{goid: goid, cursor: since, stack: r.stack[:ground], holds: r.holds[:0], busy: math.MinInt64, open: math.MinInt64}
	rs.table.put(goid, r)
	return r
}

// leave charges all time up to until, or in the last part the rest, and drops the rows: the
// next part resumes those that it needs.
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

// begin adds a scope or wait to a row that at returned. Its time becomes its own, and is
// taken from the scopes around it, until others begin in it.
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

// nest adds a scope or wait without counting its time.
func (rs *rows) nest(r *row, e *trace.Event, s *Stats, open bool) {
	r.stack = r.stack[:r.running(e.Start+e.Dur)]
	rs.push(r, e, s, open)
}

// push is the common part of begin and nest. s is nil for waits and for scopes that are
// filtered out. The time of open scopes is in no sum of ended ones.
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
	x := &r.stack[n] // filled in place: a copy would wait until the value just built is written
	x.end, x.self, x.name, x.kind = end, &rs.unattributed, e.Name, e.Kind
	switch {
	case s == nil:
	case open:
		x.self = &s.OpenSelf
	default:
		x.self = &s.Self
	}
	return x
}

// ground is the number of entries at the bottom of each stack that never end, so that
// nothing has to check for its bottom.
const ground = 4

// running returns the length of the stack up to the last scope that has not ended by t. It
// checks four without branches: the number that have ended is unpredictable, and a
// misprediction costs more.
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

// within returns the length of the stretch's part that counts.
func (rs *rows) within(from, to int64) int64 { return max(min(to, rs.to)-max(from, rs.from), 0) }

// maxHolds is the number of a row's holds, the last ones, that are charged. Without a limit
// the work would grow with the square of their number.
const maxHolds = 256

// hold adds a hold to a row that at returned.
func (r *row) hold(e *trace.Event, l *Lock) {
	if len(r.holds) == maxHolds {
		r.holds = r.holds[:copy(r.holds, r.holds[1:])]
	}
	r.holds = append(r.holds, holding{e.Start + e.Dur, l})
}

// innermost returns the running scope that began last, on a row that at returned; nil if
// there is none.
func (r *row) innermost() *running {
	r.stack = r.stack[:r.running(r.cursor)]
	if n := len(r.stack); n > ground {
		return &r.stack[n-1]
	}
	return nil
}

// outermost reports whether no scope runs on a row that at returned.
func (r *row) outermost() bool { return r.busy <= r.cursor }

// advance charges all time up to t.
func (rs *rows) advance(r *row, t int64) {
	for r.cursor < t && (rs.charge != nil || len(r.holds) > 0) {
		next, top := t, r.innermost()
		if top != nil {
			if next = min(t, top.end); rs.charge != nil {
				rs.charge(r.goid, top, r.cursor, next)
			}
		}
		if len(r.holds) > 0 {
			rs.chargeHolds(r, top, next)
		}
		r.cursor = next
	}
	r.cursor = max(r.cursor, t)
}

// chargeHolds charges the time from r.cursor to next to the holds on r.
func (rs *rows) chargeHolds(r *row, top *running, next int64) {
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

// dropEnded drops the rows on which nothing runs at t. No later event begins earlier, so
// they have no time left to charge.
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

// finish charges the rest.
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
