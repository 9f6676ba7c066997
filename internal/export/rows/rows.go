package rows

import (
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Row is the row of a goroutine's scopes and instants. There can be as many as records, so
// it does not store values that are passed on only once.
type Row struct {
	// ID is the goroutine's number if that is possible, and unique in any case: viewers use
	// it as a thread id of 32 bits.
	ID   uint32
	Mark uint32 // for the sink; 0: not set

	track uint16  // name that it was announced with
	stack []int64 // ends of the running scopes, the innermost last
	last  int64   // start of the last scope
}

// fits reports whether a scope lies within all that run on r. A scope that comes too late,
// in a damaged trace, does not fit, as the ends at its start are no longer stored.
func (r *Row) fits(start, end int64) bool {
	if start < r.last {
		return false
	}
	n := len(r.stack)
	for n > 0 && r.stack[n-1] <= start {
		n--
	}
	r.stack = r.stack[:n]
	return n == 0 || r.stack[n-1] >= end
}

func (r *Row) put(start, end int64) {
	r.last = start
	r.stack = append(r.stack, end)
}

// goroutine is a goroutine with its rows; rows[0] is its own, the others are
// overflow rows.
type goroutine struct {
	key    uint64
	rows   []*Row
	link   *Link // not yet passed on
	number int32
	track  uint16 // its name; NameEmpty: none
	shown  uint16 // name that the rows were announced with
}

// threadKey and ownerKey mark the keys of unknown goroutines.
const (
	threadKey = 1 << 62
	ownerKey  = 1 << 63
)

// KeyOf returns the key that identifies a goroutine, as in the reader: for unknown ones it
// is the thread, or the owner of the chunk.
func KeyOf(e *trace.Event) uint64 {
	switch {
	case e.Goid != 0:
		return e.Goid
	case e.Thread != 0:
		return threadKey | uint64(e.Thread)
	}
	return ownerKey | uint64(e.Owner)
}

func (g *goroutine) name(l *layout, at int) string {
	s := l.t.Name(g.track)
	switch {
	case s != "": // viewers take an empty name for none, or for an error
	case g.key >= ownerKey:
		s = "unknown goroutine (owner " + strconv.FormatUint(g.key&^ownerKey, 10) + ")"
	case g.key >= threadKey:
		s = "unknown goroutine (thread " + strconv.FormatUint(g.key&^threadKey, 10) + ")"
	default:
		if s = "unknown goroutine"; l.t.OwnGoid(g.key) != 0 {
			s = "goroutine " + strconv.FormatUint(l.t.OwnGoid(g.key), 10)
		}
	}
	if p, ok := l.t.ProcessOf(g.key); ok { // of a merged trace
		s = p.Label + ", " + s
	}
	if at > 0 {
		s += " (" + strconv.Itoa(at+1) + ")"
	}
	return s
}

// Goroutines from firstOther on, unknown ones and overflow rows get ids from there, one by
// one; so none collides with a goroutine's own.
const firstOther = 1 << 31

// rank reserves places for fifteen overflow rows after each row; further ones share the last
// place, and viewers order them by id.
func (g *goroutine) rank(at int) int32 {
	const perRow, unnamed = 16, 1 << 30
	r := min(g.number, unnamed/perRow-1)*perRow + int32(min(at, perRow-1))
	if g.track == format.NameEmpty {
		r += unnamed
	}
	return r
}

// row returns row at of g, announced under g's current name.
func (l *layout) row(g *goroutine, at int) *Row {
	if len(g.rows) > 0 && g.shown != g.track {
		for i := range min(len(g.rows), renamedAtOnce) {
			l.rename(g, i)
		}
	}
	g.shown = g.track
	if at < len(g.rows) {
		if g.rows[at].track != g.track {
			l.rename(g, at)
		}
		return g.rows[at]
	}
	if at == 0 {
		g.number = l.goroutines
		l.goroutines++
	}
	r := &Row{track: g.track, last: math.MinInt64}
	if at == 0 && g.key < firstOther {
		r.ID = uint32(g.key)
	} else {
		r.ID = firstOther + l.others
		l.others++
	}
	g.rows = append(g.rows, r)
	l.sink.Row(r, g.name(l, at), g.rank(at))
	return r
}

// renamedAtOnce is the number of a goroutine's rows that are announced again when its name
// changes. Further rows are announced when they are used again: a goroutine with thousands of rows
// may get thousands of names.
const renamedAtOnce = 16

func (l *layout) rename(g *goroutine, at int) {
	r := g.rows[at]
	r.track = g.track
	l.sink.Row(r, g.name(l, at), g.rank(at))
}

// place finds the row for a scope and adds the scope to it.
func (l *layout) place(g *goroutine, e *trace.Event) *Row {
	end := e.Start + e.Dur
	at := 0
	if e.EndGoid != 0 {
		at = 1
		l.row(g, 0) // the goroutine's own row comes before an overflow row
	}
	for at < len(g.rows) && !g.rows[at].fits(e.Start, end) {
		at++
	}
	r := l.row(g, at)
	r.put(e.Start, end)
	return r
}
