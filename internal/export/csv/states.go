package csv

import (
	"context"
	"errors"
	"io"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// stateRows writes the states of goroutines.
type stateRows struct {
	*rows
	o      *Options
	tracks map[uint64]uint16 // last name of each goroutine's row
	about  analysis.StateArgs
}

// bufferSize is the amount of text written at once.
const bufferSize = 64 << 10

// write writes all states; b is a buffer. failed is the error of w, or of ctx.
func (r *stateRows) write(ctx context.Context, w io.Writer, t *trace.Trace, b []byte) (_ []byte, failed, err error) {
	watch := r.o.Watch()
	_, err = states.Each(t, func(f *states.Facts, v *states.Interval) {
		if failed != nil {
			return
		}
		if failed = watch.Look(ctx, v.From); failed != nil {
			return
		}
		if v.To < r.o.From || r.o.To > 0 && v.From > r.o.To || !r.o.Names.Match(v.State.String()) || !r.o.Tracks.Match(r.names(r.tracks[v.Goid])) {
			return
		}
		if b = r.appendState(b, f, v); len(b) >= bufferSize {
			_, failed = w.Write(b)
			b = b[:0]
		}
	})
	if errors.Is(err, gotrace.ErrNone) {
		err = nil
	}
	return b, failed, err
}

func (r *stateRows) appendState(b []byte, f *states.Facts, v *states.Interval) []byte {
	b = append(b, "state,"...)
	b = append(b, v.State.String()...)
	b = append(b, ',')
	b = append(b, r.cell(r.tracks[v.Goid])...)
	b = appendUint(b, v.Goid)
	b = append(b, ',')
	if v.Thread != 0 {
		b = appendUint(b, uint64(v.Thread))
	}
	b = append(b, ",,"...)
	b = appendInt(b, v.From)
	b = append(b, ',')
	b = appendInt(b, v.To-v.From)
	b = append(b, ',')
	switch {
	case v.On:
		b = appendInt(b, v.To-v.From)
		b = append(b, ',')
	case v.State == states.Unknown:
		b = append(b, ',')
	case v.Thread != 0 && (v.State == states.Running || v.State == states.Syscall || v.State == states.GC):
		b = append(b, ',')
		b = appendInt(b, v.To-v.From)
	default:
		b = append(b, "0,"...)
	}
	b = append(b, ",false,"...)
	if list := r.about.List(f, v); len(list) > 0 {
		r.json = args.AppendJSON(r.json[:0], list)
		b = appendQuoted(b, r.json)
	}
	return append(b, '\n')
}
