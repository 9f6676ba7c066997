package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/scopeview/scopeview/fleet/internal/tables"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// batchRows is the number of rows collected before they are written, for tables that are
// filled row by row.
const batchRows = 4096

// rows collects rows of a table.
type rows struct {
	x      *export
	b      *tables.Batch
	failed error
}

func (x *export) gather(t *tables.Table) *rows { return &rows{x: x, b: tables.NewBatch(t)} }

func (r *rows) add(row ...int64) {
	if r.failed != nil {
		return
	}
	r.b.Add(append(row, r.x.whose[:]...)...)
	if r.b.Len() >= batchRows {
		r.end()
	}
}

func (r *rows) end() error {
	if r.failed == nil {
		if r.failed = r.x.ctx.Err(); r.failed == nil {
			r.failed = r.x.write(r.b)
		}
		r.b.Reset()
	}
	return r.failed
}

// scheduler writes the states of goroutines, and samples. The Go execution trace is read
// twice: the metrics of samples are known only after the first pass.
func (x *export) scheduler() error {
	if !x.wants(tables.States) && !x.wants(tables.Samples) && !x.wants(tables.Stacks) {
		return nil
	}
	did := x.gather(tables.States)
	with := []states.Handler{states.CPUTimes(x.t)}
	if x.wants(tables.States) {
		with = append(with, x.intervals(did))
	}
	sel := &samples.Selection{Selection: &analysis.Selection{}, With: with}
	p, err := samples.OfTrace(x.ctx, x.t, sel)
	if errors.Is(err, samples.ErrNone) { // a merged trace still has states
		if did.b.Len() > 0 {
			return did.end()
		}
		return did.failed
	}
	if err != nil {
		if x.ctx.Err() == nil {
			x.Notes = append(x.Notes, "there are no samples: "+err.Error())
		}
		return x.ctx.Err()
	}
	if err := did.end(); err != nil {
		return err
	}
	if !x.wants(tables.Samples) && !x.wants(tables.Stacks) {
		return nil
	}
	return x.samples(p)
}

// intervals writes the states of goroutines.
func (x *export) intervals(did *rows) states.Handler {
	var about analysis.StateArgs
	return states.Handler{Interval: func(f *states.Facts, v *states.Interval) {
		if x.covered(v.From, v.To) {
			return
		}
		var reason, place string
		for _, a := range about.List(f, v) {
			switch a.Key {
			case "reason":
				reason = string(a.Value.Str)
			case "at":
				place = string(a.Value.Str)
			}
		}
		did.add(x.base+v.From, x.words.Of(v.State.String()), v.To-v.From, known(int64(v.Goid)), known(int64(v.Thread)),
			flag(v.On), x.words.Of(clean(reason)), x.words.Of(clean(place)), known(int64(v.By)))
	}}
}

// samples writes the samples of a profile, and their stacks.
func (x *export) samples(p *samples.Profile) error {
	metrics := make([]int64, len(p.Metrics))
	for i := range p.Metrics {
		metrics[i] = x.words.Of(clean(p.Metrics[i].Name))
	}
	stacks := stackIDs{x: x, rows: x.gather(tables.Stacks), known: map[[2]uint32]int64{}, written: map[int64]bool{}}
	taken := x.gather(tables.Samples)
	sel := &samples.Selection{Selection: &analysis.Selection{}, Each: func(s *samples.Sample) {
		if int(s.Metric) >= len(metrics) || x.covered(s.Time, s.Time+s.Dur) {
			return
		}
		dur := int64(tables.Null)
		if s.Dur > 0 {
			dur = s.Dur
		}
		id := stacks.of(s.Stack, s.Frames)
		if x.wants(tables.Samples) {
			taken.add(x.base+s.Time, metrics[s.Metric], dur, s.Value, known(int64(s.Labels.Goid)), known(int64(s.Labels.Thread)), id)
		}
	}}
	if _, err := samples.OfTrace(x.ctx, x.t, sel); err != nil {
		return err
	}
	return errors.Join(taken.end(), stacks.rows.end())
}

// stackIDs returns ids of stacks that are the same in every trace with the same frames.
type stackIDs struct {
	x       *export
	rows    *rows
	known   map[[2]uint32]int64
	written map[int64]bool
}

func (s *stackIDs) of(stack [2]uint32, frames []*symbols.Frame) int64 {
	if id, ok := s.known[stack]; ok {
		return id
	}
	h := fnv.New64a()
	for _, f := range frames {
		h.Write([]byte(f.Func))
		h.Write([]byte{0})
		h.Write([]byte(f.File))
		h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(f.Line)))
	}
	id := int64(h.Sum64() >> 1)
	s.known[stack] = id
	if s.written[id] || !s.x.wants(tables.Stacks) {
		return id
	}
	s.written[id] = true
	for level, f := range frames {
		s.rows.add(s.x.base, s.x.words.Of(clean(f.Func)), id, int64(level), s.x.words.Of(clean(f.File)), known(int64(f.Line)))
	}
	return id
}

func (x *export) heartbeats() error {
	if !x.wants(tables.Heartbeats) {
		return nil
	}
	r := x.gather(tables.Heartbeats)
	err := x.t.EachBeat(func(b *trace.Beat) bool {
		if x.covered(b.Time, b.Time) {
			return true
		}
		for _, v := range b.Values {
			r.add(x.base+b.Time, x.words.Of(clean(v.Field.String())), v.Value)
		}
		return r.failed == nil
	})
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("not all heartbeats are there: %v", err))
	}
	return r.end()
}

// findings writes the doctor's findings.
func (x *export) findings() error {
	if !x.wants(tables.Findings) {
		return nil
	}
	found, err := doctor.Examine(x.t, doctor.Options{Context: x.ctx})
	if x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	if err != nil {
		x.Notes = append(x.Notes, "there are no findings: "+err.Error())
		return nil
	}
	r := x.gather(tables.Findings)
	for i := range found.Findings {
		f := &found.Findings[i]
		gain := int64(tables.Null)
		if f.Gain >= 0 {
			gain = bits(float64(f.Gain))
		}
		r.add(x.base+f.FromNS, x.words.Of(string(f.Verdict)), f.ToNS-f.FromNS, r.b.Text(clean(f.Object)), r.b.Text(clean(f.Text)),
			r.b.Text(clean(strings.Join(f.Evidence, "\n"))), bits(f.Share), gain, bits(f.Confidence))
	}
	return r.end()
}

func bits(f float64) int64 { return int64(math.Float64bits(f)) }
