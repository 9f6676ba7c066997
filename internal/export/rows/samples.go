package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Sample is a sample of CPU time with its stack, which is never empty. Samples come after
// everything else, and not always in the order of time.
type Sample struct {
	sample
	Frames []*symbols.Frame // leaf first
	l      *layout
}

// sample is the part of a sample that is kept if samples are read before everything else.
type sample struct {
	Time   int64 // ns from the trace's start
	goid   uint64
	Stack  [2]uint32 // the same for samples with the same frames
	Thread uint32
	CPU    int32 // -1: not known
}

// Row returns the row of its goroutine, or of its thread if the goroutine is not known.
func (s *Sample) Row() *Row {
	key := s.goid
	if key == 0 {
		key = threadKey | uint64(s.Thread)
	}
	g := s.l.byKey[key]
	if g == nil {
		g = &goroutine{key: key}
		s.l.byKey[key] = g
	}
	return s.l.row(g, 0)
}

var unknownStack = []*symbols.Frame{{Func: samples.UnknownName}}

// kept has the samples until after the events, and the frames of their stacks.
type kept struct {
	list   []sample
	frames map[[2]uint32][]*symbols.Frame
	notes  []string
}

// keepSamples reads the samples of a trace with a Go execution trace: the events get their
// CPU times from the same reading.
func (l *layout) keepSamples(ctx context.Context, o *Options) (err error) {
	l.kept.frames = map[[2]uint32][]*symbols.Frame{}
	l.kept.notes, err = l.readSamples(ctx, o, func(s *Sample) {
		l.kept.list = append(l.kept.list, s.sample)
		l.kept.frames[s.Stack] = s.Frames
	})
	return err
}

// samples passes the samples of CPU time to the sink. If they can't be read that is a note:
// the rest of the trace is still good.
func (l *layout) samples(ctx context.Context, o *Options) (err error) {
	notes := l.kept.notes
	for i := range l.kept.list {
		if ctx.Err() != nil {
			return fmt.Errorf("laying the trace out: %w", ctx.Err())
		}
		if l.sink.Full() != nil {
			return nil
		}
		s := &l.kept.list[i]
		l.sink.Sample(&Sample{*s, l.kept.frames[s.Stack], l})
	}
	if l.kept.frames == nil {
		notes, err = l.readSamples(ctx, o, l.sink.Sample)
	}
	if err == nil && len(notes) > 0 && l.sink.Full() == nil {
		l.sink.Notes(notes)
	}
	return err
}

// readSamples reads the samples of CPU time, and returns notes on their reliability.
func (l *layout) readSamples(ctx context.Context, o *Options, take func(*Sample)) (notes []string, _ error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	sel := o.Selection
	sel.Progress = nil // progress is reported while the events are read
	n := 0
	each := func(s *samples.Sample) {
		if !s.OnCPU || reading.Err() != nil {
			return
		}
		if len(s.Frames) == 0 {
			s.Frames = unknownStack
		}
		n++
		take(&Sample{sample{s.Time, s.Labels.Goid, s.Stack, s.Labels.Thread, s.CPU}, s.Frames, l})
		if l.sink.Full() != nil {
			stop()
		}
	}
	p, err := samples.OfTrace(reading, l.t, &samples.Selection{Selection: &sel, Imputed: true, Each: each, With: []states.Handler{states.CPUTimes(l.t)}})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("laying the trace out: %w", ctx.Err())
	case errors.Is(err, samples.ErrNone) || l.sink.Full() != nil:
		return nil, nil
	case errors.Is(err, samples.ErrOverflow): // each sample is there, only the sum is not
		return []string{"What the samples add up to is not known: " + err.Error()}, nil
	case err != nil:
		return []string{"The samples could not be read: " + err.Error()}, nil
	case n > 0:
		return p.Notes, nil
	}
	return nil, nil
}
