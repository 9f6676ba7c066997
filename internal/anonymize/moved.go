package anonymize

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// moves is where the records of a chunk go: by their place, in records.
type moves []uint32

// movesBytes is how much memory the moves take that are remembered.
const movesBytes = 8 << 20

// redirect has an end's extension name the place where its begin goes.
func (a *chunkCopy) redirect(ext []byte, start int64) error {
	loc, ok := format.BeginOf(ext)
	if !ok {
		return nil
	}
	loc, err := a.moved(loc, start)
	binary.LittleEndian.PutUint64(ext[8:], uint64(loc))
	return err
}

// moved returns where the record goes that begins at start and was at loc. A loc that
// names no chunk stays as it is: that of a chunk which a ring has overwritten is
// the name by which an end and a carry know each other.
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

// remember keeps the moves of the chunk at the place at, instead of some others.
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

// inOrder finds where the chunk of a number is that has what began at start. It is of a
// trace whose chunks have the numbers of their places.
func (a *anonymizer) inOrder(number, _ int64) (at int, ok bool) {
	return int(number), number < int64(a.places)
}

// inRing is inOrder for a ring.
func (a *anonymizer) inRing(number, start int64) (at int, ok bool) {
	n, ok := a.numbers[number]
	return n.at, ok && n.since <= start
}

// movesOf finds where the records of the chunk at the place at go; nil if it has
// none.
func (a *chunkCopy) movesOf(at int) (moves, error) {
	c, ok, bad, err := a.readChunk(a.other, at)
	if !ok || bad != nil || err != nil || c.Kind != format.ChunkRecords {
		return nil, err
	}
	m := make(moves, a.cs/format.RecordSize)
	to := format.ChunkHeaderSize
	var buf []byte // whoever asks is in the middle of a record
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
