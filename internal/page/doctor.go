package page

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Unsaid replaces a doctor's report if there is none.
type Unsaid struct {
	Error    string   `json:"error"` // sentence: the reason
	Findings []string `json:"findings"`
}

// notAsked returns the Unsaid for a trace that is too long to examine for a file.
func notAsked() *Unsaid {
	return &Unsaid{Error: "The Go execution trace is long, so the doctor did not run: use scopeview doctor, or scopeview html with --from and --to of a part.", Findings: []string{}}
}

// DoctorSays examines the selected part of t for the page. It takes as long as reading the
// trace twice, and longer with a Go execution trace. If that fails it returns an Unsaid: a
// page is useful without a report. memory is nil if it was not measured. It
// cites a, the advice beside the trace, nil if there is none.
func DoctorSays(ctx context.Context, t *trace.Trace, s analysis.Selection, memory *doctor.Bandwidth, a *Advice) any {
	spares := ""
	if a != nil && a.Report != nil {
		spares = show.Text(a.Spares(""))
	}
	r, err := doctor.Examine(t, doctor.Options{Selection: s, Context: ctx, Bandwidth: memory, Spares: spares, Drawn: true})
	if err != nil {
		return &Unsaid{Error: "The doctor could not examine the trace: " + err.Error(), Findings: []string{}}
	}
	return r
}
