//go:build !scope_off

package record

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// allowance is how much time hooks may take: a part of that of all processors. What is beyond
// is counted, and has no record.
type allowance struct {
	share atomic.Int64 // ppm
	began atomic.Int64 // ticks: of the stretch that spent is of
	spent atomic.Int64 // ns
	sum   atomic.Int64 // ns: of all that was allowed

	// Of channels' waits so many are not even looked at that one of 1<<oneOf is.
	oneOf atomic.Pointer[uint32]
}

const (
	allowStretch = 10 * time.Millisecond
	// blockCost is what a channel's wait takes that is looked at, in ns.
	blockCost = 400
	maxOneOf  = 12
	noneOf    = 32 // the runtime looks at none
)

// Each kind of hook has a share of its own, or they would displace one another.
var waitAllowance, releaseAllowance, blockAllowance, madeAllowance allowance

func init() { SetHookShares(5000, 5000, 5000) }

// SetHookShares says what the hooks of locks may take of the time of all processors, for waits and
// as much for releases, and those of channels and of goroutines' creation, in millionths.
func SetHookShares(locks, channels, goroutines int64) {
	waitAllowance.share.Store(locks)
	releaseAllowance.share.Store(locks)
	blockAllowance.share.Store(channels)
	madeAllowance.share.Store(goroutines)
}

// ThinOut has the runtime look at one of 1<<*oneOf of the waits for channels, and at none
// while locks are not watched.
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

// over reports whether the stretch is, so that there is time again.
func (a *allowance) over(r *recorder, now int64) bool {
	return now-a.began.Load() > r.ticks(allowStretch)
}

// take takes so many ns, and reports whether they were left.
func (a *allowance) take(r *recorder, now, ns int64) bool {
	if began := a.began.Load(); a.over(r, now) && a.began.CompareAndSwap(began, now) {
		spent := a.spent.Swap(0)
		if oneOf := a.oneOf.Load(); oneOf != nil {
			a.next(oneOf, spent, now-began > r.ticks(10*allowStretch))
		}
	}
	allowed := a.allowed()
	if a.spent.Load() > allowed && a.oneOf.Load() == nil || a.spent.Add(ns) > allowed { // most often without a write
		return false
	}
	a.sum.Add(ns)
	return true
}

// hooked is what hooks have taken so far, in ns.
func hooked() int64 {
	return waitAllowance.sum.Load() + releaseAllowance.sum.Load() + blockAllowance.sum.Load() + madeAllowance.sum.Load()
}

// allowed is how many ns there are for a stretch.
func (a *allowance) allowed() int64 {
	return int64(allowStretch) * a.share.Load() / 1e6 * procs()
}

// next adapts how many waits are looked at to what those of the last stretch took. One
// stretch that was long was a quiet one.
func (a *allowance) next(oneOf *uint32, spent int64, quiet bool) {
	was, allowed := atomic.LoadUint32(oneOf), a.allowed()
	of := was
	switch {
	case of == noneOf: // the recording is over
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

// adjust thins out at once where a stretch has taken several times what there is for it.
func (a *allowance) adjust(of uint32) {
	oneOf := a.oneOf.Load()
	if oneOf != nil && of < maxOneOf && a.spent.Load() > 2*a.allowed() && atomic.LoadUint32(oneOf) == of {
		atomic.CompareAndSwapUint32(oneOf, of, of+1)
	}
}

// procs is the number of processors that run Go code, as it was at first: the runtime takes
// a lock to tell it.
func procs() int64 {
	if n := procsKnown.Load(); n > 0 {
		return n
	}
	n := int64(runtime.GOMAXPROCS(0))
	procsKnown.Store(n)
	return n
}

var procsKnown atomic.Int64
