package timeline

import (
	"math/bits"

	"github.com/scopeview/scopeview/internal/states"
)

// class is a kind of states that goroutines are counted by.
type class int

const (
	classRunning class = iota // it has a processor
	classReady                // it waits for one
	classBlocked              // it waits for something else, or is in a system call
	classes
	classNone class = -1
)

// classOf is what a goroutine in a state counts as.
func (s *States) classOf(it *stateKind, system bool) class {
	c := classBlocked
	switch it.state {
	case states.Unknown:
		return classNone
	case states.CPU, states.Running, states.Preempted, states.TextFault, states.DataFault, states.Stalled:
		if it.stack == 0 { // else it is that of a system call: where it is while it runs nobody tells
			c = classRunning
		}
	case states.Runnable:
		c = classReady
	case states.GC:
		if at(s.places.list, int(it.place)).thread != 0 {
			c = classRunning // else it waits for the collector
		}
	}
	if system && c != classRunning {
		return classNone
	}
	return c
}

// countBins is how many bins of time goroutines are counted in, at most.
const countBins = 2048

// bins adds up times.
type bins struct {
	shift int     // each is 1<<shift ns wide
	whole []int64 // how many more fill a bin than the one before
	part  []int64 // ns of those that don't
}

// add takes in a stretch; times are from the first bin's begin.
func (b *bins) add(from, to int64) {
	i, j := from>>b.shift, (to-1)>>b.shift
	if i == j {
		b.part[i] += to - from
		return
	}
	b.part[i] += (i+1)<<b.shift - from
	b.part[j] += to - j<<b.shift
	b.whole[i+1]++
	b.whole[j]--
}

// counts packs how many goroutines were running, ready and blocked, on an average of each
// bin.
func (b *stateTiler) counts() {
	from, to := b.tile.To, b.tile.From
	for _, r := range b.s.rows {
		from, to = min(from, r.items.Start()), max(to, r.end)
	}
	from, to = max(from, b.tile.From), min(to, b.tile.To)
	if to <= from {
		return
	}
	shift := bits.Len64(uint64((to - from - 1) / countBins))
	n := (to-from-1)>>shift + 1
	var sums [classes]bins
	for c := range sums {
		sums[c] = bins{shift, make([]int64, n+1), make([]int64, n)}
	}
	for _, r := range b.s.rows {
		for it := b.s.from(r, from); it.next() && it.start <= to; {
			start, stop := max(it.start, from), min(it.end, to)
			if c := b.s.classOf(&it.stateKind, r.system); c != classNone && stop > start {
				sums[c].add(start-from, stop-from)
			}
		}
	}
	b.tile.CountFrom, b.tile.Bin = from, 1<<shift
	for c := range sums {
		whole := int64(0)
		for i, part := range sums[c].part {
			whole += sums[c].whole[i]
			b.c.counts[c].u(uint64(part + whole<<shift))
		}
	}
}
