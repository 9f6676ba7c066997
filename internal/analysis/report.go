package analysis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Report is what can be said about a trace as a whole: what scopeview info
// prints and the page shows.
type Report struct {
	Trace  *trace.Trace
	Path   string
	State  State
	Census Census
	Cost   cost
	Go     *gotrace.Info // what could be read of its Go execution trace; nil: none, or it was not tried
}

// State is what is known about the writing of a trace.
type State string

// States.
const (
	StateClosed    State = "closed"    // Stop ran to its end
	StateWriting   State = "writing"   // the program lives and writes
	StateAbandoned State = "abandoned" // nobody writes it any more, and Stop was not called
	StateUnknown   State = "unknown"   // not closed, and this system can't tell who writes it
)

// fact is a line of a report, safe to show.
type fact struct {
	Label string // empty: as before
	Text  string
	Loud  loudness
}

// loudness is how much a fact has to be noticed.
type loudness int

// Loudnesses.
const (
	quiet loudness = iota
	Odd
	Loud
)

// Facts lists the report's lines: losses first.
func (r *Report) Facts() []fact {
	l := &facts{}
	r.kept(l)
	r.process(l)
	r.processes(l)
	r.recorder(l)
	r.records(l)
	r.budget(l)
	r.stacks(l)
	r.scheduler(l)
	r.archive(l)
	r.oddities(l)
	return l.list
}

// Run lists what the run was: what was lost first, the program and its machine, and what there is of the
// scheduler. It reads nothing more of the trace.
func (r *Report) Run() []fact {
	l := &facts{}
	r.kept(l)
	r.process(l)
	r.processes(l)
	r.scheduler(l)
	return l.list
}

// facts are gathered in the order in which they are shown.
type facts struct{ list []fact }

func (l *facts) add(label, text string) { l.loud(label, text, quiet) }

func (l *facts) loud(label, text string, how loudness) {
	if text != "" {
		l.list = append(l.list, fact{label, text, how})
	}
}

// join puts commas between the texts that are not empty.
func join(texts ...string) string {
	kept := texts[:0:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, ", ")
}

// info is a fact of the trace, safe to show; "" if it is not known.
func (r *Report) info(key string) string {
	if v := r.Trace.Lookup(key); v != "" {
		return show.Name(v)
	}
	return ""
}

// kept tells what the trace is and whether all of it is there.
func (r *Report) kept(l *facts) {
	size := r.Trace.Size()
	if made(r.Trace) {
		size = r.Trace.GoTraces()[0].Size
	}
	l.add("trace", show.Name(r.Path)+", "+show.Size(size))
	switch line := LossLine(r.Trace); {
	case line == "":
		l.add("losses", "none")
	case line == UnknownLosses(r.Trace) && !made(r.Trace):
		l.loud("losses", "none were counted; "+line, Odd)
	default:
		l.loud("losses", line, Loud)
	}
	for i, g := range r.Trace.Gaps() {
		if i == 5 {
			l.add("", fmt.Sprintf("… and %d more gaps", len(r.Trace.Gaps())-i))
			break
		}
		l.add("", fmt.Sprintf("from %s to %s: %s", show.Duration(g.From), show.Duration(g.To), loss{g.Reason, g.Count, recordingOf(r.Trace)}))
	}
	r.ring(l)
	if made(r.Trace) {
		l.add("made of", r.info(gotrace.FactMade))
		l.add("recorded", r.recorded())
		return
	}
	pid := r.Trace.Header().PID
	l.add("state", map[State]string{
		StateClosed:    closedBy(r.Trace),
		StateWriting:   fmt.Sprintf("being written by process %d", pid),
		StateAbandoned: fmt.Sprintf("not closed: process %d ended, or was killed, without Stop", pid),
		StateUnknown:   fmt.Sprintf("not closed; whether process %d still writes it can't be told here", pid),
	}[r.State])
	if line := DeadlockLine(r.Trace); line != "" {
		l.loud("", line, Loud)
	}
	if e := EndedBy(r.Trace.Lookup(FactEnded), r.Trace.End()); e != nil {
		l.loud("", e.Text, Loud)
	}
	l.add("recorded", r.recorded())
}

// closedBy says who has ended a trace.
func closedBy(t *trace.Trace) string {
	if len(t.Processes()) > 0 {
		return "merged by scopeview merge"
	}
	return "closed by Stop"
}

func (r *Report) recorded() string {
	return r.Trace.Start().Format("2006-01-02 15:04:05.000 -0700") + ", for " + show.Duration(r.Trace.End())
}

// made reports whether a trace was made of a Go execution trace, so that nothing recorded it.
func made(t *trace.Trace) bool { return t.Lookup(gotrace.FactMade) != "" && len(t.GoTraces()) > 0 }

// DeadlockLine says that no goroutine of the program could go on; it is empty otherwise.
func DeadlockLine(t *trace.Trace) string {
	if t.Lookup("deadlock") == "" {
		return ""
	}
	return "deadlock: no goroutine of the program could go on any more, and Go ended it"
}

// process tells of the program and its machine.
func (r *Report) process(l *facts) {
	l.add("program", join(r.called(), prefix("in ", r.info("dir"))))
	module := strings.TrimSpace(r.info("module") + " " + r.info("version"))
	l.add("build", join(module, r.info("go"), platform(r.info("os"), r.info("arch"))))
	cpus := ""
	if n, ok := r.beat(format.FieldCPUs); ok {
		cpus = show.Plural(n, "CPU")
		if limit, ok := r.beat(format.FieldCPULimit); ok {
			cpus += fmt.Sprintf(" (the cgroup allows %.2f)", float64(limit)/1000)
		}
		if procs, ok := r.beat(format.FieldGOMAXPROCS); ok {
			cpus += fmt.Sprintf(", GOMAXPROCS %d", procs)
		}
	}
	l.add("machine", join(r.info("host"), prefix("kernel ", r.info("kernel")), r.info("cpu"), cpus))
}

// called is how the program was called, and what it is where that does not say.
func (r *Report) called() string {
	program, args := r.info("program"), r.info("args")
	if args == "" || strings.HasPrefix(args, program) {
		return cmp.Or(args, program)
	}
	return args + " (" + program + ")"
}

func prefix(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func platform(os, arch string) string {
	if os == "" || arch == "" {
		return os + arch
	}
	return os + "/" + arch
}

// beat is a value of the last heartbeat.
func (r *Report) beat(f format.Field) (int64, bool) {
	if n := len(r.Trace.Beats()); n > 0 {
		return r.Trace.Beats()[n-1].Value(f)
	}
	return 0, false
}

// because is a reason that the recorder gave for what it could not do.
func (r *Report) because(text, key string) string {
	if why := r.info(key); why != "" {
		return text + " (reason: " + why + ")"
	}
	return text
}
