package states

import (
	"cmp"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// switches holds the switches of threads.
type switches struct {
	read    trace.ReadSwitches
	mono    int64 // at the trace's start: blocks have monotonic time
	threads map[uint32]*thread
	total   int64 // number of switches

	// Sums over all threads, between two times:
	on   int64 // ns on a CPU
	came int64 // how often a thread went on a CPU
	lost int64 // ns whose switches were lost
}

// thread holds the switches of one thread.
type thread struct {
	blocks []blockRef // by time
	at     int        // index of the block in memory; -1: none
	block  format.Switches
	until  int64 // end of the time that goroutines had on it
}

// blockRef is a block and its time, ns from the trace's start.
type blockRef struct {
	from, to int64
	where    format.Loc
}

// newSwitches reads all blocks once, and sums up the time on CPUs between two times. It returns the
// switches by the number of the process in a merged trace, or else under 0.
func newSwitches(t *trace.Trace, from, to int64) (map[uint32]*switches, error) {
	blocks, read := t.SwitchBlocks()
	all := map[uint32]*switches{}
	of := func(process uint32) *switches {
		if all[process] == nil {
			all[process] = &switches{read: read, mono: t.Header().StartMono, threads: map[uint32]*thread{}}
		}
		return all[process]
	}
	of(0)
	var buf []format.Switch
	for _, where := range blocks {
		b, ok, err := read(buf[:0], where)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		buf = b.List
		s := of(uint32(b.Process))
		th := s.threads[b.Thread]
		if th == nil {
			th = &thread{at: -1}
			s.threads[b.Thread] = th
		}
		th.blocks = append(th.blocks, blockRef{b.Base - s.mono, b.Until - s.mono, where})
		if n := len(th.blocks); b.Lost && n > 1 {
			s.lost += max(min(th.blocks[n-1].from, to)-max(th.blocks[n-2].to, from), 0)
		}
		s.total += int64(len(b.List))
		on, came := onCPU(&b, from+s.mono, to+s.mono)
		s.on += on
		s.came += came
	}
	for _, s := range all {
		s.sort()
	}
	return all, nil
}

// sort sorts the blocks of each thread by time.
func (s *switches) sort() {
	for _, th := range s.threads {
		slices.SortStableFunc(th.blocks, func(a, b blockRef) int { return cmp.Compare(a.from, b.from) })
		// Overlapping blocks, in a corrupt trace, count once.
		n := 0
		for _, b := range th.blocks {
			if n > 0 {
				b.from = max(b.from, th.blocks[n-1].to)
			}
			if b.to > b.from {
				th.blocks[n] = b
				n++
			}
		}
		th.blocks = th.blocks[:n]
	}
}

// onCPU returns how long the thread of a block was on a CPU between two times of the block's clock,
// and how often it went on one.
func onCPU(b *format.Switches, from, to int64) (ns, came int64) {
	at, on := b.Base, b.On
	for _, w := range b.List {
		if on {
			ns += max(min(w.Time, to)-max(at, from), 0)
		}
		at, on = w.Time, w.How == format.SwitchIn
		if on && at >= from && at <= to {
			came++
		}
	}
	if on {
		ns += max(min(b.Until, to)-max(at, from), 0)
	}
	return ns, came
}

// where is the location of a thread at a moment.
type where uint8

const (
	nowhere   where = iota // unknown
	onIt                   // on a CPU
	waiting                // off the CPU, waiting
	preempted              // off the CPU, preempted
	forData                // off the CPU, waiting for a page of memory
	forText                // off the CPU, waiting for a page of instructions
)

// cut calls f for the stretches between two times during which the thread's location was the same,
// in order. They cover the whole time.
func (s *switches) cut(tid uint32, from, to int64, f func(from, to int64, w where)) error {
	th := s.threads[tid]
	if th == nil {
		f(from, to, nowhere)
		return nil
	}
	i := th.at
	if i < 0 || th.blocks[i].from > from {
		i = sort.Search(len(th.blocks), func(k int) bool { return th.blocks[k].to > from })
	}
	for ; from < to; i++ {
		for i < len(th.blocks) && th.blocks[i].to <= from {
			i++
		}
		if i == len(th.blocks) || th.blocks[i].from >= to {
			f(from, to, nowhere)
			return nil
		}
		b := th.blocks[i]
		if b.from > from {
			f(from, b.from, nowhere)
			from = b.from
		}
		if i != th.at {
			list := th.block.List[:0]
			var ok bool
			var err error
			th.at = -1
			if th.block, ok, err = s.read(list, b.where); err != nil {
				return err
			}
			if !ok { // overwritten in the meantime
				f(from, min(b.to, to), nowhere)
				from = b.to
				continue
			}
			th.at = i
		}
		from = s.within(&th.block, from, min(b.to, to), f)
	}
	return nil
}

// within is cut inside of a block.
func (s *switches) within(b *format.Switches, from, to int64, f func(from, to int64, w where)) int64 {
	l := b.List
	n := sort.Search(len(l), func(k int) bool { return l[k].Time-s.mono > from })
	now := waiting // before the block's first switch: how it left the CPU is unknown
	switch {
	case n > 0:
		now = whereAfter(l[n-1].How)
	case b.On:
		now = onIt
	}
	for ; n < len(l) && l[n].Time-s.mono < to; n++ {
		if at := l[n].Time - s.mono; at > from {
			f(from, at, now)
			from = at
		}
		now = whereAfter(l[n].How)
	}
	if to > from {
		f(from, to, now)
	}
	return to
}

func whereAfter(h format.SwitchKind) where {
	switch h {
	case format.SwitchIn:
		return onIt
	case format.SwitchPreempt:
		return preempted
	case format.SwitchData:
		return forData
	case format.SwitchText:
		return forText
	}
	return waiting
}
