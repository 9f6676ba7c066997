package count

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Operations are all looked at for a first while, and then one of so many, by chance: what is seen counts
// for the others. That needs no clock, and is as right on a machine that is busy.
const firstLook = 50 * time.Millisecond

// oneOf is of how many operations one is told of where a share of the time is looked at: a twentieth are one
// of 256. Being passed over takes some 3 ns, and being told of 50.
func oneOf(share float64) uint32 {
	return 1 << max(int(math.Round(math.Log2(12.8/share))), 1)
}

// watch has one of so many operations told of, or none.
func watch(of uint32) {
	if of > 0 {
		atomic.StoreUint32(mask, of-1)
	}
	for _, f := range flags {
		atomic.StoreUint32(f, of)
	}
}

// look has operations looked at, until the writer ends.
func (w *writer) look() {
	defer w.done.Done()
	defer watch(0)
	watch(1)
	if c.exact {
		<-w.quit
		return
	}
	if !w.pause(firstLook) {
		return
	}
	of := oneOf(w.params.Share)
	watch(of)
	c.scale.Store(unit * int64(of))
	<-w.quit
}

// looked is for how much of the time, as a part of all operations, they were looked at.
func (w *writer) looked(d time.Duration) time.Duration {
	if c.exact || d <= firstLook {
		return d
	}
	return firstLook + (d-firstLook)/time.Duration(oneOf(w.params.Share))
}

// clock is the CPU time of the program in ns, or the time where that is not to be had.
func clock() float64 {
	if ns, ok := sys.ProcessClock(); ok {
		return float64(ns)
	}
	return float64(time.Since(epoch))
}

// epoch is when the program began.
var epoch = time.Now()

// pause waits, and reports whether the writer goes on.
func (w *writer) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.quit:
		return false
	}
}
