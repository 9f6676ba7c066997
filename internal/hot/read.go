package hot

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// chunk is the size of the chunks of every trace that has a hot file.
const chunk = format.ChunkSize

// part is a hot file that is open.
type part struct {
	file  *os.File
	slots int
}

// read fills b. That the hot file ends early is not the end of the trace: somebody
// has cut it off.
func (p *part) read(b []byte, off int64) error {
	_, err := p.file.ReadAt(b, off)
	if err == io.EOF {
		err = fmt.Errorf("reading %s: %w", p.file.Name(), io.ErrUnexpectedEOF)
	}
	return err
}

// table is what a hot file's table was at one moment.
type table struct {
	err   error
	words []byte // of the slots
	last  int64  // no word above it means anything
	end   int64  // where the last chunk that it names ends, in the trace; 0: it names none
}

var tables = sync.Pool{New: func() any { return new(table) }}

func (t *table) free() { tables.Put(t) }

// table reads the table; the caller frees it. size is asked for behind that, how long
// the trace is without it.
//
// A place is handed out when those before it were, and leaves the table when its
// chunk was written. So the chunks behind the end of the trace file are all in the
// table, which has room for as many as there are slots. Larger numbers are not our
// writer's: the size would be as absurd as they are.
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

// slot returns where the chunk at place is, -1 if it is in none.
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

// ReadAt reads as from one file that holds all of the trace.
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

// readJoined is ReadAt; over tells that the trace file has all by now, and nothing
// was read.
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

// readChunk reads what is at off, all of one chunk, from where that chunk is. The
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

// readWhole reads by read, and zeros where that ends before end.
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

// readHead looks at what was read of chunk 0 from off on. over tells that the trace
// file is whole by now, so that what it says of itself counts. Else what is read here
// is, and says so.
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
