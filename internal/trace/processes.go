package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// Process is one of the processes of which a trace was merged.
type Process struct {
	format.Member        // From and To are in ns from the merged trace's start here
	Label         string // the program's last name and the process id: "api 4711"
}

func (t *Trace) memberBlock(p []byte, _ format.Loc) error {
	m, err := format.DecodeMember(p)
	if err != nil {
		return err
	}
	i, twice := t.member(m.Number)
	switch {
	case twice:
		return fmt.Errorf("%w: a second process with the number %d", format.ErrCorrupt, m.Number)
	case len(t.members) > 0 && t.members[0].Shift != m.Shift:
		return fmt.Errorf("%w: a shift of %d, and others have %d", format.ErrCorrupt, m.Shift, t.members[0].Shift)
	}
	t.members = slices.Insert(t.members, i, m)
	return nil
}

func (t *Trace) member(number uint32) (i int, ok bool) {
	return slices.BinarySearchFunc(t.members, number, func(m format.Member, n uint32) int { return cmp.Compare(m.Number, n) })
}

// Processes lists the processes of which the trace was merged, by their numbers: a parent
// comes before its children, and they come right behind it. None: the trace is of one process.
// Those that KeepProcesses has left out are not there, and are nobody's parents.
func (t *Trace) Processes() []Process {
	var list []Process
	for _, m := range t.members {
		if t.kept != nil && !t.kept.numbers[m.Number] {
			continue
		}
		for t.kept != nil && m.Parent != 0 && !t.kept.numbers[m.Parent] {
			i, ok := t.member(m.Parent)
			if m.Parent = 0; ok && t.members[i].Parent < t.members[i].Number {
				m.Parent = t.members[i].Parent
			}
		}
		list = append(list, t.process(m))
	}
	return list
}

// Merged returns of how many processes the trace was merged, those that KeepProcesses has left out too; 0: it was
// not.
func (t *Trace) Merged() int { return len(t.members) }

func (t *Trace) process(m format.Member) Process {
	m.From, m.To = t.Nanos(m.From), t.Nanos(m.To)
	return Process{m, MemberLabel(&m)}
}

// MemberLabel is what a process of a merged trace is called.
func MemberLabel(m *format.Member) string {
	return fmt.Sprintf("%s %d", cmp.Or(lastName(m.Program), "process"), m.PID)
}

// lastName returns the last element of a path of any system.
func lastName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// ProcessOf returns the process that a goroutine of a merged trace is of. ok is false where
// the trace is none, or the goroutine is unknown.
func (t *Trace) ProcessOf(goid uint64) (p Process, ok bool) {
	if len(t.members) == 0 || goid > format.MaxGoid {
		return p, false
	}
	i, ok := t.member(uint32(goid >> t.members[0].Shift))
	if !ok {
		return p, false
	}
	return t.process(t.members[i]), true
}

// OwnGoid is what the process itself calls a goroutine of a merged trace: the runtime's id; 0:
// the process does not know it.
func (t *Trace) OwnGoid(goid uint64) uint64 {
	if len(t.members) == 0 {
		return goid
	}
	shift := t.members[0].Shift
	if goid&(1<<(shift-1)) != 0 {
		return 0
	}
	return goid & (1<<shift - 1)
}

// openUntil is up to when a scope of a goroutine is shown that has not ended: to the end of the
// trace, whose ns are end, or to that of its process.
func (t *Trace) openUntil(goid uint64, end int64) int64 {
	if len(t.members) > 0 {
		if i, ok := t.member(uint32(goid >> t.members[0].Shift)); ok {
			return min(t.Nanos(t.members[i].To), end)
		}
	}
	return end
}
