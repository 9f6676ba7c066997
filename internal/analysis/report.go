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

// Report describes a trace as a whole: scopeview info prints it and the page shows it.
type Report struct {
	Trace  *trace.Trace
	Path   string
	State  State
	Census Census
	Cost   cost
	Go     *gotrace.Info // result of reading its Go execution trace; nil: none, or not read
}

// State is the state of a trace's writing.
type State string

// States.
const (
	StateClosed    State = "closed"    // Stop completed
	StateWriting   State = "writing"   // the program is running and writing
	StateAbandoned State = "abandoned" // no process writes it any more, and Stop was not called
	StateUnknown   State = "unknown"   // not closed, and this system can't determine the writer
)

// fact is a line of a report, safe to show.
type fact struct {
	Label string // empty: that of the line before
	Text  string
	Loud  importance
}

// importance is the importance of a fact.
type importance int

// Loudnesses.
const (
	quiet importance = iota
	Odd
	Loud
)

// Facts returns the report's lines: losses first.
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

// Run returns the lines about the run: losses first, then the program and its machine, and
// the available scheduler data. It does not read the trace again.
func (r *Report) Run() []fact {
	l := &facts{}
	r.kept(l)
	r.process(l)
	r.processes(l)
	r.scheduler(l)
	return l.list
}

// facts collects lines in the order in which they are shown.
type facts struct{ list []fact }

func (l *facts) add(label, text string) { l.loud(label, text, quiet) }

func (l *facts) loud(label, text string, how importance) {
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

// info returns a fact of the trace, safe to show; "" if unknown.
func (r *Report) info(key string) string {
	if v := r.Trace.Lookup(key); v != "" {
		return show.Name(v)
	}
	return ""
}

// kept describes the trace and whether it is complete.
func (r *Report) kept(l *facts) {
	size := r.Trace.Size()
	if madeFromGoTrace(r.Trace) {
		size = r.Trace.GoTraces()[0].Size
	}
	l.add("trace", show.Name(r.Path)+", "+show.Size(size))
	l.loud("part", ExcerptLine(r.Trace), Odd)
	switch line := LossLine(r.Trace); {
	case line == "":
		l.add("losses", "none")
	case line == UnknownLosses(r.Trace) && !madeFromGoTrace(r.Trace):
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
	if madeFromGoTrace(r.Trace) {
		l.add("made of", r.info(gotrace.FactMade))
		l.add("recorded", r.recorded())
		return
	}
	pid := r.Trace.Header().PID
	l.add("state", map[State]string{
		StateClosed:    closedBy(r.Trace),
		StateWriting:   fmt.Sprintf("being written by process %d", pid),
		StateAbandoned: fmt.Sprintf("not closed: process %d ended, or was killed, without Stop", pid),
		StateUnknown:   fmt.Sprintf("not closed; it is not known here whether process %d still writes it", pid),
	}[r.State])
	if line := DeadlockLine(r.Trace); line != "" {
		l.loud("", line, Loud)
	}
	if e := EndedBy(r.Trace.Lookup(FactEnded), r.Trace.End()); e != nil {
		l.loud("", e.Text, Loud)
	}
	l.add("recorded", r.recorded())
}

// closedBy describes how a trace was closed.
func closedBy(t *trace.Trace) string {
	if _, _, excerpt := t.Excerpt(); excerpt {
		return "closed: an excerpt does not change"
	}
	if len(t.Processes()) > 0 {
		return "merged by scopeview merge"
	}
	return "closed by Stop"
}

func (r *Report) recorded() string {
	return r.Trace.Start().Format("2006-01-02 15:04:05.000 -0700") + ", for " + show.Duration(r.Trace.End())
}

// madeFromGoTrace reports whether a trace was made from a Go execution trace, so that nothing recorded
// it.
func madeFromGoTrace(t *trace.Trace) bool {
	return t.Lookup(gotrace.FactMade) != "" && len(t.GoTraces()) > 0
}

// DeadlockLine reports that the program ended by a deadlock; it is empty otherwise.
func DeadlockLine(t *trace.Trace) string {
	if t.Lookup("deadlock") == "" {
		return ""
	}
	return "deadlock: no goroutine of the program could continue, and Go ended it"
}

// process describes the program and its machine.
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

// called returns the program's command line, with the program's path if that has another
// name.
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

// beat returns a value of the last heartbeat.
func (r *Report) beat(f format.Field) (int64, bool) {
	if n := len(r.Trace.Beats()); n > 0 {
		return r.Trace.Beats()[n-1].Value(f)
	}
	return 0, false
}

// because appends the recorder's reason for something that it could not do.
func (r *Report) because(text, key string) string {
	if why := r.info(key); why != "" {
		return text + " (reason: " + why + ")"
	}
	return text
}
