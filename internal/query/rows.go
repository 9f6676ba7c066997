package query

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite/vtab"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// Columns of states that scans use.
const (
	stateGoroutine = 0
	stateTrack     = 1
	stateName      = 2
	stateStart     = 3
	stateDur       = 4
	stateReason    = 8
)

// batchRows is the number of rows of a batch that is not a part of the trace.
const batchRows = 4096

// interval is a row of states.
type interval struct {
	states.Interval
	reason, at, byAt string
}

// intervals is a batch of states.
type intervals struct {
	list   []interval
	tracks map[uint64]string
}

// states reads the states of goroutines. Reading can't be ended early.
func (s *scan) states() {
	t := s.q.t
	if len(t.GoTraces()) == 0 {
		s.q.note("the trace has no Go execution trace, so states is empty")
		return
	}
	var tracks map[uint64]string
	if s.where.uses(stateTrack) || !s.q.sel.Tracks.All() {
		var err error
		if tracks, err = s.q.tracks(); err != nil {
			s.q.failed(err)
			return
		}
	}
	places := false
	for i := stateReason; i < len(s.Columns); i++ {
		places = places || s.where.uses(i)
	}
	var about analysis.StateArgs
	b := &intervals{tracks: tracks}
	flush := func() {
		if len(b.list) > 0 && s.put(b) && s.keep {
			b = &intervals{tracks: tracks}
		}
		b.list = b.list[:0]
	}
	_, err := states.Each(t, func(f *states.Facts, v *states.Interval) {
		sel := s.q.sel
		if s.over || v.To < sel.From || sel.To > 0 && v.From > sel.To || !sel.Names.Match(v.State.String()) || !sel.Tracks.Match(tracks[v.Goid]) {
			return
		}
		b.list = append(b.list, interval{Interval: *v})
		if !b.passes(len(b.list)-1, s.where) {
			b.list = b.list[:len(b.list)-1]
			return
		}
		if places {
			b.list[len(b.list)-1].place(about.List(f, v))
		}
		if len(b.list) == batchRows {
			flush()
		}
	})
	flush()
	if !errors.Is(err, gotrace.ErrNone) {
		s.q.failed(err)
	}
}

// place sets the places of an interval from its arguments.
func (v *interval) place(list []args.Arg) {
	for _, a := range list {
		switch a.Key {
		case "reason":
			v.reason = v.ReasonName
		case "at":
			v.at = string(a.Value.Str)
		case "by_at":
			v.byAt = string(a.Value.Str)
		}
	}
}

func (b *intervals) rows() int          { return len(b.list) }
func (b *intervals) time(row int) int64 { return b.list[row].From }
func (b *intervals) size() int          { return 128 * cap(b.list) }

func (b *intervals) passes(row int, where *conditions) bool {
	v := &b.list[row]
	for _, x := range where.ranges {
		var n int64
		switch x.column {
		case stateGoroutine:
			n = int64(v.Goid)
		case stateStart:
			n = v.From
		case stateDur:
			n = v.To - v.From
		default:
			continue
		}
		if n < x.from || n > x.to {
			return false
		}
	}
	for i := range where.equal {
		if e := &where.equal[i]; e.column == stateName && !e.is(v.State.String()) {
			return false
		}
	}
	return true
}

func (b *intervals) value(row, column int) vtab.Value {
	v := &b.list[row]
	dur := v.To - v.From
	runs := v.Thread != 0 && (v.State == states.Running || v.State == states.Syscall || v.State == states.GC)
	switch column {
	case stateGoroutine:
		return integer(int64(v.Goid), v.Goid != 0)
	case stateTrack:
		return textOf(b.tracks[v.Goid])
	case stateName:
		return v.State.String()
	case stateStart:
		return v.From
	case stateDur:
		return dur
	case 5:
		if v.On {
			return dur
		}
		return integer(0, v.State != states.Unknown && !runs)
	case 6:
		return integer(dur, runs && !v.On)
	case 7:
		return integer(int64(v.Thread), v.Thread != 0)
	case stateReason:
		return textOf(v.reason)
	case 9:
		return textOf(v.at)
	case 10:
		return integer(int64(v.By), v.By != 0)
	}
	return textOf(v.byAt)
}

// textOf returns a text, or NULL if it is empty.
func textOf(s string) vtab.Value {
	if s == "" {
		return nil
	}
	return args.Valid(s)
}

// sampled is a batch of all samples.
type sampled struct {
	list    []samples.Sample
	metrics []samples.Metric
	stacks  map[[2]uint32]string
}

// samples reads the samples, sorts them by time, and hands them on at once.
func (s *scan) samples() {
	b := &sampled{stacks: map[[2]uint32]string{}}
	sel := &samples.Selection{Selection: s.q.sel, Imputed: true, Split: samples.Split{Scope: s.where.uses(5)}}
	sel.Each = func(x *samples.Sample) { b.list = append(b.list, *x) }
	p, err := samples.OfTrace(s.q.ctx, s.q.t, sel)
	switch {
	case errors.Is(err, samples.ErrNone):
		s.q.note("samples is empty: " + err.Error())
		return
	case err != nil:
		s.q.failed(err)
		return
	}
	b.metrics = p.Metrics
	slices.SortStableFunc(b.list, func(x, y samples.Sample) int { return cmp.Compare(x.Time, y.Time) })
	if len(b.list) > 0 {
		s.put(b)
	}
}

func (b *sampled) rows() int                    { return len(b.list) }
func (b *sampled) time(row int) int64           { return b.list[row].Time }
func (b *sampled) size() int                    { return 128 * cap(b.list) }
func (b *sampled) passes(int, *conditions) bool { return true }

func (b *sampled) value(row, column int) vtab.Value {
	x := &b.list[row]
	of := &x.Labels
	switch column {
	case 0:
		return x.Time
	case 1:
		return integer(int64(of.Goid), of.Goid != 0)
	case 2:
		return integer(int64(of.Thread), of.Thread != 0)
	case 3:
		return integer(int64(x.CPU), x.CPU >= 0)
	case 4:
		return textOf(of.Track)
	case 5:
		return textOf(of.Scope)
	case 6:
		return of.State.String()
	case 7:
		return b.metrics[x.Metric].Name
	case 8:
		return x.Value
	case 9:
		return string(b.metrics[x.Metric].Unit)
	case 10:
		if len(x.Frames) > 0 {
			return args.Valid(x.Frames[0].Func)
		}
		return nil
	}
	return b.stack(x)
}

// stack returns the text of a stack.
func (b *sampled) stack(x *samples.Sample) vtab.Value {
	text, ok := b.stacks[x.Stack]
	if !ok {
		var names []string
		for _, f := range x.Frames {
			names = append(names, f.Func)
		}
		text = strings.Join(names, ";")
		b.stacks[x.Stack] = text
	}
	return textOf(text)
}

// beats is a batch of heartbeats.
type beats struct{ list [][]vtab.Value }

// beats reads the heartbeats.
func (s *scan) beats() {
	t, sel := s.q.t, s.q.sel
	if !sel.Choice(t).Nameless() {
		return
	}
	from, to := s.where.within(0)
	b := &beats{}
	err := t.EachBeatBetween(max(from, math.MinInt64+1)-1, to, func(x *trace.Beat) bool {
		if x.Time < sel.From || sel.To > 0 && x.Time > sel.To {
			return true
		}
		row := make([]vtab.Value, len(s.Columns))
		row[0] = x.Time
		for _, v := range x.Values {
			if i := s.columnOf(v.Field.String()); i > 0 {
				row[i] = v.Value
			}
		}
		if b.list = append(b.list, row); len(b.list) == batchRows {
			s.put(b)
			b = &beats{}
		}
		return !s.over
	})
	if len(b.list) > 0 {
		s.put(b)
	}
	s.q.failed(err)
}

// columnOf returns the index of a column; -1: there is none.
func (t *table) columnOf(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

func (b *beats) rows() int                        { return len(b.list) }
func (b *beats) value(row, column int) vtab.Value { return b.list[row][column] }
func (b *beats) time(row int) int64               { return b.list[row][0].(int64) }
func (b *beats) passes(int, *conditions) bool     { return true }
func (b *beats) size() (n int) {
	for _, row := range b.list {
		n += 24 * len(row)
	}
	return n
}

// textRows is a batch of texts.
type textRows [][]string

// facts makes the facts about the recording.
func (s *scan) facts() {
	t := s.q.t
	list := textRows{
		{"start", t.Start().UTC().Format(time.RFC3339Nano)},
		{"end_ns", strconv.FormatInt(t.End(), 10)},
	}
	for _, i := range t.Info {
		list = append(list, []string{i.Key, i.Value})
	}
	s.put(list)
}

// columns lists the columns of all tables.
func (s *scan) columns() {
	var list textRows
	for _, t := range s.q.tables {
		for _, c := range t.Columns {
			list = append(list, []string{t.Name, c.Name, c.Type, c.Says})
		}
	}
	s.put(list)
}

func (b textRows) rows() int                        { return len(b) }
func (b textRows) value(row, column int) vtab.Value { return textOf(b[row][column]) }
func (b textRows) time(int) int64                   { return 0 }
func (b textRows) passes(int, *conditions) bool     { return true }
func (b textRows) size() int                        { return 128 * len(b) }
