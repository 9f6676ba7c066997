package analysis

import (
	"math"

	"github.com/scopeview/scopeview/internal/trace"
)

// unheld are waits of which it is not known who had the lock when they began, by the lock's
// address. Hooks learn who has a lock only once somebody waits for it, and then the record of the hold
// begins after the wait. What holds tell of the time of the wait is taken, so that who held a lock and
// who was waited for are one answer; the rest of the time is not known.
type unheld map[uint64][]unheldWait

type unheldWait struct {
	o        *Object
	goid     uint64 // who waits
	from, to int64  // what is left of the wait
	told     bool   // some of it was
}

// begin takes in a wait.
func (u unheld) begin(addr uint64, x unheldWait) {
	u.settle(addr, x.from)
	u[addr] = append(u[addr], x)
}

// hold takes in that e has the lock, whose goroutine is in k. Holds come by their starts.
func (u unheld) hold(addr uint64, e *trace.Event, k HolderKey) {
	u.settle(addr, e.Start)
	list := u[addr]
	for i := range list {
		x := &list[i]
		from, to := max(x.from, e.Start), min(x.to, e.Start+e.Dur)
		if to > from && x.goid != e.Goid {
			x.tell(k, to-from)
			x.tell(HolderKey{Unknown: true}, from-x.from)
			x.from = to
		}
	}
}

// tell counts a part of the wait, which counts once.
func (x *unheldWait) tell(k HolderKey, ns int64) {
	if ns <= 0 && (x.told || x.to > x.from) {
		return
	}
	w := x.o.holders.at(k, maxWhere)
	if w.Time += ns; !x.told {
		w.Count, x.told = w.Count+1, true
	}
}

// settle gives up the waits that were over by a moment.
func (u unheld) settle(addr uint64, now int64) {
	list := u[addr]
	kept := list[:0]
	for i := range list {
		if x := &list[i]; x.to <= now {
			x.tell(HolderKey{Unknown: true}, x.to-x.from)
		} else {
			kept = append(kept, *x)
		}
	}
	if u[addr] = kept; len(kept) == 0 {
		delete(u, addr)
	}
}

// finish gives up all.
func (u unheld) finish() {
	for addr := range u {
		u.settle(addr, math.MaxInt64)
	}
}
