//go:build !scope_off

package record

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// allowance limits the time that hooks take: to a share of the time of all processors. Events
// beyond it are counted, but have no record.
type allowance struct {
	share atomic.Int64 // ppm
	began atomic.Int64 // ticks: start of the current stretch
	spent atomic.Int64 // ns, in this stretch
	sum   atomic.Int64 // ns: total allowed

	// The runtime reports one of 1<<*oneOf waits for channels.
	oneOf atomic.Pointer[uint32]
}

const (
	allowStretch = 10 * time.Millisecond
	// blockCost is the cost of a reported wait for a channel, in ns.
	blockCost = 400
	maxOneOf  = 12
	noneOf    = 32 // the runtime reports none
)

// Each kind of hook has its own allowance, so that none starves another.
var waitAllowance, releaseAllowance, blockAllowance, namingAllowance allowance

func init() { SetHookShares(5000, 5000, 5000) }

// SetHookShares sets the shares of the time of all processors, in millionths, that hooks may take:
// of locks (as much for waits as for releases), of channels, and of goroutines' creation.
func SetHookShares(locks, channels, goroutines int64) {
	waitAllowance.share.Store(locks)
	releaseAllowance.share.Store(locks)
	blockAllowance.share.Store(channels)
	namingAllowance.share.Store(goroutines)
}

// ThinOut makes the runtime report one of 1<<*oneOf waits for channels, and none while locks are
// not watched.
func ThinOut(oneOf *uint32) {
	blockAllowance.oneOf.Store(oneOf)
	lookAtBlocks(atomic.LoadUint64(&sys.Live.Locking) != 0)
}

func lookAtBlocks(look bool) {
	if oneOf := blockAllowance.oneOf.Load(); oneOf != nil {
		of := uint32(noneOf)
		if look {
			of = 0
		}
		atomic.StoreUint32(oneOf, of)
	}
}

// over reports whether the stretch has ended, so that there is time again.
func (a *allowance) over(r *recorder, now int64) bool {
	return now-a.began.Load() > r.ticks(allowStretch)
}

// take charges ns, and reports whether that much was left.
func (a *allowance) take(r *recorder, now, ns int64) bool {
	if began := a.began.Load(); a.over(r, now) && a.began.CompareAndSwap(began, now) {
		spent := a.spent.Swap(0)
		if oneOf := a.oneOf.Load(); oneOf != nil {
			a.next(oneOf, spent, now-began > r.ticks(10*allowStretch))
		}
	}
	allowed := a.allowed()
	if a.spent.Load() > allowed && a.oneOf.Load() == nil || a.spent.Add(ns) > allowed { // usually without a write
		return false
	}
	a.sum.Add(ns)
	return true
}

// hooked returns the time that hooks have taken so far, in ns.
func hooked() int64 {
	return waitAllowance.sum.Load() + releaseAllowance.sum.Load() + blockAllowance.sum.Load() + namingAllowance.sum.Load()
}

// allowed returns the ns allowed per stretch.
func (a *allowance) allowed() int64 {
	return int64(allowStretch) * a.share.Load() / 1e6 * procs()
}

// next adapts the rate of reported waits to the cost in the last stretch. A long stretch was a
// quiet one.
func (a *allowance) next(oneOf *uint32, spent int64, quiet bool) {
	was, allowed := atomic.LoadUint32(oneOf), a.allowed()
	of := was
	switch {
	case of == noneOf: // the recording has ended
	case quiet:
		of = 0
	case spent > allowed:
		for ; spent > allowed && of < maxOneOf; of++ {
			spent /= 2
		}
	case spent < allowed/4 && of > 0:
		of--
	}
	atomic.CompareAndSwapUint32(oneOf, was, of)
}

// adjust halves the rate at once if a stretch has taken several times what it may.
func (a *allowance) adjust(of uint32) {
	oneOf := a.oneOf.Load()
	if oneOf != nil && of < maxOneOf && a.spent.Load() > 2*a.allowed() && atomic.LoadUint32(oneOf) == of {
		atomic.CompareAndSwapUint32(oneOf, of, of+1)
	}
}

// procs returns the number of processors that run Go code, as first read: reading it takes a lock
// in the runtime.
func procs() int64 {
	if n := procsKnown.Load(); n > 0 {
		return n
	}
	n := int64(runtime.GOMAXPROCS(0))
	procsKnown.Store(n)
	return n
}

var procsKnown atomic.Int64
