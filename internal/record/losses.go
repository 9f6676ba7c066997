//go:build !scope_off

package record

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Losses are counted in chunk 0, which is memory that survives a kill whenever the records
// do: a count on the heap would be lost. Each P has a row of its own there, and goroutines
// that can't use that share some: with a single counter, Ps that lose records would contend
// for it.

const (
	rowWords   = format.CounterRow / 8
	sharedRows = format.CounterRows - format.OwnRows // a power of two
	anyRoom    = 1 << 40                             // more than the room in a chunk
)

// lose counts a record that is not kept.
func (r *recorder) lose(why format.Loss) {
	if !sys.Lose(r.gen, int64(why), anyRoom) {
		r.loseMany(why, 1)
	}
}

// most is the size of the largest record.
const most = (1 + format.MaxExtUnits) * format.RecordSize

// loseMany counts n records that are not kept. After Stop, the memory may be the next
// recording's; see endLosses.
func (r *recorder) loseMany(why format.Loss, n int64) {
	var here uintptr
	row := format.OwnRows + uint64(sys.Address(&here)>>11)*0x9e3779b97f4a7c15>>32%sharedRows
	sys.AddUnless(&r.noLosses, &r.losses[row*rowWords+uint64(why)-1], uint64(n))
}

// endLosses returns when no goroutine counts any more or is about to: the memory may be
// released. On the heap the memory belongs to this recording alone. On processors without
// our assembly a goroutine may be late all the same.
func (r *recorder) endLosses() {
	atomic.StoreUint32(&r.noLosses, 1)
	if !r.pool.Heap() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m) // the world can't stop while a goroutine is inside AddUnless
	}
}

// counts holds verified loss counts, in memory private to this process.
type counts struct {
	known   [format.LossReasons]atomic.Int64 // the largest values returned, by reason
	unknown atomic.Bool                      // the counters were once wrong: more may be lost
}

// lost returns the losses so far, by reason. A process that may write to the trace may
// overwrite its counters: impossible values are ignored, as no goroutine loses more than a
// record per tick, no count decreases, and from then on the sums are marked as unknown.
func (r *recorder) lost() (n [format.LossReasons]int64) {
	c := &r.counts
	var was [format.LossReasons]int64
	for why := range was {
		was[why] = c.known[why].Load()
	}
	elapsed := max(r.clock.Now()-r.began, 0) + 1<<30 // chunks may be lost at once
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

// mostLost is the maximum per reason, so that the sum over reasons does not overflow.
const mostLost = math.MaxInt64 / 16

// missing returns how many records are missing from the trace.
func (r *recorder) missing() (sum int64) {
	for why, n := range r.lost() {
		if why := format.Loss(why); why != format.LossEnd && why != format.LossOpen {
			sum += n
		}
	}
	return sum
}
