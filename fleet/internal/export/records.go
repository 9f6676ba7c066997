package export

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/fleet/internal/histogram"
	"github.com/scopeview/scopeview/fleet/internal/tables"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// stretchBytes is the size of the records converted to rows at a time.
const stretchBytes = 1 << 20

// records writes the tables of records, and their histograms.
func (x *export) records() error {
	x.weights = map[uint16]int64{}
	for _, c := range x.t.Calls() {
		if c.Recorded > 0 && c.All() > c.Recorded {
			x.weights[c.Name] = int64(math.Float64bits(float64(c.All()) / float64(c.Recorded)))
		}
	}
	sel := analysis.Selection{Progress: x.Progress}
	locks := x.wants(tables.Waits) || x.wants(tables.Holds)
	if locks {
		var err error
		if locks, err = sel.HasLocks(x.ctx, x.t); err != nil {
			return err
		}
	}
	m := &merger{x: x, watch: sel.Watch(), sums: map[sumKey]*sum{}, going: map[uint64][]openScope{}}
	spare := sync.Pool{New: func() any { return &part{} }}
	err := trace.EachPart(x.t, trace.Options{Stretch: stretchBytes}, func() func(*trace.Part) *part {
		r := x.newReader(locks)
		return func(in *trace.Part) *part {
			p := spare.Get().(*part)
			r.read(p, in)
			return p
		}
	}, func(p *part) bool {
		m.failed = m.take(p)
		spare.Put(p)
		return m.failed == nil
	})
	if m.failed != nil {
		return m.failed
	}
	// Damaged records are left out; the rest is exported.
	if err != nil {
		x.Notes = append(x.Notes, err.Error())
	}
	return errors.Join(m.histograms(math.MaxInt64), x.ctx.Err())
}

// merger combines parts in order of time.
type merger struct {
	x      *export
	watch  *analysis.Watch
	sums   map[sumKey]*sum
	going  map[uint64][]openScope // the open scopes of earlier parts, the outermost first
	failed error
}

func (m *merger) take(p *part) error {
	x := m.x
	if err := m.watch.Up(x.ctx, p.until); err != nil {
		return err
	}
	m.resolve(p)
	for i, b := range p.rows {
		if i == ofScopes {
			x.Scopes += int64(b.Len())
		}
		if b.Len() == 0 || !x.wants(b.Table) {
			continue
		}
		if err := x.write(b); err != nil {
			return err
		}
	}
	for k, s := range p.sums {
		all := m.sums[k]
		if all == nil {
			m.sums[k] = s
			continue
		}
		s.n.Each(all.n.Add)
		all.took += s.took
	}
	if p.last {
		return nil
	}
	return m.histograms(x.base + p.until)
}

// resolve finds the scopes around locks that began before the part, and keeps the open ones.
func (m *merger) resolve(p *part) {
	for _, l := range p.before {
		if f, ok := innermost(m.going[l.of], l); ok {
			p.rows[l.table].Set(l.row, l.column, f.word)
			if l.column == holderWithin {
				p.rows[l.table].Set(l.row, holderColumn, int64(f.goid))
			}
		}
	}
	for of, list := range m.going {
		if list = slices.DeleteFunc(list, func(f openScope) bool { return f.end < p.until }); len(list) == 0 {
			delete(m.going, of)
		} else {
			m.going[of] = list
		}
	}
	for _, f := range p.going {
		m.going[f.of] = append(m.going[f.of], f)
	}
}

// histograms writes the histograms of the minutes before a time.
func (m *merger) histograms(until int64) error {
	var done []sumKey
	for k := range m.sums {
		if until == math.MaxInt64 || k.minute+minute <= until {
			done = append(done, k)
		}
	}
	if len(done) == 0 {
		return nil
	}
	slices.SortFunc(done, func(a, b sumKey) int {
		return cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	b := tables.NewBatch(tables.Durations)
	for _, k := range done {
		s := m.sums[k]
		delete(m.sums, k)
		took := s.took
		s.n.Each(func(bucket, n int64) {
			b.Add(k.minute, k.name, k.kind, histogram.Scale, bucket, n, took, m.x.whose[0], m.x.whose[1], s.weight)
			took = 0 // the sum is written once
		})
	}
	if !m.x.wants(b.Table) {
		return nil
	}
	return m.x.write(b)
}
