package csv

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// rows appends rows. It caches each name's cell, and reuses memory for the arguments, so
// that a row allocates nothing.
type rows struct {
	names  func(id uint16) string
	breaks analysis.Breaks
	raw    bool
	cells  [][]byte // by name id, with the comma behind; nil: not used yet
	args   *args.Lister
	beat   []args.Arg
	json   []byte
	first  [firsts]first
}

func newRows(names func(id uint16) string, breaks analysis.Breaks, raw bool) *rows {
	return &rows{names: names, breaks: breaks, raw: raw, args: args.NewLister(names)}
}

func (r *rows) appendEvent(b []byte, e *trace.Event) []byte {
	if kinds[e.Kind&127] == "" {
		return b
	}
	b = append(b, r.cellsOf(e)...)
	if e.Depth >= 0 && e.Depth < 10 {
		b = append(b, '0'+byte(e.Depth), ',')
	} else {
		b = append(appendInt(b, int64(e.Depth)), ',')
	}
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
	if e.Left || e.Args != nil || e.EndArgs != nil || e.Kind != format.KindTask { // most events have no arguments
		if list := r.args.List(e); len(list) > 0 {
			r.json = args.AppendJSON(r.json[:0], list)
			b = appendQuoted(b, r.json)
		}
	}
	return append(b, '\n')
}

// first has the cells before the depth, which many rows have in common.
type first struct {
	kind   format.Kind
	name   uint16
	track  uint16
	thread uint32
	goid   uint64
	cells  []byte // nil: unused
}

const firsts = 256

// cellsOf returns the first cells of a row, from the cache if possible.
func (r *rows) cellsOf(e *trace.Event) []byte {
	f := &r.first[(uint64(e.Name)*31+e.Goid)%firsts]
	if f.cells != nil && f.name == e.Name && f.goid == e.Goid && f.track == e.Track && f.thread == e.Thread && f.kind == e.Kind {
		return f.cells
	}
	b := append(f.cells[:0], kinds[e.Kind&127]...)
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
	*f = first{e.Kind, e.Name, e.Track, e.Thread, e.Goid, b}
	return b
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

// cell returns a name's cell and the comma after it.
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

// appendUint appends a number, six digits at a time. A loop over the digits, or cases by
// their number, costs more in branch mispredictions.
func appendUint(b []byte, v uint64) []byte {
	if v >= 1e6 {
		b = appendUint(b, v/1e6)
		six := six(v % 1e6)
		b = binary.LittleEndian.AppendUint32(b, uint32(six))
		return binary.LittleEndian.AppendUint16(b, uint16(six>>32))
	}
	six := six(v)
	skip := bits.TrailingZeros64((six|1<<40)&^zeros) / 8
	n := len(b)
	b = slices.Grow(b, 8)[:n+8]
	binary.LittleEndian.PutUint64(b[n:], six>>(8*skip&63))
	return b[:n+6-skip]
}

// zeros are six digits 0 as text.
const zeros = 0x303030303030

// six returns the text of a number below 1e6, the first digit in the lowest byte.
func six(v uint64) uint64 { return uint64(threes[v/1000]) | uint64(threes[v%1000])<<24 }

// threes are the texts of the numbers below 1000, each with three digits.
var threes = func() (t [1000]uint32) {
	for i := range uint32(1000) {
		t[i] = i/100 | i/10%10<<8 | i%10<<16 | 0x303030
	}
	return t
}()

func appendInt(b []byte, v int64) []byte {
	if v < 0 {
		return strconv.AppendInt(b, v, 10)
	}
	return appendUint(b, uint64(v))
}
