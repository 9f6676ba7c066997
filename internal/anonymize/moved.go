package anonymize

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// moves maps a chunk's records to their new places; indexes and values are in records.
type moves []uint32

// movesBytes is the largest memory of the cached moves.
const movesBytes = 8 << 20

// redirect updates the location of the begin in an end's extension.
func (a *chunkCopy) redirect(ext []byte, start int64) error {
	loc, ok := format.BeginOf(ext)
	if !ok {
		return nil
	}
	loc, err := a.moved(loc, start)
	binary.LittleEndian.PutUint64(ext[8:], uint64(loc))
	return err
}

// moved returns the new location of the record that begins at start and was at loc. A loc that
// names no chunk stays as it is: an end and a carry are matched by a location even if a ring has
// overwritten the chunk.
func (a *chunkCopy) moved(loc format.Loc, start int64) (format.Loc, error) {
	number, place := int64(loc)/a.cs, int64(loc)%a.cs
	at, ok := a.find(number, start)
	if !ok || number < 1 || place%format.RecordSize != 0 {
		return loc, nil
	}
	m, ok := a.remembered(at)
	if !ok {
		var err error
		if m, err = a.movesOf(at); err != nil {
			return loc, err
		}
		a.remember(at, m)
	}
	if m == nil {
		return loc, nil
	}
	if to := m[place/format.RecordSize]; to != 0 {
		return loc + format.Loc(int64(to)*format.RecordSize-place), nil
	}
	return loc, nil
}

func (a *anonymizer) remembered(at int) (m moves, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok = a.moves[at]
	return m, ok
}

// remember caches the moves of the chunk at the place at, in place of some others.
func (a *anonymizer) remember(at int, m moves) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for old := range a.moves {
		if int64(len(a.moves)+1)*a.cs/format.RecordSize*4 <= movesBytes {
			break
		}
		delete(a.moves, old)
	}
	a.moves[at] = m
}

// inOrder returns the place of the chunk with a number, for a trace whose chunks have the numbers
// of their places.
func (a *anonymizer) inOrder(number, _ int64) (at int, ok bool) {
	return int(number), number < int64(a.places)
}

// inRing is inOrder for a ring: the chunk must have been handed out by start.
func (a *anonymizer) inRing(number, start int64) (at int, ok bool) {
	n, ok := a.numbers[number]
	return n.at, ok && n.since <= start
}

// movesOf computes the new places of the records in the chunk at the place at; nil if it has none.
func (a *chunkCopy) movesOf(at int) (moves, error) {
	c, ok, bad, err := a.readChunk(a.other, at)
	if !ok || bad != nil || err != nil || c.Kind != format.ChunkRecords {
		return nil, err
	}
	m := make(moves, a.cs/format.RecordSize)
	to := format.ChunkHeaderSize
	var buf []byte // not a.ext: the caller is in the middle of a record
	for w := c.Records(); w.Next(); {
		r := w.Record()
		if ext, ok := a.keptSlots(buf[:0], &r, w.Ext()); ok {
			m[w.Off/format.RecordSize] = uint32(to / format.RecordSize)
			to += format.RecordSize + len(ext)
			buf = ext
		}
	}
	return m, nil
}
