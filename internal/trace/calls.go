package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// CallCount counts the calls of a function whose calls were not all recorded.
type CallCount struct {
	Name     uint16
	Calls    int64
	Recorded int64 // of those; records that found no room included
	Unseen   int64 // estimated calls beyond those, while they were not counted
	Off      bool  // at the end its calls were counted and not recorded
	Since    int64 // if Off: ns since the trace's start
}

func (t *Trace) unseenBlock(p []byte, _ format.Loc) error {
	us, err := format.DecodeUnseen(nil, p)
	if err != nil {
		return err
	}
	if t.calls == nil {
		t.calls = map[uint16]calledSum{}
	}
	for _, u := range us {
		s, ok := t.calls[u.Name]
		if !ok {
			s.off = -1
		}
		s.unseen += min(u.Calls, math.MaxInt64-s.unseen)
		t.calls[u.Name] = s
	}
	return nil
}

// All returns the number of calls, as far as is known. If Unseen is not 0 it is an estimate.
func (c CallCount) All() int64 { return c.Calls + min(c.Unseen, math.MaxInt64-c.Calls) }

// Skipped returns how many of the calls were not recorded, as far as is known.
func (c CallCount) Skipped() int64 { return c.All() - c.Recorded }

// calledSum sums the blocks' counts for a name so far.
type calledSum struct {
	calls, recorded, unseen int64

	off int64 // from the latest block, at the tick at
	at  int64 // ticks
}

func (t *Trace) callsBlock(p []byte, _ format.Loc) error {
	ticks, cs, err := format.DecodeCalls(nil, p)
	if err != nil {
		return err
	}
	if t.calls == nil {
		t.calls = map[uint16]calledSum{}
	}
	for _, c := range cs {
		s := t.calls[c.Name]
		s.calls += min(c.Calls, math.MaxInt64-s.calls)
		s.recorded += min(c.Recorded, math.MaxInt64-s.recorded)
		if ticks >= s.at {
			s.off, s.at = c.Off, ticks
		}
		t.calls[c.Name] = s
	}
	return nil
}

// Calls lists the functions whose calls were not all recorded, the most called first. In a ring it
// counts what has not been overwritten.
func (t *Trace) Calls() []CallCount {
	var all []CallCount
	for name, s := range t.calls {
		c := CallCount{Name: name, Calls: s.calls, Recorded: s.recorded, Unseen: s.unseen, Off: s.off >= 0}
		if c.Off {
			c.Since = max(t.Nanos(max(s.at-s.off, t.header.StartTicks)), 0)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b CallCount) int {
		return cmp.Or(cmp.Compare(b.All(), a.All()), cmp.Compare(a.Name, b.Name))
	})
	return all
}
