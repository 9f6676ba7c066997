package count

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// firstLook is the time for which all operations are reported; after that a random sample
// is, whose elements count for the rest. That needs no clock, and is as accurate on a busy
// machine.
const firstLook = 50 * time.Millisecond

// oneOf returns n if one of n operations is to be reported for a share of the time: for a
// twentieth, n is 256. An unreported operation costs some 3 ns, a reported one 50.
func oneOf(share float64) uint32 {
	return 1 << max(int(math.Round(math.Log2(12.8/share))), 1)
}

// watch makes the hooks report one of this many operations, or none.
func watch(of uint32) {
	if of > 0 {
		atomic.StoreUint32(mask, of-1)
	}
	for _, f := range flags {
		atomic.StoreUint32(f, of)
	}
}

// look enables the reports of operations until the writer ends.
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

// looked returns the part of d in which operations were reported, as a share of all
// operations.
func (w *writer) looked(d time.Duration) time.Duration {
	if c.exact || d <= firstLook {
		return d
	}
	return firstLook + (d-firstLook)/time.Duration(oneOf(w.params.Share))
}

// clock returns the CPU time of the program in ns, or wall time if that is not available.
func clock() float64 {
	if ns, ok := sys.ProcessClock(); ok {
		return float64(ns)
	}
	return float64(time.Since(epoch))
}

// epoch is the time of the program's start.
var epoch = time.Now()

// pause waits, and reports whether the writer continues.
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
