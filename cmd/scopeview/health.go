package main

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// strictness is the flag --strict.
type strictness bool

// verdict is called after all output: it prints the damage on standard error, place by place if the
// command has not, and returns the exit code for damage and, with --strict, for losses.
func (x strictness) verdict(s *streams, path string, t *trace.Trace, damage []trace.Problem) error {
	return x.verdictOf(s, path, t, damage, t.Overwritten().Records > 0)
}

// verdictOf is like verdict, for a caller that knows whether a ring has overwritten selected
// records.
func (x strictness) verdictOf(s *streams, path string, t *trace.Trace, damage []trace.Problem, overwritten bool) error {
	for _, p := range damage {
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(path), analysis.ProblemText(&p))
	}
	if len(analysis.Damage(t.Problems())) > 0 || len(damage) > 0 {
		fmt.Fprintf(s.err, "scopeview: %s is damaged: the readable part was shown; copy it again if there is another copy, or see scopeview verify\n", show.Name(path))
		return &exit{code: exitFailed}
	}
	if bool(x) && (analysis.LossLine(t) != "" || t.Lookup(trace.FactExcerptLacks) != "" || overwritten) {
		return &exit{code: exitLosses}
	}
	return nil
}

// readGoTrace reads the Go execution trace from which t was made, for a view that shows no states
// of goroutines: its unreadable parts are damage for those views too.
func readGoTrace(t *trace.Trace) error {
	if t.Lookup(gotrace.FactMade) == "" || len(t.GoTraces()) == 0 {
		return nil
	}
	_, err := states.EachOf(t, states.Handler{})
	return err
}

// ofPlain is verdict for a file called name that is not a recording.
func (x strictness) ofPlain(s *streams, name string, p *samples.Profile) error {
	for _, text := range p.Damage {
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(name), text)
	}
	if len(p.Damage) > 0 {
		fmt.Fprintf(s.err, "scopeview: %s is damaged: the readable part was shown; copy it again if there is another copy\n", show.Name(name))
		return &exit{code: exitFailed}
	}
	if p.Missing != "" {
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(name), s.alarm(p.Missing))
		if bool(x) {
			return &exit{code: exitLosses}
		}
	}
	return nil
}

// warnLosses prints the range of an excerpt, the selected processes, the losses, and what a ring has
// overwritten on standard error, for commands whose output has no place for them.
func warnLosses(s *streams, path string, t *trace.Trace) {
	for _, line := range []string{analysis.ExcerptLine(t), analysis.KeptLine(t), analysis.OverwrittenLine(t), analysis.CoolLine(t), s.alarm(analysis.LossLine(t))} {
		if line != "" {
			fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(path), line)
		}
	}
}
