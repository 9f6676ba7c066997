package analysis

import (
	"math"

	"github.com/scopeview/scopeview/internal/trace"
)

// unheld has the waits whose lock had no known holder when they began, by the lock's
// address. Hooks learn the holder only once a goroutine waits, and then the record of the
// hold begins after the wait. The part of the wait that later holds cover is charged to
// them, so that hold times and waits agree; the rest counts as unknown.
type unheld map[uint64][]unheldWait

type unheldWait struct {
	o        *Object
	goid     uint64 // the waiter
	from, to int64  // the remaining part of the wait
	charged  bool   // a part of it is charged
}

// begin adds a wait.
func (u unheld) begin(addr uint64, x unheldWait) {
	u.settle(addr, x.from)
	u[addr] = append(u[addr], x)
}

// hold charges the waits for the lock to e, whose goroutine is in k. Holds come by their
// starts.
func (u unheld) hold(addr uint64, e *trace.Event, k HolderKey) {
	u.settle(addr, e.Start)
	list := u[addr]
	for i := range list {
		x := &list[i]
		from, to := max(x.from, e.Start), min(x.to, e.Start+e.Dur)
		if to > from && x.goid != e.Goid {
			x.charge(k, to-from)
			x.charge(HolderKey{Unknown: true}, from-x.from)
			x.from = to
		}
	}
}

// charge charges a part of the wait, which counts once.
func (x *unheldWait) charge(k HolderKey, ns int64) {
	if ns <= 0 && (x.charged || x.to > x.from) {
		return
	}
	w := x.o.holders.at(k, maxWhere)
	if w.Time += ns; !x.charged {
		w.Count, x.charged = w.Count+1, true
	}
}

// settle charges the rest of the waits that were over by now as unknown.
func (u unheld) settle(addr uint64, now int64) {
	list := u[addr]
	kept := list[:0]
	for i := range list {
		if x := &list[i]; x.to <= now {
			x.charge(HolderKey{Unknown: true}, x.to-x.from)
		} else {
			kept = append(kept, *x)
		}
	}
	if u[addr] = kept; len(kept) == 0 {
		delete(u, addr)
	}
}

// finish settles all waits.
func (u unheld) finish() {
	for addr := range u {
		u.settle(addr, math.MaxInt64)
	}
}
