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

// Processes are those that a user names: by number, or by the program that they run.
type Processes struct {
	text     string
	numbers  []uint32
	programs *glob.Filter // nil: none
}

// ParseProcesses reads a list of numbers and of GLOBS of programs' names.
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

// String returns the list as the user has given it.
func (p *Processes) String() string { return p.text }

// match reports whether a process is one of them.
func (p *Processes) match(pid uint32, program string) bool {
	return slices.Contains(p.numbers, pid) || p.programs != nil && p.programs.MatchFile(program)
}

// kept says which processes a trace is read of.
type kept struct {
	of      *Processes
	own     bool            // of a trace that was not merged: the process that it has records of
	numbers map[uint32]bool // of the processes of one that was
	calls   bool            // calls were left out that are of some process
}

// ErrNoProcess says that a trace has nothing of the processes that were asked for.
var ErrNoProcess = errors.New("the trace is of no such process")

// KeepProcesses leaves out of all that is read from now on what is of other processes than p names: scopes,
// events, counters and locks of a merged trace, samples of a recording of several. nil keeps all. It is to be
// called before the trace is read. It returns an error that wraps ErrNoProcess if nothing would be left.
func (t *Trace) KeepProcesses(p *Processes) error {
	if p == nil {
		return nil
	}
	k := &kept{of: p, numbers: map[uint32]bool{}}
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
		t.kept = k
		t.leaveOut()
	}
	return nil
}

// Kept returns what KeepProcesses was given, nil if nothing is left out by it. calls reports whether that is also
// how often functions were called, by all processes together, of which not each call was recorded.
func (t *Trace) Kept() (p *Processes, calls bool) {
	if t.kept == nil {
		return nil, false
	}
	return t.kept.of, t.kept.calls
}

// noProcess returns the error that no process was chosen, with those that there are.
func noProcess(there []string) error {
	const most = 8
	if more := len(there) - most; more > 0 {
		there = append(there[:most:most], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w, but of %s", ErrNoProcess, strings.Join(there, ", "))
}

// leaveOut drops what is known already, and of processes that are not kept. Of which process calls were that a
// merged trace only counts is not known.
func (t *Trace) leaveOut() {
	if len(t.members) == 0 {
		if !t.kept.own {
			t.sched.parts, t.sched.switches, t.beats, t.calls, t.stacks.counts = nil, nil, nil, nil, nil
		}
		return
	}
	t.kept.calls = len(t.calls) > 0
	t.calls = nil
	t.Notes = slices.DeleteFunc(t.Notes, func(n Note) bool {
		of := func(wanted bool) bool {
			return slices.ContainsFunc(t.members, func(m format.Member) bool {
				return t.kept.numbers[m.Number] == wanted && strings.HasPrefix(n.Text, MemberLabel(&m)+": ")
			})
		}
		return of(false) && !of(true)
	})
}

// keeps reports whether a goroutine is of a process that the trace is read of.
func (t *Trace) keeps(goid uint64) bool {
	switch {
	case t.kept == nil:
		return true
	case len(t.members) == 0:
		return t.kept.own
	}
	return t.kept.numbers[uint32(goid>>t.members[0].Shift)]
}

// keepsLock reports whether a lock is of a process that the trace is read of: merging has put the number of
// the process into the address.
func (t *Trace) keepsLock(addr uint64) bool {
	if t.kept == nil || len(t.members) == 0 {
		return t.keeps(0)
	}
	return t.kept.numbers[uint32(addr>>48)]
}

// keepsSample reports whether a sample is of a process that the trace is read of.
func (t *Trace) keepsSample(x *Sample) bool {
	if t.kept == nil || !t.HasPrograms() {
		return t.keeps(0)
	}
	g := t.ProgramOf(x)
	return t.kept.of.match(g.PID, g.Path)
}
