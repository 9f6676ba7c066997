package query

import (
	"errors"
	"iter"
	"strings"

	"modernc.org/sqlite/vtab"

	"github.com/scopeview/scopeview/internal/samples"
)

var sampleTable = &source{
	Table: Table{"samples", "Samples of the CPU time and of other metrics, and each wait with its call stack.", []Column{
		{"time_ns", "INTEGER", "The sample's moment, or the wait's begin, from the trace's start."},
		{"metric", "TEXT", "As scopeview profile calls it."},
		{"value", "INTEGER", "In the metric's unit; of a wait its length in ns."},
		{"goroutine", "INTEGER", "NULL: none, or unknown."},
		{"thread", "INTEGER", "NULL: none, or unknown."},
		{"scope", "TEXT", "The innermost scope; NULL: none."},
		{"function", "TEXT", "The innermost function; NULL: unknown."},
		{"stack", "TEXT", "The functions, the innermost first, with ; between them."},
	}},
	time: 0, name: -1, read: readSamples,
}

func readSamples(d *DB, p *plan) iter.Seq[page] {
	return func(yield func(page) bool) {
		// The metrics' names are known once all samples are read.
		var list []samples.Sample
		profile, err := samples.OfTrace(d.asked, d.t, &samples.Selection{Selection: d.sel, Split: samples.Split{Goroutine: true, Thread: true, Scope: true}, Each: func(s *samples.Sample) {
			if s.Time >= p.from && s.Time <= p.to {
				list = append(list, *s)
			}
		}})
		if err != nil {
			if !errors.Is(err, samples.ErrNone) {
				d.broken(err)
			}
			return
		}
		for from := 0; from < len(list); from += pageRows {
			rows := list[from:min(from+pageRows, len(list))]
			if !yield(page{len(rows), func(row, column int) vtab.Value { return sampleCell(&rows[row], profile, column) }}) {
				return
			}
		}
	}
}

func sampleCell(s *samples.Sample, p *samples.Profile, column int) vtab.Value {
	switch column {
	case 0:
		return s.Time
	case 1:
		return p.Metrics[s.Metric].Name
	case 2:
		return s.Value
	case 3:
		return unlessZero(int64(s.Labels.Goid))
	case 4:
		return unlessZero(int64(s.Labels.Thread))
	case 5:
		if s.Labels.Scope != "" {
			return s.Labels.Scope
		}
	case 6:
		if len(s.Frames) > 0 && s.Frames[0].Func != "" {
			return s.Frames[0].Func
		}
	case 7:
		var b strings.Builder
		for i, f := range s.Frames {
			if i > 0 {
				b.WriteByte(';')
			}
			b.WriteString(f.Func)
		}
		return b.String()
	}
	return nil
}
