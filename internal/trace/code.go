package trace

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// mostObjects bounds the cost of a malicious trace.
const mostObjects = 1 << 14

var (
	errObjects = fmt.Errorf("%w: it has more than %d pieces of code", format.ErrCorrupt, mostObjects)
	errOverlap = fmt.Errorf("%w: its addresses overlap another object's", format.ErrCorrupt)
)

// objectBlock adds a piece of code and its addresses.
func (t *Trace) objectBlock(p []byte, _ format.Loc) error {
	o, err := format.DecodeObject(p)
	if err != nil {
		return err
	}
	if len(t.code) == mostObjects {
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

// programBlock adds the process of a thread, and its program.
func (t *Trace) programBlock(p []byte, _ format.Loc) error {
	x, err := format.DecodeProgram(p)
	if err != nil {
		return err
	}
	if t.programs == nil {
		t.programs = map[uint32][]format.Program{}
	}
	list := t.programs[x.Thread]
	if n := len(list); n > 0 && list[n-1].Base > x.Base {
		return fmt.Errorf("%w: the entry of thread %d for the process %d at %d is out of order", format.ErrCorrupt, x.Thread, x.PID, x.Base)
	}
	t.programs[x.Thread] = append(list, x)
	return nil
}

// ProgramOf returns the process of a sample's thread, and its program at that time. If the trace
// does not have it, PID is 0.
func (t *Trace) ProgramOf(s *Sample) (x format.Program) {
	list := t.programs[s.Thread]
	if i := sort.Search(len(list), func(k int) bool { return list[k].Base-t.header.StartMono > s.Time }); i > 0 {
		x = list[i-1]
	}
	return x
}

// Programs lists the processes of all threads, and the programs of each, by number. Thread and Base
// are not set.
func (t *Trace) Programs() (all []format.Program) {
	for _, list := range t.programs {
		for _, x := range list {
			x.Thread, x.Base = 0, 0
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b format.Program) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Path, b.Path)) })
	return slices.Compact(all)
}

// HasPrograms reports whether the trace has the processes of threads.
func (t *Trace) HasPrograms() bool { return len(t.programs) > 0 }
