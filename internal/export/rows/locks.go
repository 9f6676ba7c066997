package rows

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// locks finds the hold that a wait got its lock from: that of the last goroutine to release
// it before the grant, and after the wait began.
type locks struct {
	m     map[uint64]*lock // by address
	sweep int              // number of locks from which unused ones are dropped
}

// lock is a lock in use.
type lock struct {
	holds   []hold // the recent ones, by start
	waiting int
}

// wait is a wait for the lock at an address.
type wait struct {
	start int64
	key   uint64 // of the goroutine
	lock  uint64
}

// hold is a goroutine's hold of a lock.
type hold struct {
	end int64
	key uint64
	row *Row
	loc format.Loc
}

// recentHolds is the number of a lock's holds that are searched: many readers may hold it at
// once, and the last to begin need not be the last to end.
const recentHolds = 64

// minSweep keeps small traces from being swept at every other lock.
const minSweep = 1024

func newLocks() locks { return locks{m: map[uint64]*lock{}, sweep: minSweep} }

// begin adds a goroutine's wait or hold, whose first argument is the lock's address. It
// returns the wait; nil for a hold. An open wait has not got the lock.
func (ls *locks) begin(e *trace.Event, r *Row, key uint64) *wait {
	addr := e.Args[0].Value
	l := ls.m[addr]
	if l == nil {
		if len(ls.m) >= ls.sweep {
			ls.drop(e.Start)
		}
		l = &lock{}
		ls.m[addr] = l
	}
	if e.Kind == format.KindWait {
		if !e.Open {
			l.waiting++
		}
		return &wait{e.Start, key, addr}
	}
	if len(l.holds) == 2*recentHolds {
		l.holds = l.holds[:copy(l.holds, l.holds[recentHolds:])]
	}
	l.holds = append(l.holds, hold{e.Start + e.Dur, key, r, e.Loc})
	return nil
}

// drop drops the locks that no goroutine holds or waits for at now.
func (ls *locks) drop(now int64) {
	for addr, l := range ls.m {
		used := l.waiting > 0
		for i := range l.holds {
			used = used || l.holds[i].end >= now
		}
		if !used {
			delete(ls.m, addr)
		}
	}
	ls.sweep = max(minSweep, 2*len(ls.m))
}

// over returns the link that ends at a wait's end, or nil.
func (ls *locks) over(x *running) *Link {
	w := x.wait
	l := ls.m[w.lock]
	if l == nil {
		return nil
	}
	l.waiting--
	var from *hold
	for i := len(l.holds) - 1; i >= 0 && i >= len(l.holds)-recentHolds; i-- {
		h := &l.holds[i]
		if h.key != w.key && w.start < h.end && h.end <= x.end && (from == nil || h.end > from.end) {
			from = h
		}
	}
	if from == nil {
		return nil
	}
	return &Link{ID: uint64(from.loc), From: from.row, FromTime: from.end, To: x.row, ToTime: x.end}
}
