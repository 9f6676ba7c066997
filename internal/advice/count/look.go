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

// look has operations looked at, until the writer ends. What is seen in a burst stands for as much CPU time
// as the program takes in the pause before: the time on the wall says little where others run, too.
func (w *writer) look() {
	defer w.done.Done()
	if c.exact {
		w.watched(time.Hour, 1)
		return
	}
	first := w.watched(firstLook, 1)
	slow, took := 1.3, first.took/float64(firstLook/burst) // until a burst tells
	for last := first; last.going; {
		paused := clock()
		if !w.pause(time.Duration(float64(burst) * (1 - w.params.Share) / w.params.Share)) {
			return
		}
		stands := 1 + (last.rest+clock()-paused)/max(took, float64(burst/100))
		c.scale.Store(int64(unit * oneOf * stands * slow))
		last = w.watched(burst, oneOf)
		slow, took = (7*slow+last.slow)/8, (took+last.took)/2
	}
}

// clock is the CPU time of the program in ns, or the time where that is not to be had.
func clock() float64 {
	if ns, ok := sys.ProcessClock(); ok {
		return float64(ns)
	}
	return float64(time.Since(epoch))
}

// epoch is when the program began, and ends when a burst does, as ns since: 0 if it is in none. Where all
// processors are busy the writer comes too late to end a burst, often ten times, and what is told of until
// then would count for much more than there was. endedAt is the CPU time when a burst did end.
var (
	epoch   = time.Now()
	ends    atomic.Int64
	endedAt atomic.Int64
)

// used counts that an operation was told of, and reports whether it is of a burst. The first one behind
// its end ends it.
func used() bool {
	c.uses.Add(1)
	end := ends.Load()
	if end == 0 || int64(time.Since(epoch)) < end {
		return true
	}
	endedAt.Store(int64(clock())) // which does not park: of several that come at once the last counts
	if ends.CompareAndSwap(end, 0) {
		watch(0)
	}
	return false
}

// glance is what there was while operations were looked at.
type glance struct {
	going bool    // the writer goes on
	took  float64 // CPU time, in ns
	rest  float64 // and behind its end, until the writer came
	slow  float64 // by how much operations made the program slower
}

// watched looks for a while.
func (w *writer) watched(d time.Duration, of uint32) (g glance) {
	began, uses, cpu := time.Since(epoch), c.uses.Load(), clock()
	end := int64(began + d)
	if of > 1 {
		ends.Store(end)
	}
	watch(of)
	g.going = w.pause(d)
	watch(0)
	lasted, all := time.Since(epoch)-began, clock()-cpu
	told := float64(c.uses.Load() - uses)
	g.took = all
	if of > 1 && !ends.CompareAndSwap(end, 0) {
		lasted, g.took = d, min(max(float64(endedAt.Load())-cpu, 0), all)
	}
	lookedNS.Add(int64(lasted))
	g.rest = all - g.took
	g.slow = 1
	if g.took > 0 {
		g.slow = 1 / (1 - min((told*toldCost+told*float64(of-1)*passedCost)/g.took, 0.8))
	}
	return g
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
