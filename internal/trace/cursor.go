package trace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// place is a record in a chunk: what it is ordered by, and what only the walk
// over the chunk knows of it.
type place struct {
	key    int64 // its start, not before its chunk's Since
	off    uint32
	thread uint32
}

// roles says what Events does with a kind.
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

// cursor is a chunk in memory, with the places of its records in order. Once it is loaded it
// is not changed: several stretches read it at once.
type cursor struct {
	chunkBuf
	chunk    format.Loc
	owner    uint32
	places   []place
	runs     []rowRun   // of places in the order of the file; none: they are not known
	ends     []uint64   // see endIndex
	made     []made     // instead of a chunk: what places are of; see made.go
	pending  []*waiting // of its pending events those that have ended
	problems problems   // that were met when it was loaded
	lost     int64      // ends apart of a chunk that was overwritten meanwhile, which nothing was made of

	users atomic.Int32 // stretches that need it still
}

// rowRun are places that follow one another and are of one row.
type rowRun struct {
	row   uint64
	last  uint64 // word 1 of the scope that ends last, or has not ended
	from  int32  // index of the first
	mixed bool   // they are not all scopes
}

// runPlaces is how many a run has at most: so that what it has that lasts long is found soon.
const runPlaces = 128

// load reads a chunk, finds its records and sorts them. In the assembly path
// they lie in the order of their starts. In the Go path a goroutine can be
// moved between taking the time and taking the place.
//
// latest is the last start, and pendings are how many pending events there are.
func (c *cursor) load(r *reading, info *chunkInfo) (latest int64, pendings int, err error) {
	c.chunk, c.owner = info.loc, info.owner
	p := c.problems
	if err := r.t.readChunk(&c.chunkBuf, info, p); err != nil {
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
			if !r.o.Anchors {
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
		if !r.wantsRows {
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
		if does[k] == doesRun {
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
	s.Holes = max(s.Holes-c.lost, 0) // told of as pages
	report(&s, p, info.at)
	return latest, pendings, nil
}

// reset empties a cursor for another chunk.
func (c *cursor) reset() {
	c.places, c.runs, c.ends, c.made, c.lost = c.places[:0], c.runs[:0], nil, nil, 0
	clear(c.pending)
	c.pending = c.pending[:0]
	if c.problems == nil {
		c.problems = problems{}
	}
}
