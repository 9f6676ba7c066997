package trace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// place is a record in a chunk: its sort key, and the data that only the walk over the chunk knows.
type place struct {
	key    int64 // its start, not before its chunk's Since
	off    uint32
	thread uint32
}

// roles maps kinds to their treatment in Events.
var roles = func() (t [128]uint8) {
	for _, s := range format.Specs {
		t[s.Kind] = roleEvent
	}
	t[format.KindPending], t[format.KindAnchor], t[format.KindEnd] = rolePending, roleAnchor, roleEnd
	return t
}()

const (
	roleUnknown = iota
	roleEvent
	rolePending
	roleAnchor
	roleEnd
)

// cursor is a chunk in memory, with the places of its records in order. It is not changed once it
// is loaded: several stretches read it at once.
type cursor struct {
	chunkBuf
	chunk         format.Loc
	owner         uint32
	places        []place
	runs          []rowRun        // of places in file order; none: not known
	ends          []uint64        // see endIndex
	reconstructed []reconstructed // in place of a chunk: the records of places; see reconstructed.go
	pending       []*waiting      // its pending events that have ended
	problems      problems        // found when it was loaded
	lost          int64           // ends apart in an overwritten chunk for which there is no event

	users atomic.Int32 // stretches that still need it
}

// rowRun is successive places of one row.
type rowRun struct {
	row   uint64
	last  uint64 // word 1 of the scope that ends last, or is open
	from  int32  // index of the first
	mixed bool   // they are not all scopes
}

// runPlaces is the largest length of a run: short runs make long scopes in them quick to find.
const runPlaces = 128

// load reads a chunk, finds its records and sorts them. On the assembly path they lie in the order
// of their starts. On the Go path a goroutine can be moved between reading the
// clock and taking the place.
//
// Anchors and the rows of records are set only if they are needed. latest is the last start, and
// pendings the number of pending events.
func (c *cursor) load(t *Trace, info *chunkInfo, anchors, rows bool) (latest int64, pendings int, err error) {
	c.chunk, c.owner = info.loc, info.owner
	p := c.problems
	if err := t.readChunk(&c.chunkBuf, info, p); err != nil {
		return 0, 0, err
	}
	var thread uint32
	var last, early, unsorted int64
	latest = info.Since
	c.places = slices.Grow(c.places, c.used/format.RecordSize)
	s, run := c.scan(), &rowRun{from: -runPlaces}
	for s.Plain() || s.Next() {
		k, start := s.Kind(), s.Start()
		switch roles[k] {
		case rolePending:
			pendings++
		case roleAnchor:
			thread = uint32(s.Record().Stop)
			if !anchors {
				latest = max(latest, start)
				continue
			}
		case roleEnd:
			continue
		case roleUnknown:
			p.add("records of an unknown kind ("+k.String()+") are skipped; a newer tool may know it", info.at+int64(s.Off), 1)
			continue
		}
		key := start
		if key < info.Since {
			key = info.Since
			early++
		}
		if key < last {
			unsorted++
		}
		last = key
		c.places = append(c.places, place{key, uint32(s.Off), thread})
		if !rows {
			continue
		}
		b := s.Chunk[s.Off:][:format.RecordSize]
		row := binary.LittleEndian.Uint64(b[16:]) & format.MaxGoid
		if row == 0 {
			row = rowKeyOf(0, thread, c.owner)
		}
		if at := int32(len(c.places) - 1); row != run.row || at-run.from == runPlaces {
			c.runs = append(c.runs, rowRun{from: at, row: row})
			run = &c.runs[len(c.runs)-1]
		}
		if effectOf[k] == effectRuns {
			run.last = max(run.last, binary.LittleEndian.Uint64(b[8:]))
		} else {
			run.mixed = true
		}
	}
	if unsorted > 0 {
		c.runs = c.runs[:0]
		slices.SortFunc(c.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.off, b.off)) })
	}
	if n := len(c.places); n > 0 {
		latest = max(latest, c.places[n-1].key)
	}
	p.add(textEarly, info.at, early)
	s.Holes = max(s.Holes-c.lost, 0) // counted as pages
	report(&s, p, info.at)
	return latest, pendings, nil
}

// reset empties a cursor for another chunk.
func (c *cursor) reset() {
	c.places, c.runs, c.ends, c.reconstructed, c.lost = c.places[:0], c.runs[:0], nil, nil, 0
	clear(c.pending)
	c.pending = c.pending[:0]
	if c.problems == nil {
		c.problems = problems{}
	}
}

// effectOf maps a kind to the effect of its records on their row.
var effectOf = func() (t [128]uint8) {
	for _, s := range format.Specs {
		if s.Scope && s.Kind != format.KindPending {
			t[s.Kind] = effectRuns
		}
	}
	t[format.KindTrack], t[format.KindGo], t[format.KindMade] = effectNames, effectNames, effectNames
	return t
}()

const (
	effectNone = iota
	effectRuns
	effectNames
)

// useReconstructed makes the cursor return the reconstructed records, none before since.
func (c *cursor) useReconstructed(list []reconstructed, since int64) {
	c.reconstructed, c.ends = list, nil
	c.places = slices.Grow(c.places[:0], len(list))
	for i := range list {
		m := &list[i]
		c.places = append(c.places, place{max(m.rec.Start, since), uint32(i), m.at.thread})
	}
}

// record decodes the record at p.
func (c *cursor) record(p *place) format.Record {
	if c.reconstructed != nil {
		return c.reconstructed[p.off].rec
	}
	return format.DecodeRecord(c.bytes[p.off:])
}

// loc returns the location of the record at p, present or former.
func (c *cursor) loc(p *place) format.Loc {
	if c.reconstructed != nil {
		return c.reconstructed[p.off].at.loc
	}
	return c.chunk + format.Loc(p.off)
}

// location returns the location of the record at p, with its thread and owner.
func (c *cursor) location(p *place) recordLoc {
	if c.reconstructed != nil {
		return c.reconstructed[p.off].at
	}
	return recordLoc{c.chunk + format.Loc(p.off), p.thread, c.owner, false}
}

// ext returns the extension of the record at p; nil if there is no complete one.
func (c *cursor) ext(p *place) []byte {
	if c.reconstructed != nil {
		return c.reconstructed[p.off].ext
	}
	return format.ExtAt(c.bytes[:c.used], int(p.off)+format.RecordSize)
}

// end returns the location of the end apart of the record at p, 0 if there is none.
func (c *cursor) end(p *place) format.Loc {
	if c.reconstructed != nil {
		return c.reconstructed[p.off].end
	}
	return findEnd(c.ends, int(p.off))
}
