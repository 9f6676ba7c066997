package csv

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// rows appends rows. It keeps each name's cell as it was first written, and
// memory for the arguments, so that a row allocates nothing.
type rows struct {
	names  func(id uint16) string
	breaks analysis.Breaks
	raw    bool
	cells  [][]byte // by name id, with the comma behind; nil: not yet asked for
	args   *args.Lister
	beat   []args.Arg
	json   []byte
}

func newRows(names func(id uint16) string, breaks analysis.Breaks, raw bool) *rows {
	return &rows{names: names, breaks: breaks, raw: raw, args: args.NewLister(names)}
}

func (r *rows) appendEvent(b []byte, e *trace.Event) []byte {
	kind := kinds[e.Kind&127]
	if kind == "" {
		return b
	}
	b = append(b, kind...)
	b = append(b, r.cell(e.Name)...)
	b = append(b, r.cell(e.Track)...)
	if e.Goid != 0 {
		b = appendUint(b, e.Goid)
	}
	b = append(b, ',')
	if e.Thread != 0 {
		b = appendUint(b, uint64(e.Thread))
	}
	b = append(b, ',')
	b = appendInt(b, int64(e.Depth))
	b = append(b, ',')
	b = appendInt(b, e.Start)
	b = append(b, ',')
	if len(r.breaks) == 0 || !r.breaks.Across(e) {
		b = appendInt(b, e.Dur)
	}
	b = append(b, ',')
	switch {
	case e.Open:
		b = append(b, ",,true,"...)
	case e.Quality == format.Unknown:
		b = append(b, ",,false,"...)
	case e.Quality == format.AtMost:
		b = append(b, ',')
		b = appendInt(b, e.CPU)
		b = append(b, ",false,"...)
	default:
		b = appendInt(b, e.CPU)
		b = append(b, ",,false,"...)
	}
	if list := r.args.List(e); len(list) > 0 {
		r.json = args.AppendJSON(r.json[:0], list)
		b = appendQuoted(b, r.json)
	}
	return append(b, '\n')
}

func (r *rows) appendBeat(b []byte, beat *trace.Beat) []byte {
	b = append(b, "heartbeat,,,,,,"...)
	b = appendInt(b, beat.Time)
	b = append(b, ",0,,,false,"...)
	r.beat = r.beat[:0]
	for _, v := range beat.Values {
		r.beat = append(r.beat, args.Arg{
			Key:   v.Field.String(),
			Value: format.Slot{Type: format.SlotInt, Value: uint64(v.Value)},
		})
	}
	if len(r.beat) > 0 {
		r.json = args.AppendJSON(r.json[:0], r.beat)
		b = appendQuoted(b, r.json)
	}
	return append(b, '\n')
}

// cell is a name's cell with the comma behind it.
func (r *rows) cell(id uint16) []byte {
	if int(id) < len(r.cells) && r.cells[id] != nil {
		return r.cells[id]
	}
	for int(id) >= len(r.cells) {
		r.cells = append(r.cells, nil)
	}
	r.cells[id] = append(appendCell(nil, r.names(id), r.raw), ',')
	return r.cells[id]
}

// appendUint is strconv.AppendUint, short of a call for the small numbers that
// goroutines, threads and depths mostly are.
func appendUint(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, '0'+byte(v))
	}
	return strconv.AppendUint(b, v, 10)
}

func appendInt(b []byte, v int64) []byte {
	if 0 <= v && v < 10 {
		return append(b, '0'+byte(v))
	}
	return strconv.AppendInt(b, v, 10)
}
