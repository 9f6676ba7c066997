package analysis

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// Lock tells of the waits for, and the holds of, the locks that share a name.
// All times are nanoseconds; what has not ended counts as Open only, with its
// time up to the last moment that the trace knows.
type Lock struct {
	Name  uint16
	Waits Periods // only where somebody had to wait
	Holds Periods
	Since bool // some holds may have begun before their records

	heldBy tally
}

// Periods are the waits or the holds of a lock.
type Periods struct {
	Count, Total, Max int64
	Open, OpenTime    int64
	Across            int64 // the clock stepped meanwhile: their times are unknown and in no sum
}

// add counts a period of whose duration so much counts.
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

// HolderKey is what a goroutine that held a lock was in: Kind is KindTask in a
// scope, KindWait while waiting for another lock, and 0 in no scope at all.
type HolderKey struct {
	Kind    format.Kind
	Name    uint16
	Unknown bool // which goroutine it was is not known
}

// Holder is how long a lock was held by goroutines that were in a scope.
type Holder struct {
	HolderKey
	Time  int64
	Share float64 // of the time that the lock was held
}

// HeldBy lists what had the moments while the lock was held, the longest first:
// each moment belongs to the innermost scope on the holder's row, be it around
// the hold or inside it.
func (l *Lock) HeldBy() []Holder {
	var hs []Holder
	for _, w := range l.heldBy.shares() {
		hs = append(hs, Holder{w.HolderKey, w.Time, w.Share})
	}
	return hs
}

func (l *Lock) held(by *running, d int64) { l.heldBy.at(by.key(), math.MaxInt).Time += d }

// key tells what a goroutine was in; nil: in no scope.
func (r *running) key() HolderKey {
	switch {
	case r == nil:
		return HolderKey{}
	case r.kind == format.KindWait:
		return HolderKey{Kind: format.KindWait, Name: r.name}
	}
	return HolderKey{Kind: format.KindTask, Name: r.name}
}
