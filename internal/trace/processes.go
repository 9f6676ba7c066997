package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// Process is one of the processes in a merged trace.
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

// Processes lists the processes in a merged trace, by their numbers: a parent comes right before
// its children. None: the trace is of one process. Processes that KeepProcesses leaves out are not
// listed, nor named as parents.
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

// Merged returns how many processes are in a merged trace, including those that KeepProcesses
// leaves out; 0: the trace was not merged.
func (t *Trace) Merged() int { return len(t.members) }

func (t *Trace) process(m format.Member) Process {
	m.From, m.To = t.Nanos(m.From), t.Nanos(m.To)
	return Process{m, MemberLabel(&m)}
}

// MemberLabel returns the label of a process of a merged trace.
func MemberLabel(m *format.Member) string {
	return fmt.Sprintf("%s %d", cmp.Or(lastName(m.Program), "process"), m.PID)
}

// lastName returns the last element of a path of any system.
func lastName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// ProcessOf returns the process of a goroutine in a merged trace. ok is false if the trace is not
// merged, or the goroutine is unknown.
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

// OwnGoid returns the runtime's id of a goroutine of a merged trace, within its process; 0: not
// known.
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

// openUntil returns the time until which an open scope of a goroutine is shown: the end of the
// trace, end ns, or that of its process.
func (t *Trace) openUntil(goid uint64, end int64) int64 {
	if len(t.members) > 0 {
		if i, ok := t.member(uint32(goid >> t.members[0].Shift)); ok {
			return min(t.Nanos(t.members[i].To), end)
		}
	}
	return end
}
