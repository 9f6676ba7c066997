package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// State is an interval of a goroutine in one state, on a separate row behind the
// goroutine's.
type State struct {
	*states.Interval
	Row  *Row
	Args []args.Arg // valid until the call returns
}

// states passes the goroutines' states to the sink, those of one goroutine by time.
func (l *layout) states(ctx context.Context, o *Options) error {
	byGoid := map[uint64]*Row{}
	watch := o.Watch()
	var list analysis.StateArgs
	var failed error
	_, err := states.Each(l.t, func(f *states.Facts, v *states.Interval) {
		if failed == nil {
			failed = errors.Join(watch.Look(ctx, v.From), l.sink.Full())
		}
		if failed != nil || v.To < o.From || o.To > 0 && v.From > o.To || !o.Names.Match(v.State.String()) {
			return
		}
		r, ok := byGoid[v.Goid]
		if !ok {
			r = l.stateRow(v.Goid, o)
			byGoid[v.Goid] = r
		}
		if r != nil {
			l.sink.State(&State{v, r, list.List(f, v)})
		}
	})
	if failed != nil {
		return fmt.Errorf("laying the trace out: %w", failed)
	}
	if errors.Is(err, gotrace.ErrNone) {
		return nil
	}
	return err
}

// stateRow creates the row for a goroutine's states; nil if its goroutine's row is not
// selected.
func (l *layout) stateRow(goid uint64, o *Options) *Row {
	g := l.byKey[goid]
	if g == nil {
		g = &goroutine{key: goid}
		l.byKey[goid] = g
	}
	if !o.Tracks.Match(l.t.Name(g.track)) {
		return nil
	}
	if len(g.rows) == 0 {
		g.number = l.goroutines
		l.goroutines++
	}
	r := &Row{ID: firstOther + l.others, track: g.track}
	l.others++
	l.sink.Row(r, g.name(l, 0)+": state", g.rank(behind))
	return r
}

// behind is the position of a goroutine's row of states, after its other rows.
const behind = 14
