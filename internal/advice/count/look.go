package count

import (
	"sync/atomic"
	"time"
)

// Operations are looked at for a share of the time: all of the first while, then in bursts. What is seen
// in a burst counts for the pause before it, too.
const (
	firstLook = 50 * time.Millisecond
	burst     = time.Millisecond
)

// lookedNS is for how long operations were looked at, in ns.
var lookedNS atomic.Int64

func watch(on uint32) {
	for _, f := range flags {
		atomic.StoreUint32(f, on)
	}
}

// look has operations looked at, until the writer ends.
func (w *writer) look() {
	defer w.done.Done()
	began := time.Now()
	c.scale.Store(1024)
	watch(1)
	defer watch(0)
	first := firstLook
	if c.exact {
		first = time.Hour
	}
	if !w.pause(first) || c.exact {
		lookedNS.Add(int64(time.Since(began)))
		return
	}
	for {
		lasted := time.Since(began)
		watch(0)
		lookedNS.Add(int64(lasted))
		off := time.Duration(float64(min(lasted, burst)) * (1 - w.params.Share) / w.params.Share)
		paused := time.Now()
		if !w.pause(off) {
			return
		}
		began = time.Now()
		c.scale.Store(1024 + int64(1024*began.Sub(paused)/burst))
		watch(1)
		if !w.pause(burst) {
			lookedNS.Add(int64(time.Since(began)))
			return
		}
	}
}

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
