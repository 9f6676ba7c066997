package timeline

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
)

// locksMost is the maximum number of objects in a tile: those with the longest waits.
const locksMost = 200

// lockTile has the holders of objects in a stretch of time, and the numbers of waiters. It
// has packed columns, object by object:
//
//	holdStart d, holdDur u, holdGoid u, holdScope u, holdMany u, holdFlags b
//	              the stretches in which it was held, which do not overlap: the goroutine of the longest
//	              hold in it, the name of that hold's scope (plus one; 0: none), the number
//	              of holds, 1 with other readers
//	waitTime d, waitCount u, waitSum u
//	              a time, the maximum number of waiters until the next one, and the sum of their times
type lockTile struct {
	From  int64     `json:"from"`
	To    int64     `json:"to"`
	Res   int64     `json:"res"`
	Locks []lockRow `json:"locks"`
	More  int       `json:"more,omitempty"` // number of objects left out
	Items int64     `json:"-"`

	columns []*column
}

// lockRow is one object. Its times are those in the tile's stretch, in ns; open waits and
// holds count up to the last known moment.
type lockRow struct {
	Name    uint16 `json:"name"`
	Addr    string `json:"addr"`
	Kind    string `json:"kind"`
	Waits   int    `json:"waits"`
	Wait    int64  `json:"wait"`
	WaitMax int64  `json:"waitMax"`
	Holds   int    `json:"holds"`
	Hold    int64  `json:"hold"`
	HoldMax int64  `json:"holdMax"`
	Most    int    `json:"most"` // maximum number of waiters
	Held    int    `json:"held"` // numbers of entries in the columns
	Steps   int    `json:"steps"`
	// Sums are for the whole recording; nil: not known.
	Sums *lockSums `json:"sums,omitempty"`

	waits, holds []lockSpan
}

type lockColumns struct {
	start, dur, goid, scope, many, flags column
	time, count, sum                     column
}

// LockTile packs the locks that touch [from, to], in at most max items unless there are more
// objects; 0: no limit.
func (x *Index) LockTile(from, to, max int64) *lockTile {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := &lockTile{From: from, To: to, Locks: []lockRow{}}
	for _, l := range x.locks.byKey {
		if r, ok := x.lockRow(l, from, to); ok {
			t.Locks = append(t.Locks, r)
		}
	}
	slices.SortFunc(t.Locks, func(a, b lockRow) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(b.Hold, a.Hold), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Addr, b.Addr))
	})
	if len(t.Locks) > locksMost {
		t.More, t.Locks = len(t.Locks)-locksMost, t.Locks[:locksMost]
	}
	x.packLocks(t)
	for max > 0 && t.Items > max && t.Res <= to-from {
		t.Res = evenRes(4*t.Res + (to-from)/max/4 + 1)
		x.packLocks(t)
	}
	return t
}

// lockRow sums up what touches [from, to]; ok is false if nothing does.
func (x *Index) lockRow(l *lock, from, to int64) (r lockRow, ok bool) {
	r = lockRow{
		Name: l.name, Addr: "0x" + strconv.FormatUint(l.addr, 16), Kind: format.LockKindNames[l.kind],
		Sums: l.sums, waits: x.lockSpans(l, false), holds: x.lockSpans(l, true),
	}
	for _, s := range r.waits {
		if s.end >= from && s.start <= to {
			r.Waits++
			r.Wait += s.end - s.start
			r.WaitMax = max(r.WaitMax, s.end-s.start)
		}
	}
	for _, s := range r.holds {
		if s.end >= from && s.start <= to {
			r.Holds++
			r.Hold += s.end - s.start
			r.HoldMax = max(r.HoldMax, s.end-s.start)
		}
	}
	return r, r.Waits+r.Holds > 0
}

// packLocks fills the columns at the tile's resolution.
func (x *Index) packLocks(t *lockTile) {
	c := &lockColumns{}
	t.columns = named("holdStart:d holdDur:u holdGoid:u holdScope:u holdMany:u holdFlags:b waitTime:d waitCount:u waitSum:u",
		&c.start, &c.dur, &c.goid, &c.scope, &c.many, &c.flags, &c.time, &c.count, &c.sum)
	t.Items = 0
	for i := range t.Locks {
		r := &t.Locks[i]
		r.Held, r.Steps, r.Most = 0, 0, 0
		holders(r.holds, t.From, t.To, t.Res, func(h *holder) {
			r.Held++
			c.start.d(h.start)
			c.dur.u(uint64(h.end - h.start))
			c.goid.u(x.rows[h.longest.row].goid)
			scope := uint64(0)
			if name, ok := x.scopeOf(&h.longest); ok {
				scope = uint64(name) + 1
			}
			c.scope.u(scope)
			c.many.u(uint64(h.count))
			flags := byte(0)
			if h.shared {
				flags = 1
			}
			c.flags.b(flags)
		})
		waiting(r.waits, t.From, t.To, t.Res, func(at int64, n int, sum int64) {
			r.Steps++
			r.Most = max(r.Most, n)
			c.time.d(at)
			c.count.u(uint64(n))
			c.sum.u(uint64(sum))
		})
		t.Items += int64(r.Held + r.Steps)
	}
}
