package samples

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// ErrNone reports that a recording has no samples.
var ErrNone = errors.New("the trace has neither a Go execution trace, nor samples, nor stacks: record it with scope.Start(path, gotrace.With()), from outside with scopeview record, or call scope.Stack")

// errMerged is ErrNone of a merged trace: the samples of several executables make no
// profile.
type errMerged struct{}

func (errMerged) Error() string {
	return "the trace was merged, and its samples are only in the original traces: use those"
}

func (errMerged) Is(err error) bool { return err == ErrNone }

// Has reports whether a trace has samples, or may have.
func Has(t *trace.Trace) bool {
	return (len(t.GoTraces()) > 0 || len(t.Counters()) > 0) && len(t.Processes()) == 0
}

// errNotRecorded reports a selection by something that the source does not have.
var errNotRecorded = errors.New("this can't be chosen")

// OfTrace reads the samples of a recording: its Go execution trace, the samples of counters,
// and the counts of scope.Stack.
func OfTrace(ctx context.Context, t *trace.Trace, sel *Selection) (*Profile, error) {
	if len(sel.CPUs) > 0 && len(t.Counters()) == 0 {
		return nil, fmt.Errorf("%w: only samples of counters have the CPU (scopeview record), and the trace has none", errNotRecorded)
	}
	if len(t.Processes()) > 0 {
		if _, err := states.EachOf(t, sel.With...); err != nil && !errors.Is(err, gotrace.ErrNone) {
			return nil, err
		}
		return nil, errMerged{}
	}
	s := newSum()
	s.p.Binary, s.p.BuildID = t.Lookup("program"), t.Lookup("build_id")
	var (
		x   *executions
		err error
	)
	if sel.Scopes != nil {
		if x, err = executionsOf(ctx, t, sel); err != nil {
			return nil, err
		}
		s.p.Executions = x.Executions
	}
	if len(t.GoTraces()) > 0 {
		err = ofStates(ctx, t, s, sel, x)
	} else {
		err = (&goReader{sum: s, ctx: ctx, sel: sel, more: sel.watch(ctx), in: x}).ofCounters(t)
	}
	if err != nil {
		return nil, err
	}
	if sel.anytime() {
		s.ofCounts(t, sel)
	}
	if len(s.p.Metrics) == 0 {
		return nil, ErrNone
	}
	return s.profile()
}

// ofStates adds the samples of the Go execution trace.
func ofStates(ctx context.Context, t *trace.Trace, s *sum, sel *Selection, x *executions) error {
	r := newGoReader(ctx, s, sel)
	r.in = x
	if x != nil && len(x.byGoid) == 0 {
		r.p.Notes = append(r.p.Notes, fmt.Sprintf("no scope that %q matches was executed here by a known goroutine", sel.Scopes))
	}
	if sel.Split.Track || !sel.allTracks() || sel.Each != nil {
		if err := r.readTracks(t); err != nil {
			return err
		}
		if !slices.ContainsFunc(append(slices.Collect(maps.Values(r.names)), ""), sel.Tracks.Match) { // some rows have no name
			r.p.Notes = append(r.p.Notes, fmt.Sprintf("no row of a known goroutine has a name that %q matches", sel.Tracks))
		}
	}
	c, err := r.readCounters(t, true)
	if err != nil {
		return err
	}
	r.counters = c
	h := r.handler()
	h.Interval = func(f *states.Facts, v *states.Interval) {
		c.ran(v)
		r.interval(f, v)
	}
	f, err := states.EachOf(t, append(sel.With[:len(sel.With):len(sel.With)], h)...)
	if err == nil {
		r.settle(f)
		c.take(f)
		if sel.Split.Scope {
			err = r.nameScopes(t)
		}
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	r.preset = c.preset
	r.finish(f)
	return nil
}

// readTracks reads the names of goroutines' rows; of several the last one.
func (r *goReader) readTracks(t *trace.Trace) error {
	r.names = map[uint64]string{}
	last := map[uint64]uint16{}
	return t.Events(trace.Options{AsRecorded: true, Detail: trace.Tracks}, func(e *trace.Event) bool {
		if e.Goid != 0 && e.Track != format.NameEmpty && last[e.Goid] != e.Track {
			last[e.Goid] = e.Track
			r.names[e.Goid] = t.Name(e.Track)
		}
		return r.more(e.Start)
	})
}

// ofCounts adds the counts of scope.Stack.
func (s *sum) ofCounts(t *trace.Trace, sel *Selection) {
	calls, weight := -1, -1
	stacks := map[uint32]uint32{}
	var ids []uint32
	t.EachCount(func(c *trace.Stack) bool {
		if calls < 0 {
			calls = s.metric(Metric{Name: "calls", Title: "calls of scope.Stack", Unit: Count})
			weight = s.metric(Metric{Name: "weight", Title: "weights given to scope.Stack", Unit: Count})
			if s.p.Preset == "" {
				s.p.Preset = "calls"
			}
		}
		stack, ok := stacks[c.ID]
		if !ok {
			ids = ids[:0]
			for _, f := range ownFrames(t, c.ID) {
				ids = append(ids, s.frameID(f))
			}
			if len(ids) == 0 {
				ids = append(ids, s.frameID(symbols.Frame{}))
			}
			stack = s.stack(ids)
			stacks[c.ID] = stack
		}
		if !s.wantsObject(sel, stack) {
			return true
		}
		s.add(stackKey{stack: stack}, calls, c.Calls)
		s.add(stackKey{stack: stack}, weight, c.Weight)
		return true
	})
}
