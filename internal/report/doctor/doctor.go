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
	path string // of the trace
}

type document struct {
	report.Kept
	*doctor.Report
}

// Of returns the report of what was found in a trace, which is the file path.
func Of(t *trace.Trace, path string, r *doctor.Report) *report.Report {
	return &report.Report{Text: found{r, path}.text, Document: &document{report.KeptOf(t), r}}
}
