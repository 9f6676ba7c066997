// Package doctor presents the findings of internal/doctor in a trace, to people and to programs.
package doctor

import (
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// found is the content of the doctor report.
type found struct {
	*doctor.Report
	t      *trace.Trace
	path   string // of the trace
	advice *Advice
}

type document struct {
	report.Kept
	*doctor.Report
	Advice *Advice `json:"advice,omitempty" says:"absent: no raw file of 'scopeview run --advise' lies beside the trace"`
}

// Advice holds the advice in the raw file beside the trace, for the whole run.
type Advice struct {
	Raw   string   `json:"raw" says:"the raw file; 'scopeview advise' shows all of it"`
	Error string   `json:"error,omitempty" says:"why the raw file, or some of it, can't be read"`
	Best  []Advise `json:"best"` // those that gain most of the time
}

// Advise is a piece of advice.
type Advise struct {
	ID     string  `json:"id" says:"the diagnostic"`
	Site   string  `json:"site" says:"'function file:line'"`
	Place  string  `json:"place" says:"'file:line', from the working directory where it lies below it"`
	Advice string  `json:"advice" says:"what to do; at most three items, each gaining at least 1 % of the time"`
	Saves  string  `json:"saves" says:"the numbers in words"`
	Time   int64   `json:"ns" unit:"ns" says:"saved in a run"`
	Share  float64 `json:"share" unit:"0 to 1" says:"of the time of the run"`
	Bytes  int64   `json:"bytes" unit:"bytes" says:"of memory saved in a run; an estimate, as the next ones"`
}

// Of returns the report of the findings r in a trace, read from the file path. a is nil if no raw
// file lies beside it.
func Of(t *trace.Trace, path string, r *doctor.Report, a *Advice) *report.Report {
	x := found{r, t, path, a}
	return &report.Report{Text: x.text, Brief: x.brief, Document: &document{report.KeptOf(t), r, a}}
}
