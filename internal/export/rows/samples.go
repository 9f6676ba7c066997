package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/samples"
)

// Sample is a sample of CPU time with its stack, which is never empty. Samples come after
// all else, and not always in the order of time.
type Sample struct {
	*samples.Sample
	l *layout
}

// Row returns the row of its goroutine, or of its thread if no goroutine is known.
func (s *Sample) Row() *Row {
	key := s.Labels.Goid
	if key == 0 {
		key = threadKey | uint64(s.Labels.Thread)
	}
	g := s.l.byKey[key]
	if g == nil {
		g = &goroutine{key: key}
		s.l.byKey[key] = g
	}
	return s.l.row(g, 0)
}

var unknownStack = []*samples.Frame{{Func: samples.UnknownName}}

// samples hands over the samples of CPU time. What can't be read of them is a note: the
// rest of the trace is as good as without them.
func (l *layout) samples(ctx context.Context, o *Options) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	sel := o.Selection
	sel.Progress = nil // it is at the end already
	n := 0
	p, err := samples.OfTrace(reading, l.t, &samples.Selection{Selection: &sel, Imputed: true, Each: func(s *samples.Sample) {
		if s.OnCPU && reading.Err() == nil {
			if len(s.Frames) == 0 {
				s.Frames = unknownStack
			}
			n++
			l.sink.Sample(&Sample{s, l})
			if l.sink.Full() != nil {
				stop()
			}
		}
	}})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("laying the trace out: %w", ctx.Err())
	case errors.Is(err, samples.ErrNone) || l.sink.Full() != nil:
		return nil
	case err != nil:
		l.sink.Notes([]string{"The samples could not be read: " + err.Error()})
	case n > 0 && len(p.Notes) > 0:
		l.sink.Notes(p.Notes)
	}
	return nil
}
