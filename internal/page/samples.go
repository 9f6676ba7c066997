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
	addSources(t, s, p)
	return s, err
}

// loadWithStates is LoadSamples, and what the goroutines did.
func loadWithStates(ctx context.Context, t *trace.Trace, of analysis.Selection) (*timeline.States, *timeline.Samples, error) {
	states, s, p, err := timeline.LoadWithStates(ctx, t, of, mostSamples)
	addSources(t, s, p)
	return states, s, err
}

// addSources adds the sources of what had most of the samples, if there are any.
func addSources(t *trace.Trace, s *timeline.Samples, p *samples.Profile) {
	if s == nil || p == nil {
		return
	}
	c := annotate.Code{}
	c.UseStored(t)
	c.UseBinary(p, "")
	for _, e := range c.Excerpts(p) {
		s.AddSource(e.File, e.From, e.Lines, e.Code)
	}
}
