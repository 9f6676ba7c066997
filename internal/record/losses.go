//go:build !scope_off

package record

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// What is lost is counted in chunk 0, which is memory that survives a kill where
// records do: a count on the heap would be gone with what it tells of. Each P has a row
// of its own there, and what can't use that shares some: were there one counter, Ps that
// lose records would wait for each other at each of them.

const (
	rowWords   = format.CounterRow / 8
	sharedRows = format.CounterRows - format.OwnRows // a power of two
	anyRoom    = 1 << 40                             // more than a chunk has
)

// lose counts a record that is not kept.
func (r *recorder) lose(why format.Loss) {
	if !sys.Lose(r.gen, int64(why), anyRoom) {
		r.loseMany(why, 1)
	}
}

// most is what the largest record takes.
const most = (1 + format.MaxExtUnits) * format.RecordSize

// loseMany counts n records that are not kept. What comes after Stop would be in the
// next recording's memory; see endLosses.
func (r *recorder) loseMany(why format.Loss, n int64) {
	var here uintptr
	row := format.OwnRows + uint64(sys.Address(&here)>>11)*0x9e3779b97f4a7c15>>32%sharedRows
	sys.AddUnless(&r.noLosses, &r.losses[row*rowWords+uint64(why)-1], uint64(n))
}

// endLosses has nobody count any more when it returns, nor be about to: the memory may
// go. On the heap it is this recording's alone. On processors that we have no assembly for
// a goroutine may be late all the same.
func (r *recorder) endLosses() {
	atomic.StoreUint32(&r.noLosses, 1)
	if !r.pool.Heap() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m) // the world can't stop while somebody is inside AddUnless
	}
}

// counts are what was counted of what is lost, in memory that is this process's alone.
type counts struct {
	known   [format.LossReasons]atomic.Int64 // the most that was returned by reason
	unknown atomic.Bool                      // the counters were wrong once: more may be lost
}

// lost returns what was lost so far, by reason. Who may write the trace may write the
// counters in it: those that cannot be right, since no goroutine loses a record a tick, are
// left out, none goes back, and from then on the sums are not known.
func (r *recorder) lost() (n [format.LossReasons]int64) {
	c := &r.counts
	var was [format.LossReasons]int64
	for why := range was {
		was[why] = c.known[why].Load()
	}
	elapsed := max(r.clock.Now()-r.began, 0) + 1<<30 // what is lost by chunks may come at once
	for row := r.losses; len(row) > 0; row = row[rowWords:] {
		for why := 1; why < len(n); why++ {
			if v := atomic.LoadUint64(&row[why-1]); v <= uint64(elapsed) {
				n[why] += int64(v)
			} else {
				c.unknown.Store(true)
			}
		}
	}
	for why := range n {
		if n[why] < was[why] || n[why]/int64(runtime.NumCPU()) > elapsed || n[why] > mostLost {
			n[why] = was[why]
			c.unknown.Store(true)
		}
		for seen := was[why]; seen < n[why] && !c.known[why].CompareAndSwap(seen, n[why]); {
			seen = c.known[why].Load()
		}
	}
	return n
}

// mostLost is the most that is lost for a reason: the sum over reasons is a number.
const mostLost = math.MaxInt64 / 16

// missing is how many of the records that were asked for are not in the trace.
func (r *recorder) missing() (sum int64) {
	for why, n := range r.lost() {
		if why := format.Loss(why); why != format.LossEnd && why != format.LossOpen {
			sum += n
		}
	}
	return sum
}
