// Package doctor shows what internal/doctor has found in a trace, to people and to programs.
package doctor

import (
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// found is what doctor shows.
type found struct {
	*doctor.Report
	t      *trace.Trace
	path   string // of the trace
	advice *Advice
}

type document struct {
	report.Kept
	*doctor.Report
	Advice *Advice `json:"advice,omitempty"`
}

// Advice is what the raw file beside the trace says, of the whole run.
type Advice struct {
	Raw   string   `json:"raw"`             // the file
	Error string   `json:"error,omitempty"` // why it can't be read
	Best  []Advise `json:"best"`            // those that gain most of the time
}

// Advise is a piece of advice.
type Advise struct {
	ID     string  `json:"id"`
	Site   string  `json:"site"`  // "function file:line"
	Place  string  `json:"place"` // "file:line", as it is shown
	Advice string  `json:"advice"`
	Saves  string  `json:"saves"`
	Time   int64   `json:"ns"`
	Share  float64 `json:"share"` // of the time
	Bytes  int64   `json:"bytes"`
}

// Of returns the report of what was found in a trace, which is the file path. a is nil where no raw file
// lies beside it.
func Of(t *trace.Trace, path string, r *doctor.Report, a *Advice) *report.Report {
	x := found{r, t, path, a}
	return &report.Report{Text: x.text, Brief: x.brief, Document: &document{report.KeptOf(t), r, a}}
}
