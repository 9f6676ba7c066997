package trace

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// What a trace that was made to do harm may have at most.
const (
	mostObjects  = 1 << 16
	mostPrograms = 1 << 20
)

var (
	errObjects  = fmt.Errorf("%w: there are more than %d pieces of code", format.ErrCorrupt, mostObjects)
	errPrograms = fmt.Errorf("%w: threads are of another process more than %d times", format.ErrCorrupt, mostPrograms)
	errOverlap  = fmt.Errorf("%w: its addresses are another object's too", format.ErrCorrupt)
)

// objectBlock takes in where code lies, by its addresses.
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

// CodeAt returns the code that an address, as PCs has them, is in; nil: the trace does not tell.
func (t *Trace) CodeAt(pc uint64) *format.Object {
	i := sort.Search(len(t.code), func(k int) bool { return t.code[k].To > pc })
	if i == len(t.code) || pc < t.code[i].From {
		return nil
	}
	return t.code[i]
}

// programBlock takes in which process a thread is of, and what that runs.
func (t *Trace) programBlock(p []byte, _ format.Loc) error {
	x, err := format.DecodeProgram(p)
	if err != nil {
		return err
	}
	if t.threads.told++; t.threads.told > mostPrograms {
		return errPrograms
	}
	if t.threads.of == nil {
		t.threads.of = map[uint32][]format.Program{}
	}
	list := t.threads.of[x.Thread]
	i, _ := slices.BinarySearchFunc(list, x.Base+1, func(o format.Program, base int64) int { return cmp.Compare(o.Base, base) })
	t.threads.of[x.Thread] = slices.Insert(list, i, x)
	return nil
}

// threads is which process each thread was of, by time.
type threads struct {
	of   map[uint32][]format.Program
	told int
}

// ProgramOf returns the process whose thread a sample is of, and what it ran then. Where the
// trace does not tell, PID is 0.
func (t *Trace) ProgramOf(s *Sample) (x format.Program) {
	for _, o := range t.threads.of[s.Thread] {
		if o.Base-t.header.StartMono <= s.Time {
			x = o
		}
	}
	return x
}

// HasPrograms reports whether the trace tells which process threads are of.
func (t *Trace) HasPrograms() bool { return len(t.threads.of) > 0 }
