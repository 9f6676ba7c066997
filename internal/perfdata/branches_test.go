package perfdata

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
)

// branch is an entry of a branch stack, whose first entry is the last branch taken.
type branch struct{ from, to uint64 }

// lbr is an event with branch records of the hardware.
var lbr = madeAttr{kind: 4, config: 0x20c4, has: hasIP | hasThread | hasTime | hasBranches, branches: 1 | branchAny}

func (m *made) branches(time uint64, list ...branch) {
	const pid uint32 = 7 // the program's
	b := m.fields(nil, uint64(len(list)))
	if m.attrs[0].branches&branchHardware != 0 {
		b = m.fields(b, uint64(0))
	}
	for _, x := range list {
		b = m.fields(b, x.from, x.to, uint64(1))
	}
	m.record(recordSample, 2, uint64(base), pid, pid, time, b)
}

// lineKey is a line of a function.
type lineKey struct {
	function string
	line     int
}

// counted counts how often lines of this test's functions ran, byte by byte.
func counted(s *self, ranges map[branch]int64) map[lineKey]int64 {
	bytes := map[uint64]int64{}
	for r, n := range ranges {
		for at := r.from; at <= r.to; at++ {
			bytes[at] += n
		}
	}
	lines := map[lineKey]int64{}
	for at, n := range bytes {
		addr, _ := s.im.Address(at - base)
		f := s.im.Frames(addr)[0]
		k := lineKey{strings.TrimPrefix(f.Func, prefix), f.Line - f.Start}
		lines[k] = max(lines[k], n)
	}
	return lines
}

func TestBranches(t *testing.T) {
	s := theTest(t)
	address := func(function string, line int) uint64 { return base + s.offset(t, function, line) }
	entry, last := address("inner", 0), address("inner", 5)
	call1, call2 := address("outer", 2), address("outer", 3)
	for name, how := range map[string]uint64{"plain": 0, "with an index": branchHardware} {
		t.Run(name, func(t *testing.T) {
			event := lbr
			event.branches |= how
			m := newMade(event)
			m.record(recordMmap, 2, append([]any{uint32(7), uint32(7), uint64(base), uint64(1 << 30), uint64(0), s.path}, at(7, 1)...)...)
			all := []branch{{call2, entry}, {last, call2}, {call1, entry}}
			for range 3 {
				m.branches(10, all...)
			}
			m.branches(11, branch{address("inner", 3), 0x1000}, branch{call1, entry}) // to no file
			m.branches(12, branch{entry, call1}, branch{1 << 63, last})               // from the kernel, and backwards in the code
			p, b, notes := m.profile(t, Options{})
			if b == nil {
				t.Fatal("no branches")
			}
			checkEdges(t, p, map[edge]int64{{"inner", 0, "outer", 2}: 4, {"inner", 0, "outer", 3}: 3})
			calls := map[int]int64{}
			for _, c := range b.Calls {
				if c.Callee != prefix+"inner" {
					t.Errorf("a call of %s", c.Callee)
				}
				calls[c.Caller[0].Line-c.Caller[0].Start] += c.Count
			}
			if len(b.Calls) != 2 || calls[2] != 4 || calls[3] != 3 {
				t.Errorf("calls %+v", b.Calls)
			}
			if len(b.Heads) != 1 || b.Heads[0] != (HeadCount{prefix + "inner", 7}) {
				t.Errorf("heads %+v", b.Heads)
			}
			want := counted(s, map[branch]int64{{call2, call2}: 3, {entry, last}: 3, {entry, address("inner", 3)}: 1})
			for _, l := range b.Lines {
				f := l.Location[0]
				k := lineKey{strings.TrimPrefix(f.Func, prefix), f.Line - f.Start}
				if want[k] != l.Count {
					t.Errorf("%+v ran %d times, want %d", k, l.Count, want[k])
				}
				delete(want, k)
			}
			if len(want) > 0 || len(b.Lines) < 4 {
				t.Errorf("lines that did not run: %v", want)
			}
			checkNotes(t, notes, "5 samples of 4:0x20c4 are of", "4 different branches, and 3 ranges", "2 branches are left out: an end is in no file", "1 ranges are left out: their ends are not in one file, or not in order")
		})
	}
}

// TestOtherBranches: calls that have not returned are not last branches, and from calls
// alone there are no ranges.
func TestOtherBranches(t *testing.T) {
	s := theTest(t)
	entry, call1 := base+s.offset(t, "inner", 0), base+s.offset(t, "outer", 2)
	for name, c := range map[string]struct {
		kind         uint64
		calls, lines int
		none         bool
	}{
		"stack":   {1 | branchAny | branchStack, 0, 0, true},
		"calls":   {1 | branchAnyCall, 1, 0, false},
		"returns": {1 | 1<<5, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			event := lbr
			event.branches = c.kind
			m := newMade(event)
			m.record(recordMmap, 2, append([]any{uint32(7), uint32(7), uint64(base), uint64(1 << 30), uint64(0), s.path}, at(7, 1)...)...)
			m.branches(10, branch{call1, entry}, branch{call1, call1})
			p, b, notes := m.profile(t, Options{})
			if c.none {
				checkNotes(t, notes, "The branch records are not used: they have no calls")
				if b != nil || p.Unit != pgo.Samples {
					t.Errorf("branches %+v", b)
				}
				return
			}
			if b == nil || len(b.Calls) != c.calls || len(b.Lines) != c.lines {
				t.Errorf("branches %+v", b)
			}
		})
	}
}
