package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
)

// Processes select processes by number, or by the program that they run.
type Processes struct {
	text     string
	numbers  []uint32
	programs *glob.Filter // nil: none
}

// ParseProcesses parses a list of numbers and of GLOBs of programs' names.
func ParseProcesses(text string) (*Processes, error) {
	p := &Processes{text: text}
	var names []string
	for _, word := range strings.Split(text, ",") {
		if n, err := strconv.ParseUint(word, 10, 32); err == nil {
			p.numbers = append(p.numbers, uint32(n))
		} else {
			names = append(names, word)
		}
	}
	if len(names) == 0 {
		return p, nil
	}
	f, err := glob.Parse(strings.Join(names, ","))
	p.programs = &f
	return p, err
}

// String returns the list as the user gave it.
func (p *Processes) String() string { return p.text }

// match reports whether a process is selected.
func (p *Processes) match(pid uint32, program string) bool {
	return slices.Contains(p.numbers, pid) || p.programs != nil && p.programs.MatchFile(program)
}

// processFilter selects the processes whose data a trace returns.
type processFilter struct {
	of      *Processes
	own     bool            // of a trace that was not merged: its own process is kept
	numbers map[uint32]bool // of a merged trace: the kept processes
	calls   bool            // call counts were left out, which may include kept processes' calls
}

// ErrNoProcess means that a trace has no data of the selected processes.
var ErrNoProcess = errors.New("the trace has no such process")

// KeepProcesses drops from all later reads the data of processes that p does not select: scopes,
// events, counters and locks of a merged trace, samples of a recording of several processes. nil
// keeps all. It must be called before the trace is read. It returns an error that wraps
// ErrNoProcess if nothing would be left.
func (t *Trace) KeepProcesses(p *Processes) error {
	if p == nil {
		return nil
	}
	k := &processFilter{of: p, numbers: map[uint32]bool{}}
	var there []string
	add := func(pid uint32, program string) bool {
		if label := fmt.Sprintf("%d %s", pid, cmp.Or(lastName(program), "?")); !slices.Contains(there, label) {
			there = append(there, label)
		}
		return p.match(pid, program)
	}
	found, all := false, true
	took := func(wanted bool) { found, all = found || wanted, all && wanted }
	for i := range t.members {
		m := &t.members[i]
		k.numbers[m.Number] = add(m.PID, m.Program)
		took(k.numbers[m.Number])
	}
	for _, x := range t.Programs() {
		took(add(x.PID, x.Path))
	}
	if len(t.members) == 0 {
		own := t.Lookup("program")
		k.own = p.match(t.header.PID, own)
		if !t.HasPrograms() {
			took(add(t.header.PID, own))
		}
	}
	switch {
	case !found:
		return noProcess(there)
	case !all:
		t.filter = k
		t.dropOthers()
	}
	return nil
}

// Kept returns the argument of KeepProcesses, nil if it leaves nothing out. calls reports whether
// the counts of calls that were not all recorded, which are for all processes together, are left
// out too.
func (t *Trace) Kept() (p *Processes, calls bool) {
	if t.filter == nil {
		return nil, false
	}
	return t.filter.of, t.filter.calls
}

// noProcess returns the error that no process was selected, with the existing ones.
func noProcess(there []string) error {
	const most = 8
	if more := len(there) - most; more > 0 {
		there = append(there[:most:most], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w; it has: %s", ErrNoProcess, strings.Join(there, ", "))
}

// dropOthers drops data read so far of processes that are not kept. A merged trace does not record
// whose calls it only counts.
func (t *Trace) dropOthers() {
	if len(t.members) == 0 {
		if !t.filter.own {
			t.sched.parts, t.sched.switches, t.beats, t.calls, t.stacks.counts = nil, nil, nil, nil, nil
		}
		return
	}
	t.filter.calls = len(t.calls) > 0
	t.calls = nil
	t.Notes = slices.DeleteFunc(t.Notes, func(n Note) bool {
		of := func(wanted bool) bool {
			return slices.ContainsFunc(t.members, func(m format.Member) bool {
				return t.filter.numbers[m.Number] == wanted && strings.HasPrefix(n.Text, MemberLabel(&m)+": ")
			})
		}
		return of(false) && !of(true)
	})
}

// selects reports whether a goroutine belongs to a kept process.
func (t *Trace) selects(goid uint64) bool {
	switch {
	case t.filter == nil:
		return true
	case len(t.members) == 0:
		return t.filter.own
	}
	return t.filter.numbers[uint32(goid>>t.members[0].Shift)]
}

// selectsLock reports whether a lock belongs to a kept process: merging has put the process's number
// into the address.
func (t *Trace) selectsLock(addr uint64) bool {
	if t.filter == nil || len(t.members) == 0 {
		return t.selects(0)
	}
	return t.filter.numbers[uint32(addr>>48)]
}

// selectsSample reports whether a sample belongs to a kept process.
func (t *Trace) selectsSample(x *Sample) bool {
	if t.filter == nil || !t.HasPrograms() {
		return t.selects(0)
	}
	g := t.ProgramOf(x)
	return t.filter.of.match(g.PID, g.Path)
}
