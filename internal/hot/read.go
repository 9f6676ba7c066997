package hot

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// chunk is the chunk size of every trace that has a hot file.
const chunk = format.ChunkSize

// part is an open hot file.
type part struct {
	file  *os.File
	slots int
}

// read fills b. A hot file that is too short is an error: it was truncated.
func (p *part) read(b []byte, off int64) error {
	_, err := p.file.ReadAt(b, off)
	if err == io.EOF {
		err = fmt.Errorf("reading %s: %w", p.file.Name(), io.ErrUnexpectedEOF)
	}
	return err
}

// table is a copy of a hot file's table.
type table struct {
	err   error
	words []byte // of the slots
	last  int64  // words above it are invalid
	end   int64  // the end of the last chunk in the table, in the trace; 0: there is none
}

var tables = sync.Pool{New: func() any { return new(table) }}

func (t *table) free() { tables.Put(t) }

// table reads the table; the caller frees it. It then calls size for the size of the
// trace without the hot part.
//
// Places are handed out in order, and a place leaves the table when its chunk was
// written. So all chunks after the end of the trace file are in the table, which has
// as many entries as there are slots. Larger numbers are invalid, and must not affect
// the size.
func (p *part) table(size func() (int64, error)) *table {
	t := tables.Get().(*table)
	if n := 8 * p.slots; cap(t.words) < n {
		t.words = make([]byte, n)
	}
	t.words, t.last, t.end = t.words[:8*p.slots], 0, 0
	if t.err = p.read(t.words, format.HotTableOffset); t.err != nil {
		return t
	}
	n, err := size()
	if err != nil {
		t.err = err
		return t
	}
	t.last = (n+chunk-1)/chunk + int64(p.slots)
	var top uint64
	for b := t.words; len(b) >= 8; b = b[8:] {
		if w := binary.LittleEndian.Uint64(b); w > top && w <= uint64(t.last) {
			top = w
		}
	}
	t.end = int64(top) * chunk
	return t
}

func (t *table) word(slot int) uint64 { return binary.LittleEndian.Uint64(t.words[8*slot:]) }

// slot returns the slot of the chunk at place, or -1 if it has none.
func (t *table) slot(place int64) int {
	if place >= t.last {
		return -1
	}
	word := uint64(place) + 1
	for i, b := 0, t.words; len(b) >= 8; i, b = i+1, b[8:] {
		if binary.LittleEndian.Uint64(b) == word {
			return i
		}
	}
	return -1
}

// ReadAt reads the trace as if it were one file.
func (j *File) ReadAt(b []byte, off int64) (n int, err error) {
	n, s, err := j.readAt(b, off)
	if off >= 0 {
		s.asOne(b[:n], off)
	}
	return n, err
}

func (j *File) readAt(b []byte, off int64) (n int, s *segments, err error) {
	n, s, over, err := j.readJoined(b, off)
	if !over {
		return n, s, err
	}
	j.mu.Lock()
	j.drop(None)
	j.mu.Unlock()
	j.mu.RLock()
	defer j.mu.RUnlock()
	n, err = j.readFiles(b, off)
	return n, j.segments, err
}

// readJoined is ReadAt; over reports that the trace file is complete by now, and
// nothing was read.
func (j *File) readJoined(b []byte, off int64) (n int, s *segments, over bool, err error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	s = j.segments
	if j.part == nil || off < 0 {
		n, err = j.readFiles(b, off)
		return n, s, false, err
	}
	t := j.part.table(j.onDisk)
	defer t.free()
	if t.err != nil {
		return 0, s, false, t.err
	}
	for n < len(b) && err == nil {
		at := off + int64(n)
		whole := min(int64(len(b)-n), chunk-at%chunk)
		c := b[n : n+int(whole)]
		var m int
		if m, err = j.readChunk(c, at, t); at < format.ControlOffset && m > 0 && err == nil {
			if over, err = j.readHead(c[:m], at); over {
				return 0, s, true, nil
			}
		}
		n += m
	}
	return n, s, false, err
}

// readChunk reads b at off, all of one chunk, from wherever that chunk is. The
// control words are always in the trace file.
func (j *File) readChunk(b []byte, off int64, t *table) (n int, err error) {
	for _, end := range [...]int64{format.ControlOffset, format.CountersOffset} {
		if words := end - off; words > 0 && words < int64(len(b)) {
			if n, err = j.readChunk(b[:words], off, t); err != nil {
				return n, err
			}
			m, err := j.readChunk(b[words:], end, t)
			return n + m, err
		}
	}
	if off >= format.ControlOffset && off < format.CountersOffset {
		return readWhole(j.readFiles, b, off, t.end)
	}
	if i := t.slot(off / chunk); i >= 0 {
		if err := j.part.read(b, format.HotSlot(j.part.slots, i)+off%chunk); err != nil {
			return 0, err
		}
		var again [8]byte
		if err := j.part.read(again[:], format.HotTableOffset+8*int64(i)); err != nil {
			return 0, err
		}
		if binary.LittleEndian.Uint64(again[:]) == t.word(i) {
			return len(b), nil
		}
	}
	return readWhole(j.readFiles, b, off, t.end)
}

// readFiles reads from the trace file, and its segments; j.mu is held.
func (j *File) readFiles(b []byte, off int64) (int, error) {
	if j.unpacked != nil {
		return j.unpacked.ReadAt(b, off)
	}
	if j.segments == nil || off < 0 {
		return j.file.ReadAt(b, off)
	}
	return j.segments.ReadAt(b, off)
}

// readWhole reads by read, and fills in zeros up to end if the file is shorter.
func readWhole(read func([]byte, int64) (int, error), b []byte, off, end int64) (n int, err error) {
	n, err = read(b, off)
	if err != io.EOF {
		return n, err
	}
	if zeros := min(int64(len(b)), end-off) - int64(n); zeros > 0 {
		clear(b[n : n+int(zeros)])
		n += int(zeros)
	}
	if n == len(b) {
		err = nil
	}
	return n, err
}

// readHead checks the bytes read from chunk 0 at off. over reports that the trace
// file is complete by now, so its own bytes count. Otherwise readHead marks the bytes
// as joined.
func (j *File) readHead(b []byte, off int64) (over bool, err error) {
	if over, err = j.over(); over || err != nil {
		return over, err
	}
	const joined = format.StateOffset + format.StateJoined
	for i := int64(0); i < 8; i++ {
		if at := joined + i - off; at >= 0 && at < int64(len(b)) {
			b[at] = 0
			if i == 0 {
				b[at] = 1
			}
		}
	}
	return false, nil
}
