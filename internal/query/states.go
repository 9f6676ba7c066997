package query

import (
	"errors"
	"iter"

	"modernc.org/sqlite/vtab"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

var stateTable = &source{
	Table: Table{"states", "What each goroutine did at each moment, if there is a Go execution trace.", []Column{
		{"state", "TEXT", "As scopeview states calls it."},
		{"goroutine", "INTEGER", "The goroutine."},
		{"thread", "INTEGER", "The system's thread, while it runs or is in a system call; NULL: none, or unknown."},
		{"start_ns", "INTEGER", "Its begin, from the trace's start."},
		{"dur_ns", "INTEGER", "Its length."},
		{"args", "TEXT", "A JSON object: reason (Go's word for a wait), at (its place), by and by_at (the goroutine that woke it, and that one's place); NULL: nothing is known."},
	}},
	time: 3, name: 0, read: readStates,
}

// pageRows is the number of rows of a page of states, or of samples.
const pageRows = 1024

// stateRow is a row of table states.
type stateRow struct {
	states.Interval
	args string
}

func readStates(d *DB, p *plan) iter.Seq[page] {
	return func(yield func(page) bool) {
		var list []stateRow
		var about analysis.StateArgs
		var json []byte
		over := false
		flush := func() {
			rows := list
			list = make([]stateRow, 0, pageRows)
			over = over || len(rows) > 0 && !yield(page{len(rows), func(row, column int) vtab.Value { return rows[row].cell(column) }})
		}
		_, err := states.Each(d.t, func(f *states.Facts, v *states.Interval) {
			if over || d.asked.Err() != nil || v.From < p.from || v.From > p.to || v.To < d.sel.From || d.sel.To > 0 && v.From > d.sel.To || p.name != nil && v.State.String() != *p.name {
				return
			}
			r := stateRow{Interval: *v}
			if p.uses(5) {
				if l := about.List(f, v); len(l) > 0 {
					json = args.AppendJSON(json[:0], l)
					r.args = string(json)
				}
			}
			if list = append(list, r); len(list) == pageRows {
				flush()
			}
		})
		if !over {
			flush()
		}
		if !errors.Is(err, gotrace.ErrNone) {
			d.broken(err)
		}
	}
}

func (r *stateRow) cell(column int) vtab.Value {
	switch column {
	case 0:
		return r.State.String()
	case 1:
		return unlessZero(int64(r.Goid))
	case 2:
		return unlessZero(int64(r.Thread))
	case 3:
		return r.From
	case 4:
		return r.To - r.From
	}
	if r.args == "" {
		return nil
	}
	return r.args
}
