package page

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Unsaid is in the place of a doctor's report where there is none.
type Unsaid struct {
	Error    string   `json:"error"` // why, a sentence
	Findings []string `json:"findings"`
}

// notAsked is what is said of a trace that is too long to be examined for a file.
func notAsked() *Unsaid {
	return &Unsaid{Error: "The Go execution trace is long, and the doctor was not asked: ask scopeview doctor, or scopeview html with --from and --to of a part.", Findings: []string{}}
}

// DoctorSays examines the selected part of t for the page. It takes as long
// as reading the trace twice, and longer where there is a Go execution trace. Where
// nothing can be said, that is what is returned: a page is worth having without. It cites a, the
// advice that lies beside the trace, nil without any.
func DoctorSays(ctx context.Context, t *trace.Trace, s analysis.Selection, a *Advice) any {
	spares := ""
	if a != nil && a.Report != nil {
		spares = show.Text(a.Spares(""))
	}
	r, err := doctor.Examine(t, doctor.Options{Selection: s, Context: ctx, Spares: spares, Drawn: true})
	if err != nil {
		return &Unsaid{Error: "The doctor could not examine the trace: " + err.Error(), Findings: []string{}}
	}
	return r
}
