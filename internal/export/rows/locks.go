package rows

// locks finds out from whom a wait got its lock: from the goroutine that was the
// last to release it before the grant, and after the wait began.
type locks struct {
	m     map[uint64]*lock // by address
	sweep int              // locks at which those that nobody uses are dropped
}

// lock is what is known of one that is in use.
type lock struct {
	holds   []running // the last of them, by their starts
	waiting int
}

// recentHolds is how many holds of a lock are looked at: many may read at once,
// and the last to begin need not be the last to end.
const recentHolds = 64

// minSweep keeps small traces from sweeping at every other lock.
const minSweep = 1024

func newLocks() locks { return locks{m: map[uint64]*lock{}, sweep: minSweep} }

// begin takes in a wait or a hold. An open wait got nothing yet.
func (ls *locks) begin(x *running, open bool) {
	l := ls.m[x.lock]
	if l == nil {
		if len(ls.m) >= ls.sweep {
			ls.drop(x.start)
		}
		l = &lock{}
		ls.m[x.lock] = l
	}
	switch {
	case x.wait && !open:
		l.waiting++
	case !x.wait:
		if len(l.holds) == 2*recentHolds {
			l.holds = l.holds[:copy(l.holds, l.holds[recentHolds:])]
		}
		l.holds = append(l.holds, *x)
	}
}

// drop forgets the locks that nobody holds or waits for at now.
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

// over returns the link that ends at a wait's end; nil if there is none.
func (ls *locks) over(x *running) *Link {
	l := ls.m[x.lock]
	if l == nil {
		return nil
	}
	l.waiting--
	var from *running
	for i := len(l.holds) - 1; i >= 0 && i >= len(l.holds)-recentHolds; i-- {
		h := &l.holds[i]
		if h.key != x.key && x.start < h.end && h.end <= x.end && (from == nil || h.end > from.end) {
			from = h
		}
	}
	if from == nil {
		return nil
	}
	return &Link{ID: uint64(from.loc), From: from.row, FromTime: from.end, To: x.row, ToTime: x.end}
}
