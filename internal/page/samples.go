package page

import (
	"context"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostSamples is the maximum number of samples and waits on a page; more are merged.
const mostSamples = 250_000

// LoadSamples reads the samples of the selected part of a trace, and the sources with most
// of them; nil: there are none.
func LoadSamples(ctx context.Context, t *trace.Trace, of analysis.Selection) (*timeline.Samples, error) {
	s, p, err := timeline.LoadSamples(ctx, t, of, mostSamples)
	addSources(ctx, t, s, p, false)
	return s, err
}

// longGoTrace is the maximum size in bytes of a Go execution trace that is examined for a
// file: for more, the doctor and the samples would need gigabytes for the waits.
var longGoTrace int64 = 64 << 20

func isLong(t *trace.Trace, of *analysis.Selection) bool {
	if of.From > 0 || of.To > 0 || len(t.Processes()) > 0 { // a merged trace has no samples
		return false
	}
	n := int64(0)
	for _, g := range t.GoTraces() {
		n += g.Size
	}
	return n > longGoTrace
}

// loadWithStates is LoadSamples with the goroutines' states; and with commentary the
// compiler's output.
func loadWithStates(ctx context.Context, t *trace.Trace, of analysis.Selection, commentary bool) (*timeline.States, *timeline.Samples, error) {
	if isLong(t, &of) {
		known, err := timeline.LoadStates(ctx, t, states.CPUTimes(t))
		return known, &timeline.Samples{Notes: []string{"The Go execution trace is long, and its samples and waits are not in this file: scopeview profile shows them, scopeview html --from and --to those of a part."}}, err
	}
	known, s, p, err := timeline.LoadWithStates(ctx, t, of, mostSamples)
	addSources(ctx, t, s, p, commentary)
	return known, s, err
}

// addSources adds the sources with most of the samples, if there are any; and with
// commentary the compiler's treatment of hot calls.
func addSources(ctx context.Context, t *trace.Trace, s *timeline.Samples, p *samples.Profile, commentary bool) {
	if s == nil || p == nil {
		return
	}
	c := annotate.Code{Remarks: commentary}
	c.UseStored(t)
	c.UseBinary(p, "", "")
	for _, e := range c.Excerpts(p) {
		s.AddSource(e.File, e.From, e.Lines, e.Code)
	}
	calls, err := c.HotCalls(ctx, p)
	if err != nil {
		s.Notes = append(s.Notes, "The compiler's remarks are missing: "+err.Error()+".")
	}
	for _, h := range calls {
		s.AddCall(h.Caller, h.Callee, h.File, h.Line, h.Text)
	}
}
