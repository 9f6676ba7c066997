package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Selection selects a part of a trace.
type Selection struct {
	From, To      int64       // ns from the trace's start; To 0: no limit. Scopes that touch the range are included
	Names, Tracks glob.Filter // heartbeats have neither name nor row
	Where         *Where      // conditions of events; nil: none
	// Processes are those that the trace was restricted to, by its KeepProcesses; nil: all.
	// Objects matches the names, or the paths, of the files whose code samples are of; nil:
	// any.
	Processes *trace.Processes
	Objects   *glob.Filter
	// Progress, if not nil, is called now and then with the start of the current event.
	Progress func(ns int64)
}

// Part describes the selection; it is empty if all is selected.
func (s *Selection) Part() string {
	var what []string
	if s.From > 0 {
		what = append(what, "from "+show.Duration(s.From))
	}
	if s.To > 0 {
		what = append(what, "to "+show.Duration(s.To))
	}
	if !s.Names.All() {
		what = append(what, "names "+show.Name(s.Names.String()))
	}
	if !s.Tracks.All() {
		what = append(what, "rows "+show.Name(s.Tracks.String()))
	}
	if s.Where != nil {
		what = append(what, "where "+show.Name(s.Where.String()))
	}
	if s.Processes != nil {
		what = append(what, "processes "+show.Name(s.Processes.String()))
	}
	if s.Objects != nil {
		what = append(what, "samples of the load objects "+show.Name(s.Objects.String()))
	}
	if what == nil {
		return ""
	}
	return "This is a part of the trace: " + strings.Join(what, ", ") + "."
}

// ErrOutside means that a trace has nothing of the selected range.
var ErrOutside = errors.New("the trace has nothing of this range")

// Confine limits the range to that of t, if t is an excerpt of a recording: the time around it is not
// idle, but unknown. The error wraps ErrOutside.
func (s *Selection) Confine(t *trace.Trace) error {
	from, to, ok := t.Excerpt()
	if !ok {
		return nil
	}
	if s.From > to || s.To > 0 && s.To < from {
		return fmt.Errorf("%w: it is %s", ErrOutside, ExcerptLine(t))
	}
	if s.From = max(s.From, from); s.To <= 0 || s.To > to {
		s.To = to
	}
	return nil
}

// KeptLine describes the processes of t that are left out, "" if there are none.
func KeptLine(t *trace.Trace) string {
	p, calls := t.Kept()
	if p == nil {
		return ""
	}
	line := "left out: processes that do not match " + show.Name(p.String())
	if calls {
		line += ", and calls that were only counted, because their process is unknown"
	}
	return line
}

// Range selects the events by time.
func (s *Selection) Range() trace.Options { return trace.Options{From: s.From, To: s.To} }

// Choice selects the events by name and by conditions. It is for one goroutine.
func (s *Selection) Choice(t *trace.Trace) *Choice {
	c := NewChoice(s.Names, s.Tracks, t.Name)
	if s.Where != nil {
		c.where = newWhereReader(s.Where, t)
	}
	return c
}

// Watch returns a Watch with the selection's Progress.
func (s *Selection) Watch() *Watch { return &Watch{Progress: s.Progress} }

// Watch checks the context and reports progress now and then while many events are read.
type Watch struct {
	Progress func(ns int64) // as in Selection
	n        uint
}

// Look is called with the start of each event. It returns ctx's error once that is done,
// which is to end the reading.
func (w *Watch) Look(ctx context.Context, ns int64) error {
	if w.n++; w.n%(1<<14) != 0 {
		return nil
	}
	return w.Up(ctx, ns)
}

// Up is Look for readers that read many events at a time: it checks each time.
func (w *Watch) Up(ctx context.Context, ns int64) error {
	if w.Progress != nil && ctx.Err() == nil {
		w.Progress(ns)
	}
	return ctx.Err()
}

// HasLocks reports whether the range has waits for locks, or holds of them, whatever their
// names. It stops at the first one; a trace without any takes a sixth of the time of reading
// all its events.
func (s *Selection) HasLocks(ctx context.Context, t *trace.Trace) (found bool, err error) {
	type part struct {
		found bool
		until int64
	}
	o := s.Range()
	o.AsRecorded, o.Detail = true, trace.Counts
	watch := s.Watch()
	err = trace.EachPart(t, o, func() func(*trace.Part) part {
		return func(x *trace.Part) (p part) {
			p.until, _ = x.Until()
			x.Events(func(e *trace.Event) bool {
				p.found = e.Kind == format.KindWait || e.Kind == format.KindHold
				return !p.found
			})
			return p
		}
	}, func(p part) bool {
		found = p.found
		return watch.Up(ctx, p.until) == nil // no part follows one that ended early
	})
	return found, cmp.Or(err, ctx.Err())
}

// Beats iterates over the heartbeats of a selection one by one: those of a recording of days
// would not fit into memory.
type Beats struct {
	Next *trace.Beat // nil after the last
	Err  error       // error that ended the reading
	Stop func()      // ends the reading
	next func() (*trace.Beat, bool)
}

// Beats returns the selection's heartbeats. The caller must call Stop.
func (s *Selection) Beats(t *trace.Trace) *Beats {
	b := &Beats{}
	b.next, b.Stop = iter.Pull(func(yield func(*trace.Beat) bool) {
		if !s.Choice(t).Nameless() {
			return
		}
		b.Err = t.EachBeat(func(beat *trace.Beat) bool {
			in := beat.Time >= s.From && (s.To == 0 || beat.Time <= s.To)
			return !in || yield(beat)
		})
	})
	b.Advance()
	return b
}

// Advance moves to the next heartbeat.
func (b *Beats) Advance() { b.Next, _ = b.next() }
