package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// Sample is a thread's stack when one of its counters reached its period.
type Sample struct {
	Time    int64 // ns from the trace's start
	Thread  uint32
	Counter string // its name: task-clock
	Unit    string // unit of Weight: nanoseconds, or count
	Kernel  bool   // the thread was in the kernel
	CPU     uint32
	Weight  int64
	Stack   uint32 // for AppendFrames and PCs; format.OtherStacks: not known
}

// Counter describes one counter, over all threads.
type Counter struct {
	Name, Unit string
	Lost       int64 // lost samples
}

// mostCounters bounds the cost of a malicious trace: no writer has so many counters.
const mostCounters = 256

var errCounters = fmt.Errorf("%w: it has more than %d counters", format.ErrCorrupt, mostCounters)

func (t *Trace) samplesBlock(p []byte, loc format.Loc) error {
	s, err := format.CheckSamples(p)
	if err != nil {
		return err
	}
	c := t.counter[s.Counter]
	if c == nil {
		if len(t.counter) == mostCounters {
			return errCounters
		}
		if t.counter == nil {
			t.counter = map[string]*Counter{}
		}
		c = &Counter{Name: s.Counter, Unit: s.Unit}
		t.counter[s.Counter] = c
	}
	c.Lost += min(s.Lost, math.MaxInt64-c.Lost)
	t.sched.samples = append(t.sched.samples, loc)
	return nil
}

func (t *Trace) codeBlock(p []byte, _ format.Loc) error {
	c, err := format.DecodeCode(p)
	if err != nil {
		return err
	}
	return define(&t.stacks.codes, c.Stack, c.PCs)
}

// Counters lists the counters with samples, by name.
func (t *Trace) Counters() []Counter {
	list := make([]Counter, 0, len(t.counter))
	for _, c := range t.counter {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Counter) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// EachSample calls f with the samples, until it returns false: those of one thread and counter by
// time, of several in the order written. The argument is reused from call to call.
func (t *Trace) EachSample(f func(*Sample) bool) error {
	var r format.SamplesReader
	var x Sample
	return t.eachLater(t.sched.samples, format.BlockSamples, func(p []byte) bool {
		s, err := r.Decode(p)
		c := t.counter[s.Counter]
		if err != nil || c == nil { // it has changed since the trace was opened
			return true
		}
		x.Thread, x.Counter, x.Unit = s.Thread, c.Name, c.Unit
		for _, one := range s.List {
			x.Time, x.Kernel, x.CPU, x.Weight, x.Stack = one.Time-t.header.StartMono, one.Kernel, one.CPU, one.Weight, one.Stack
			if t.selectsSample(&x) && !f(&x) {
				return false
			}
		}
		return true
	})
}

// PCs returns the addresses of a sample's stack, the leaf's first; nil if the trace does not have
// them. Frames that AppendFrames returns as inlined share the address of the next one that is not.
func (t *Trace) PCs(stack uint32) []uint64 { return t.stacks.codes[stack] }

// maxCodeObjects bounds the cost of a malicious trace.
const maxCodeObjects = 1 << 14

var (
	errObjects = fmt.Errorf("%w: it has more than %d pieces of code", format.ErrCorrupt, maxCodeObjects)
	errOverlap = fmt.Errorf("%w: its addresses overlap another object's", format.ErrCorrupt)
)

// objectBlock adds a piece of code and its addresses.
func (t *Trace) objectBlock(p []byte, _ format.Loc) error {
	o, err := format.DecodeObject(p)
	if err != nil {
		return err
	}
	if len(t.code) == maxCodeObjects {
		return errObjects
	}
	i := sort.Search(len(t.code), func(k int) bool { return t.code[k].To > o.From })
	if i < len(t.code) && t.code[i].From < o.To {
		return errOverlap
	}
	t.code = slices.Insert(t.code, i, &o)
	return nil
}

// CodeAt returns the code that contains an address, in the form that PCs returns; nil: the trace
// has none.
func (t *Trace) CodeAt(pc uint64) *format.Object {
	i := sort.Search(len(t.code), func(k int) bool { return t.code[k].To > pc })
	if i == len(t.code) || pc < t.code[i].From {
		return nil
	}
	return t.code[i]
}
