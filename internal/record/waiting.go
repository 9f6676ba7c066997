//go:build !scope_off

package record

import (
	"github.com/scopeview/scopeview/internal/format"
)

// waiting is a wait for a lock, or the stretch in which a loop tries again. Its
// record is begun when it has lasted for the threshold, or for spinFor, so that a
// wait that is over by then costs none. One that was begun, and turns out to be
// shorter than the threshold, is called off: its record stops where it starts.
type waiting struct {
	r         *recorder
	sums      *lockSums
	addr      uint64 // of the lock
	head      uint64 // word 2 of its record
	holder    uint64 // who had the lock when the wait began
	what      uint64
	start     int64 // ticks
	threshold int64 // ticks
	begun     bool
	h         Handle
}

// spinFor is in ns.
const spinFor = 1000

// ready reports whether the wait is one to be recorded.
func (w *waiting) ready() bool {
	find := w.r.names.given
	if w.sums == restLocks {
		find = w.r.names.find // it is nobody's name
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

// due begins the wait's record, if it is time for that, and reports whether it was.
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

// over ends the wait now, after so many tries (0: there is nothing to say of them),
// counts it, and reports whether it lasted for the threshold; on is
// sys.Live.Locking.
func (w *waiting) over(on uint64, tries int) bool {
	// A nanosecond at least, or it would look as if it had been called off.
	least := max(w.r.ticks(2), 1)
	now := max(w.r.clock.Now(), w.start+least)
	took := now - w.start
	long := took >= w.threshold
	if long && !w.begun {
		w.begin()
		now = max(now, w.h.Start+least) // its chunk may be a new one, in which nothing begins earlier
	}
	switch {
	case w.h.Loc == 0: // too short to be recorded, or there was no place
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
		return false // its recording is over, and has told its sums
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
