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
// The memory that rows takes grows with the scopes that run at once: what has
// ended is dropped whenever it has become half of what is kept.
type rows struct {
	// charge gives a stretch of time to the innermost scope.
	charge func(r *running, from, to int64)
	// held tells that lock was held while by had the stretch; by nil: no scope.
	held func(lock *Lock, by *running, from, to int64)

	byGoid map[uint64]*row
	sweep  int // rows at which those that are over are dropped
	recent [recentRows]recentRow
	free   []*row
}

// recentRow is a row that was asked for; of those whose numbers end alike the last one.
type recentRow struct {
	goid uint64
	row  *row
}

const recentRows = 64

// running is a scope or a wait on a row.
type running struct {
	end   int64
	goid  uint64
	name  uint16
	kind  format.Kind
	open  bool   // so that its moments are in no sum of ended ones
	stats *Stats // nil for waits and for scopes that are filtered out
}

type holding struct {
	end  int64
	lock *Lock
}

// row is one goroutine's. All up to cursor has been given away.
type row struct {
	cursor  int64
	stack   []running // by start; the last that has not ended is the innermost
	holds   []holding
	compact int // length of stack at which the ended ones are dropped
}

// minSweep keeps small traces from sweeping at every other event.
const minSweep = 64

// at returns goid's row with all before t given away.
func (rs *rows) at(goid uint64, t int64) *row {
	recent := &rs.recent[goid%recentRows]
	if recent.row == nil || recent.goid != goid {
		*recent = recentRow{goid, rs.find(goid, t)}
	}
	r := recent.row
	rs.advance(r, t)
	return r
}

// find returns goid's row; one that is new has nothing to give away before t.
func (rs *rows) find(goid uint64, t int64) *row {
	r := rs.byGoid[goid]
	if r != nil {
		return r
	}
	if len(rs.byGoid) >= max(rs.sweep, minSweep) {
		rs.dropEnded(t)
	}
	return rs.resume(goid, t)
}

// resume returns goid's row, of which all before since is given away.
func (rs *rows) resume(goid uint64, since int64) *row {
	r := rs.byGoid[goid]
	if r != nil {
		return r
	}
	if rs.byGoid == nil {
		rs.byGoid = make(map[uint64]*row)
	}
	r = &row{}
	if n := len(rs.free); n > 0 {
		r, rs.free = rs.free[n-1], rs.free[:n-1]
	}
	*r = row{cursor: since, stack: r.stack[:0], holds: r.holds[:0]}
	rs.byGoid[goid] = r
	return r
}

// leave gives away all up to a moment, of what is the last part the rest, and forgets the
// rows: the next part is told what it is to know of them.
func (rs *rows) leave(until int64, last bool) {
	if last {
		rs.finish()
		return
	}
	for _, r := range rs.byGoid {
		rs.advance(r, until)
		rs.free = append(rs.free, r)
	}
	clear(rs.byGoid)
	clear(rs.recent[:])
	rs.sweep = 0
}

// begin puts a scope or wait on a row that at returned.
func (r *row) begin(e *trace.Event, s *Stats) {
	if len(r.stack) >= max(r.compact, minSweep) {
		kept := r.stack[:0]
		for _, x := range r.stack {
			if x.end > r.cursor {
				kept = append(kept, x)
			}
		}
		r.stack = kept
		r.compact = 2 * len(kept)
	}
	r.stack = append(r.stack, running{e.Start + e.Dur, e.Goid, e.Name, e.Kind, e.Open, s})
}

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
	for i := len(r.stack) - 1; i >= 0; i-- {
		if r.stack[i].end > r.cursor {
			return &r.stack[i]
		}
	}
	return nil
}

// outermost reports whether no scope runs on a row that at returned.
func (r *row) outermost() bool {
	for i := range r.stack {
		if r.stack[i].end > r.cursor && r.stack[i].kind != format.KindWait {
			return false
		}
	}
	return true
}

// inOpen reports whether one of the scopes that run at now on a row has not ended.
func (r *row) inOpen(now int64) bool {
	for i := range r.stack {
		if x := &r.stack[i]; x.end > now && x.open && x.kind != format.KindWait {
			return true
		}
	}
	return false
}

// advance gives away all up to t.
func (rs *rows) advance(r *row, t int64) {
	for r.cursor < t {
		for n := len(r.stack); n > 0 && r.stack[n-1].end <= r.cursor; n-- {
			r.stack = r.stack[:n-1]
		}
		next := t
		var top *running
		if n := len(r.stack); n > 0 {
			top = &r.stack[n-1]
			next = min(t, top.end)
			rs.charge(top, r.cursor, next)
		}
		if len(r.holds) > 0 {
			rs.give(r, top, next)
		}
		r.cursor = next
	}
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
	for goid, r := range rs.byGoid {
		rs.advance(r, t)
		if r.over() {
			delete(rs.byGoid, goid)
		}
	}
	clear(rs.recent[:])
	rs.sweep = 2 * len(rs.byGoid)
}

func (r *row) over() bool {
	for i := range r.stack {
		if r.stack[i].end > r.cursor {
			return false
		}
	}
	return len(r.holds) == 0
}

// finish gives away the rest.
func (rs *rows) finish() {
	for _, r := range rs.byGoid {
		end := int64(math.MinInt64)
		for i := range r.stack {
			end = max(end, r.stack[i].end)
		}
		for i := range r.holds {
			end = max(end, r.holds[i].end)
		}
		rs.advance(r, end)
	}
	clear(rs.recent[:])
	rs.byGoid, rs.sweep = nil, 0
}
