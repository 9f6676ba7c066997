package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
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
		if t.filter != nil && !t.filter.numbers[m.Number] {
			continue
		}
		for t.filter != nil && m.Parent != 0 && !t.filter.numbers[m.Parent] {
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

// Sched holds the Go execution traces and the switches of a process in a merged trace.
type Sched struct {
	Process
	Own      format.Sched
	Wall     int64 // its wall clock at the start of its own trace
	GoTraces []GoTrace
}

func (t *Trace) memberSched(p []byte, _ format.Loc) error {
	s, err := format.DecodeSched(p)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.scheds, func(x format.Sched) bool { return x.Number == s.Number }) {
		return fmt.Errorf("%w: a second one of the process %d", format.ErrCorrupt, s.Number)
	}
	t.scheds = append(t.scheds, s)
	return nil
}

// Scheds lists the scheds of a merged trace, by the processes' numbers: those of kept processes
// that have a Go execution trace.
func (t *Trace) Scheds() []Sched {
	var list []Sched
	all := t.GoTraces()
	for _, s := range t.scheds {
		if t.filter != nil && !t.filter.numbers[s.Number] {
			continue
		}
		i, ok := t.member(s.Number)
		x := Sched{Own: s}
		for _, g := range all {
			if g.Stream >= s.First && g.Stream-s.First < s.Streams {
				x.GoTraces = append(x.GoTraces, g)
			}
		}
		if !ok || x.GoTraces == nil {
			continue
		}
		x.Process = t.process(t.members[i])
		x.Wall = t.header.StartWall + x.From - x.Offset
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Sched) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// At converts a time of the process's own trace to one of the merged trace, in ns from its start.
func (s *Sched) At(ns int64) int64 {
	ns = min(max(ns, 0), s.Own.End)
	drift := s.To - s.From - s.Own.End
	if drift == 0 {
		return s.From + ns
	}
	return s.From + ns + int64(math.Floor(float64(drift)/float64(s.Own.End)*float64(ns)))
}

// Goid returns the id in the merged trace of a goroutine of the process; 0 if it is too large, or
// not known.
func (s *Sched) Goid(id uint64) uint64 {
	if id == 0 || id >= 1<<(s.Shift-1) {
		return 0
	}
	return uint64(s.Number)<<s.Shift | id
}
