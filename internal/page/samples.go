package page

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostSamples is how many samples and waits a page is given; more of them become one.
const mostSamples = 250_000

// LoadSamples reads the samples of what is chosen of a trace, and the sources of what had
// most of them; nil: there are none.
func LoadSamples(ctx context.Context, t *trace.Trace, of analysis.Selection) (*timeline.Samples, error) {
	s, p, err := timeline.LoadSamples(ctx, t, of, mostSamples)
	addSources(ctx, t, s, p, false)
	return s, err
}

// loadWithStates is LoadSamples, and what the goroutines did; and with commentary what the
// compiler did.
func loadWithStates(ctx context.Context, t *trace.Trace, of analysis.Selection, commentary bool) (*timeline.States, *timeline.Samples, error) {
	states, s, p, err := timeline.LoadWithStates(ctx, t, of, mostSamples)
	addSources(ctx, t, s, p, commentary)
	return states, s, err
}

// addSources adds the sources of what had most of the samples, if there are any; and with
// commentary what the compiler did with hot calls.
func addSources(ctx context.Context, t *trace.Trace, s *timeline.Samples, p *samples.Profile, commentary bool) {
	if s == nil || p == nil {
		return
	}
	c := annotate.Code{Remarks: commentary}
	c.UseStored(t)
	c.UseBinary(p, "")
	for _, e := range c.Excerpts(p) {
		s.AddSource(e.File, e.From, e.Lines, e.Code)
	}
	calls, err := c.HotCalls(ctx, p)
	if err != nil {
		s.Notes = append(s.Notes, "What the compiler did is not known: "+err.Error()+".")
	}
	for _, h := range calls {
		s.AddCall(h.Caller, h.Callee, h.File, h.Line, h.Text)
	}
}
