package query

import (
	"iter"
	"math"

	"modernc.org/sqlite/vtab"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// The columns of table records: those of the CSV export, in its order, and the value of a counter.
const (
	colKind = iota
	colName
	colTrack
	colGoroutine
	colThread
	colDepth
	colStart
	colDur
	colCPU
	colCPUMax
	colOpen
	colArgs
	colValue
)

var records = &source{
	Table: Table{"records", "All scopes, events, counters, waits and holds of locks.", []Column{
		{"kind", "TEXT", "task, process, event, pending, counter, wait or hold."},
		{"name", "TEXT", "Name of the scope, event, counter or lock."},
		{"track", "TEXT", "Name of the goroutine's row; NULL: none."},
		{"goroutine", "INTEGER", "The goroutine that began it; NULL: unknown."},
		{"thread", "INTEGER", "The system's thread on which it began; NULL: unknown."},
		{"depth", "INTEGER", "Number of scopes of its row around it."},
		{"start_ns", "INTEGER", "Its begin, from the trace's start."},
		{"dur_ns", "INTEGER", "Its duration; 0 for an instant, of an open one up to the trace's end; NULL: the clock stepped meanwhile."},
		{"cpu_ns", "INTEGER", "Its CPU time, if that is exact or likely; NULL: unknown."},
		{"cpu_max_ns", "INTEGER", "An upper bound of its CPU time, if only that is known."},
		{"open", "INTEGER", "1: begun and not ended."},
		{"args", "TEXT", "Its arguments, a JSON object; args->>'status' has one; NULL: none."},
		{"value", "NUMERIC", "The value of a counter; NULL for others."},
	}},
	time: colStart, name: colName, read: readRecords,
}

// kinds are the texts of kinds of records; "": no row.
var kinds = func() (texts [128]string) {
	for _, s := range format.Specs {
		texts[s.Kind] = s.CSV
	}
	return texts
}()

// record is a row of table records.
type record struct {
	kind    format.Kind
	name    uint16
	track   uint16
	quality format.Quality
	open    bool
	across  bool
	depth   int32
	thread  uint32
	goid    uint64
	start   int64
	dur     int64
	cpu     int64
	typ     format.SlotType
	value   uint64
	args    string
}

// stretchBytes is the size of the records converted at a time.
const stretchBytes = 128 << 10

func readRecords(d *DB, p *plan) iter.Seq[page] {
	return func(yield func(page) bool) {
		o := d.sel.Range()
		o.Stretch = stretchBytes
		// A row that begins in both ranges touches what they have in common.
		o.From = max(o.From, p.from, 0)
		if to := min(p.to, math.MaxInt64-1); o.To == 0 || to < o.To {
			if o.To = to; p.to == math.MaxInt64 {
				o.To = d.sel.To
			}
		}
		if p.to < 0 || o.To < 0 {
			return
		}
		if o.To == 0 && p.to != math.MaxInt64 {
			o.To = 1 // 0 is no limit; SQLite checks the rows again
		}
		if !p.uses(colDepth) {
			if o.Detail = trace.Rowless; p.uses(colTrack) || !d.sel.Tracks.All() {
				o.Detail = trace.Tracks
			}
		}
		watch := d.sel.Watch()
		err := trace.EachPart(d.t, o, func() func(*trace.Part) []record {
			choice, breaks, lister := d.sel.Choice(d.t), analysis.Breaks(d.t.Breaks()), args.NewLister(d.t.Name)
			var json []byte
			return func(x *trace.Part) (list []record) {
				x.Events(func(e *trace.Event) bool {
					if kinds[e.Kind&127] == "" || p.name != nil && d.t.Name(e.Name) != *p.name || !choice.Keep(e) {
						return true
					}
					r := record{
						kind: e.Kind, name: e.Name, track: e.Track, quality: e.Quality, open: e.Open, across: len(breaks) > 0 && breaks.Across(e),
						depth: e.Depth, thread: e.Thread, goid: e.Goid, start: e.Start, dur: e.Dur, cpu: e.CPU, typ: e.ValueType, value: e.Value,
					}
					if p.uses(colArgs) {
						if l := lister.List(e); len(l) > 0 {
							json = args.AppendJSON(json[:0], l)
							r.args = string(json)
						}
					}
					list = append(list, r)
					return true
				})
				return list
			}
		}, func(list []record) bool {
			if len(list) == 0 {
				return watch.Up(d.asked, 0) == nil
			}
			if watch.Up(d.asked, list[len(list)-1].start) != nil {
				return false
			}
			return yield(page{len(list), func(row, column int) vtab.Value { return d.cell(&list[row], column) }})
		})
		d.broken(err)
	}
}

// broken keeps the first error of reading the trace.
func (d *DB) broken(err error) {
	if d.damage == nil {
		d.damage = err
	}
}

// cell returns a cell of table records.
func (d *DB) cell(r *record, column int) vtab.Value {
	switch column {
	case colKind:
		return kinds[r.kind&127]
	case colName:
		return args.Valid(d.t.Name(r.name))
	case colTrack:
		if r.track != format.NameEmpty {
			return args.Valid(d.t.Name(r.track))
		}
	case colGoroutine:
		return unlessZero(int64(r.goid))
	case colThread:
		return unlessZero(int64(r.thread))
	case colDepth:
		return int64(r.depth)
	case colStart:
		return r.start
	case colDur:
		if !r.across {
			return r.dur
		}
	case colCPU:
		if !r.open && (r.quality == format.Exact || r.quality == format.Likely) {
			return r.cpu
		}
	case colCPUMax:
		if !r.open && r.quality == format.AtMost {
			return r.cpu
		}
	case colOpen:
		if r.open {
			return int64(1)
		}
		return int64(0)
	case colArgs:
		if r.args != "" {
			return r.args
		}
	case colValue:
		if r.kind == format.KindCounter {
			return number(r.typ, r.value)
		}
	}
	return nil
}

// unlessZero returns a number, NULL if it is 0.
func unlessZero(n int64) vtab.Value {
	if n == 0 {
		return nil
	}
	return n
}

// number returns the value of a counter.
func number(typ format.SlotType, v uint64) vtab.Value {
	switch typ {
	case format.SlotFloat:
		return math.Float64frombits(v)
	case format.SlotUint:
		if v > math.MaxInt64 {
			return float64(v)
		}
	}
	return int64(v)
}
