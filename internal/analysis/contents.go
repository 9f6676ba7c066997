package analysis

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// StoredFiles sums up the files that scopeview archive has stored with a trace.
type StoredFiles struct {
	Executable string // its path; "": not stored
	Sources    int64
	Bytes      int64 // of all files
	Stored     int64 // bytes that they take in the trace
	Missing    int64 // incomplete files
}

// Stored sums up the files that are stored with a trace.
func Stored(t *trace.Trace) (s StoredFiles) {
	for _, f := range t.Files() {
		if f.Kind == format.FileExecutable {
			s.Executable = f.Name
		} else {
			s.Sources++
		}
		s.Bytes += f.Size
		s.Stored += f.Stored
		if f.Missing {
			s.Missing++
		}
	}
	return s
}

// archive describes the files that are stored with the trace.
func (r *Report) archive(l *facts) {
	s := Stored(r.Trace)
	if s == (StoredFiles{}) {
		return
	}
	what := ""
	if s.Executable != "" {
		what = "the executable"
	}
	if s.Sources > 0 {
		what = join(what, show.Plural(s.Sources, "source"))
	}
	how, missing := quiet, ""
	if s.Missing > 0 {
		how, missing = Odd, "; a part is missing of "+show.Plural(s.Missing, "file")
	}
	l.loud("archive", what+" ("+show.Size(s.Bytes)+") in "+show.Size(s.Stored)+missing, how)
}

// stackCount counts the calls of scope.Stack.
type stackCount struct {
	Calls  int64
	Names  int64
	Stacks int64 // pairs of a name and a stack
}

// Stacks sums up a trace's calls of scope.Stack.
func Stacks(t *trace.Trace) (n stackCount) {
	names := map[uint16]bool{}
	t.EachCount(func(s *trace.Stack) bool {
		names[s.Name] = true
		n.Calls += s.Calls
		n.Stacks++
		return true
	})
	n.Names = int64(len(names))
	return n
}

// stacks reports them, if there are any.
func (r *Report) stacks(l *facts) {
	if n := Stacks(r.Trace); n.Calls > 0 {
		l.add("stacks", show.Plural(n.Calls, "call")+" of scope.Stack counted, under "+show.Plural(n.Names, "name")+", from "+
			show.Plural(n.Stacks, "place")+"; see scopeview stacks")
	}
}
