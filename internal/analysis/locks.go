package analysis

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// Lock has the waits for and the holds of the locks that share a name. All times are ns;
// those that have not ended count only as Open, with their time up to the trace's last
// moment.
type Lock struct {
	Name  uint16
	Since bool    // some holds may have begun before their records
	Waits Periods // only of goroutines that had to wait
	Holds Periods

	heldBy tally
}

// Periods are the waits or the holds of a lock.
type Periods struct {
	Count, Total, Max int64
	Open, OpenTime    int64
	Across            int64 // the clock stepped meanwhile: their times are unknown and in no sum
}

// add counts a period of length dur, of which counted ns are in Total.
func (p *Periods) add(dur, counted int64, open, across bool) {
	if across {
		p.Across++
		return
	}
	if open {
		p.Open++
		p.OpenTime += dur
		return
	}
	p.Count++
	p.Total += counted
	p.Max = max(p.Max, dur)
}

// HolderKey is the scope of a goroutine that held a lock: Kind is KindTask in a scope,
// KindWait while waiting for another lock, and 0 in no scope.
type HolderKey struct {
	Kind    format.Kind
	Name    uint16
	Unknown bool // the goroutine is not known
}

// Holder is the time that a lock was held by goroutines in a scope.
type Holder struct {
	HolderKey
	Time  int64
	Share float64 // of the time that the lock was held
}

// HeldBy returns the scopes that the time of the holds belongs to, the longest first: each
// moment belongs to the innermost scope on the holder's row, whether it is around the hold
// or inside it.
func (l *Lock) HeldBy() []Holder {
	var hs []Holder
	for _, w := range l.heldBy.shares() {
		hs = append(hs, Holder{w.HolderKey, w.Time, w.Share})
	}
	return hs
}

func (l *Lock) held(by *running, d int64) { l.heldBy.at(by.key(), math.MaxInt).Time += d }

// key returns the scope as a HolderKey; nil: in no scope.
func (r *running) key() HolderKey {
	switch {
	case r == nil:
		return HolderKey{}
	case r.kind == format.KindWait:
		return HolderKey{Kind: format.KindWait, Name: r.name}
	}
	return HolderKey{Kind: format.KindTask, Name: r.name}
}
