package rows

import (
	"path"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// Facts describe the trace as a whole.
type Facts struct {
	Program string
	Losses  string      // empty without any
	All     [][2]string // names and values, with these two; no value is empty
}

// FactsOf returns the facts of t.
func FactsOf(t *trace.Trace, o *Options) *Facts {
	f := &Facts{Program: "process"}
	if p := t.Lookup("program"); p != "" {
		f.Program = Base(p)
	}
	f.Losses = analysis.LossLine(t)
	for _, v := range [][2]string{
		{"tool", o.Tool}, {"program", f.Program}, {"start", t.Start().UTC().Format(time.RFC3339Nano)},
		{"state", string(o.State)}, {"part", o.Part()}, {"losses", f.Losses}, {"go", t.Lookup("go")}, {"host", t.Lookup("host")},
	} {
		if v[1] != "" {
			f.All = append(f.All, v)
		}
	}
	return f
}

// Base returns the last element of a path of any system: directories may be private.
func Base(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }
