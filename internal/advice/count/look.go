package count

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Operations are looked at for a share of the time: all of the first while, then in bursts, in which one
// of so many is told of, by chance. What is seen in a burst counts for the pause before it, too.
const (
	firstLook = 50 * time.Millisecond
	burst     = time.Millisecond
	oneOf     = 16
)

// What an operation takes longer in a burst, in ns: one that is passed over, and one that is told of. A
// loop that does nothing else is so much slower then, and that many fewer are seen.
const (
	passedCost = 3
	toldCost   = 45
)

// lookedNS is for how long operations were looked at.
var lookedNS atomic.Int64

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
	if c.exact {
		w.watched(time.Hour, 1)
		return
	}
	going, _ := w.watched(firstLook, 1)
	slow, length := 1.3, float64(burst) // until a burst tells
	for going {
		paused := time.Now()
		if !w.pause(time.Duration(float64(burst) * (1 - w.params.Share) / w.params.Share)) {
			return
		}
		stands := 1 + float64(time.Since(paused))/length
		c.scale.Store(int64(unit * oneOf * stands * slow))
		var now float64
		began := time.Now()
		going, now = w.watched(burst, oneOf)
		slow = (7*slow + now) / 8
		length = (7*length + float64(time.Since(began))) / 8 // a busy machine's timers are late
	}
}

// watched looks for a while, and returns by how much operations made the program slower.
func (w *writer) watched(d time.Duration, of uint32) (going bool, slow float64) {
	began, uses := time.Now(), c.uses.Load()
	cpu, _ := sys.ProcessClock()
	watch(of)
	going = w.pause(d)
	watch(0)
	lookedNS.Add(int64(time.Since(began)))
	told := c.uses.Load() - uses
	then, ok := sys.ProcessClock()
	if !ok || then <= cpu {
		return going, 1
	}
	share := float64(told*toldCost+told*int64(of-1)*passedCost) / float64(then-cpu)
	return going, 1 / (1 - min(share, 0.8))
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
