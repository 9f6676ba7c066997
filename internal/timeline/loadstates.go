package timeline

import (
	"context"
	"errors"
	"math"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// LoadStates reads the goroutines' states of t; nil if t has no Go execution trace. Problems
// has a sentence on each part that can't be read. with are further handlers for the same
// reading.
func LoadStates(ctx context.Context, t *trace.Trace, with ...states.Handler) (*States, error) {
	if len(t.GoTraces()) == 0 {
		return nil, ctx.Err()
	}
	s := newStates(func(uint32) []string { return nil })
	_, err := states.EachOf(t, append(with, s.handler(t))...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, gotrace.ErrNone):
		return nil, nil
	case err != nil:
		s.Problems = append(s.Problems, "The goroutines' states could not be read: "+err.Error()+".")
	}
	return s, nil
}

// LoadWithStates combines LoadSamples and LoadStates in one reading of the Go execution
// trace. It also computes the CPU times of scopes, for Load.
func LoadWithStates(ctx context.Context, t *trace.Trace, of analysis.Selection, most int) (s *States, x *Samples, p *samples.Profile, err error) {
	s = newStates(nil)
	x, p, err = LoadSamples(ctx, t, of, most, s.handler(t), states.CPUTimes(t))
	if err == nil && s.frames == nil { // there is no Go execution trace, or the error may concern only samples
		s, err = LoadStates(ctx, t)
	}
	return s, x, p, err
}

// handler returns the handler that fills s. Processors and threads of several processes may
// have the same number: in a merged trace they have no rows.
func (s *States) handler(t *trace.Trace) states.Handler {
	if len(t.Processes()) == 0 {
		return states.Handler{Interval: func(_ *states.Facts, v *states.Interval) { s.add(v) }, Done: s.take}
	}
	s.Facts = append(s.Facts, [2]string{"processors, threads", "each process had its own: see its own trace"})
	return states.Handler{
		Interval: func(_ *states.Facts, v *states.Interval) {
			x := *v
			x.Thread, x.Proc = 0, -1
			s.add(&x)
		},
		Done: s.take,
	}
}

// take adds the data that is available at the end.
func (s *States) take(facts *states.Facts) {
	s.frames = func(id uint32) []string { return frameTexts(facts.Stack(id)) }
	s.Switches, s.Problems, s.stretches = facts.Switches, facts.Problems, facts.Stretches
	if len(s.places.list) > math.MaxUint16 {
		s.Problems = append(s.Problems, "Too many threads ran on too many processors: some runs of goroutines have no thread.")
	}
	text := "recorded: the times of threads on CPUs are known"
	if !facts.Switches {
		text = "none: " + facts.SwitchesWhy + "; running includes being off the CPU"
	}
	s.Facts = append(s.Facts, [2]string{"thread switches", text})
	for _, c := range facts.Checks.List() {
		text := c.Text
		if c.Known && !c.OK {
			text += "; more than the " + show.Percent(c.Tolerance) + " that are tolerated"
		}
		s.Facts = append(s.Facts, [2]string{"self-check", text})
	}
	for _, r := range s.met {
		g := facts.Goroutines[r.goid]
		if g == nil {
			continue
		}
		r.system = g.System
		if stack := facts.Stack(g.Start); len(stack) > 0 {
			r.start = format.ShortFunction(stack[len(stack)-1].Func)
		}
	}
	s.finish()
}

// frameTexts formats a stack's functions.
func frameTexts(list []*symbols.Frame) (texts []string) {
	for _, f := range list {
		texts = append(texts, f.String())
	}
	return texts
}
