package rows

import (
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Row is where scopes and instants of one goroutine are drawn. There can be as many as
// records, so that what is told of a row once is not in it.
type Row struct {
	// ID is the goroutine's number where that is possible, and unique in any
	// case: what viewers take for a thread id has 32 bits.
	ID   uint32
	Mark uint32 // the sink's; 0: it has set none

	track uint16  // the name that it was announced with
	stack []int64 // the ends of what runs, the innermost last
	last  int64   // start of what was put here last
}

// fits reports whether a scope lies within all that runs on r. One that comes too
// late (a damaged trace's) would have to be compared with what is forgotten.
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
	link   *Link // not yet told of
	number int32
	track  uint16 // its name; NameEmpty: none
	shown  uint16 // the name that the rows were announced with
}

// ownerKey and threadKey mark the keys of goroutines that are not known.
const (
	threadKey = 1 << 62
	ownerKey  = 1 << 63
)

// KeyOf tells goroutines apart as the reader does: where they are not known by
// the thread, or the owner of the chunk.
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
	case s != "": // viewers take an empty name for none, or for a mistake
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

// Goroutines from firstOther on, the unknown ones and the overflow rows get ids
// from there, one by one; so none meets a goroutine's own.
const firstOther = 1 << 31

// rank leaves room for fifteen overflow rows behind each; those beyond share the
// last place, and viewers order them by their ids.
func (g *goroutine) rank(at int) int32 {
	const perRow, unnamed = 16, 1 << 30
	r := min(g.number, unnamed/perRow-1)*perRow + int32(min(at, perRow-1))
	if g.track == format.NameEmpty {
		r += unnamed
	}
	return r
}

// row is row at of g, announced under the name that g has now.
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

// renamedAtOnce is how many of a goroutine's rows are told of when it gets another name.
// Those beyond are when they are used again: a goroutine with thousands of rows may
// get thousands of names.
const renamedAtOnce = 16

func (l *layout) rename(g *goroutine, at int) {
	r := g.rows[at]
	r.track = g.track
	l.sink.Row(r, g.name(l, at), g.rank(at))
}

// place finds the row for a scope and puts it there.
func (l *layout) place(g *goroutine, e *trace.Event) *Row {
	end := e.Start + e.Dur
	at := 0
	if e.EndGoid != 0 {
		at = 1
		l.row(g, 0) // an overflow row has the goroutine's own before it
	}
	for at < len(g.rows) && !g.rows[at].fits(e.Start, end) {
		at++
	}
	r := l.row(g, at)
	r.put(e.Start, end)
	return r
}
