//go:build !scope_off

package record

import (
	"github.com/scopeview/scopeview/internal/format"
)

// waiting is a wait for a lock, or the time in which a loop retries. Its record
// begins when it has lasted for the threshold, or for spinFor, so that a wait that
// is over by then costs none. A record of a wait that turns out to be shorter than
// the threshold is cancelled: it stops where it starts.
type waiting struct {
	r         *recorder
	sums      *lockSums
	addr      uint64 // of the lock
	head      uint64 // word 2 of its record
	holder    uint64 // the lock's holder when the wait began
	what      uint64
	start     int64 // ticks
	threshold int64 // ticks
	begun     bool
	h         Handle
}

// spinFor is in ns.
const spinFor = 1000

// ready prepares the wait, and reports whether it may be recorded.
func (w *waiting) ready() bool {
	find := w.r.names.given
	if w.sums == restLocks {
		find = w.r.names.find // the name is not the program's
	}
	id := find(w.sums.name)
	if id&nameOut != 0 {
		return false
	}
	w.r.lockFacts()
	w.head = headWait | id<<48
	w.threshold = w.r.ticks(w.r.threshold())
	return true
}

// due begins the wait's record if it is due, and reports whether the record has
// begun.
func (w *waiting) due() bool {
	if !w.begun && w.r.clock.Now()-w.start >= min(w.threshold, w.r.ticks(spinFor)) {
		w.begin()
	}
	return w.begun
}

func (w *waiting) begin() {
	w.begun = true
	w.h = w.r.beginLock(w.head, w.addr, w.holder, w.what, w.start)
}

// over ends the wait, after tries failed tries (0 for a lock), counts it, and
// reports whether it reached the threshold; on is sys.Live.Locking.
func (w *waiting) over(on uint64, tries int) bool {
	// At least a nanosecond, or it would look cancelled.
	least := max(w.r.ticks(2), 1)
	now := max(w.r.clock.Now(), w.start+least)
	took := now - w.start
	long := took >= w.threshold
	if long && !w.begun {
		w.begin()
		now = max(now, w.h.Start+least) // its chunk may be a new one, in which no record begins earlier
	}
	switch {
	case w.h.Loc == 0: // too short to be recorded, or there was no room
	case !long:
		endAt(w.h, w.h.Start, nil)
	case tries == 0:
		endAt(w.h, now, nil)
	default:
		var buf [usualWords]uint64
		x := encoder{w: buf[:], r: w.r}
		x.place(w.r.offset(w.h))
		x.slot(format.SlotInt, uint64(tries))
		endAt(w.h, now, &x)
	}
	if on>>1 != uint64(w.r.gen) {
		return false // its recording is over, and has written its sums
	}
	s := w.sums.counted()
	if long {
		s.contended.Add(contendedOne)
		return true
	}
	s.contended.Add(contendedOne | 1)
	s.shortWait.Add(took)
	return false
}
