package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Called is how often a function was called whose calls were not recorded each time.
type Called struct {
	Name     uint16
	Calls    int64
	Recorded int64 // of those, the ones that got no room included
	Unseen   int64 // calls beyond those, an estimate: while they were not counted
	Off      bool  // at the end its calls were only counted
	Since    int64 // if so: ns since the trace's start
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

// All is how often it was called, as far as is known. Where Unseen is not 0 it is an estimate.
func (c Called) All() int64 { return c.Calls + min(c.Unseen, math.MaxInt64-c.Calls) }

// Skipped is how many of the calls were not recorded, as far as is known.
func (c Called) Skipped() int64 { return c.All() - c.Recorded }

// calledSum is what the blocks told of a name so far.
type calledSum struct {
	calls, recorded, unseen int64

	off int64 // as the latest block said, at
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

// Calls lists the functions whose calls were not recorded each time, the most calls first.
// Of a ring it knows what is still there.
func (t *Trace) Calls() []Called {
	var all []Called
	for name, s := range t.calls {
		c := Called{Name: name, Calls: s.calls, Recorded: s.recorded, Unseen: s.unseen, Off: s.off >= 0}
		if c.Off {
			c.Since = max(t.Nanos(max(s.at-s.off, t.header.StartTicks)), 0)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Called) int {
		return cmp.Or(cmp.Compare(b.All(), a.All()), cmp.Compare(a.Name, b.Name))
	})
	return all
}
