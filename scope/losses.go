//go:build !scope_off

package scope

import (
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

// loseMany counts n records that are not kept. What comes after Stop would be in the
// next recording's memory.
func (r *recorder) loseMany(why format.Loss, n int64) {
	if r.closed.Load() {
		return
	}
	var here uintptr
	row := format.OwnRows + uint64(sys.Address(&here)>>11)*0x9e3779b97f4a7c15>>32%sharedRows
	atomic.AddUint64(&r.losses[row*rowWords+uint64(why)-1], uint64(n))
}

// lost is what was lost so far, by reason.
func (r *recorder) lost() (n [format.LossStack + 1]int64) {
	for row := r.losses; len(row) > 0; row = row[rowWords:] {
		for why := 1; why < len(n); why++ {
			n[why] += int64(atomic.LoadUint64(&row[why-1]))
		}
	}
	return n
}

func (r *recorder) lostSoFar() Lost {
	n := r.lost()
	return Lost{
		Window: n[format.LossWindow],
		Limit:  n[format.LossLimit],
		Space:  n[format.LossSpace],
		IO:     n[format.LossIO],
		Busy:   n[format.LossBusy],
		Stop:   n[format.LossStop],
		Ends:   n[format.LossEnd],
		Stacks: n[format.LossStack],
	}
}
