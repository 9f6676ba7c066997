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
