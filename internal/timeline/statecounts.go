package timeline

import (
	"math/bits"

	"github.com/scopeview/scopeview/internal/states"
)

// class is a class of states that goroutines are counted by.
type class int

const (
	classRunning class = iota // has a processor
	classReady                // waits for a processor
	classBlocked              // waits for something else, or is in a system call
	classes
	classNone class = -1
)

// classOf returns the class of a goroutine in a state.
func (s *States) classOf(it *stateKind, system bool) class {
	c := classBlocked
	switch it.state {
	case states.Unknown:
		return classNone
	case states.CPU, states.Running, states.Preempted, states.TextFault, states.DataFault, states.Stalled:
		if it.stack == 0 { // otherwise it is in a system call: the position of running code is not known
			c = classRunning
		}
	case states.Runnable:
		c = classReady
	case states.GC:
		if at(s.places.list, int(it.place)).thread != 0 {
			c = classRunning // otherwise it waits for the collector
		}
	}
	if system && c != classRunning {
		return classNone
	}
	return c
}

// countBins is the maximum number of bins.
const countBins = 2048

// bins sums up times by bin.
type bins struct {
	shift int     // each bin is 1<<shift ns wide
	whole []int64 // change of the number that fill the bin, from the bin before
	part  []int64 // ns of those that don't fill it
}

// add adds a stretch; times are relative to the first bin's begin.
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

// counts packs the average numbers of goroutines running, ready and blocked in each bin.
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
