package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// chunkBuf holds a chunk of records. Its memory is used again.
type chunkBuf struct {
	head  format.ChunkHeader
	bytes []byte // the chunk, zeros where the file ends early
	used  int    // where its records end
	first []byte // the earlier of two readings
}

// readChunk reads the chunk c, as the index has it.
//
// A chunk that was neither final when its header was read, nor the trace closed
// when that was, may change while it is
// copied, and a copy of 64 KiB is not one moment. So it is read twice, and a
// record is believed only as far as the first reading had it already:
//
//   - Word 0 is stored last, so where the first reading has it, everything that
//     begin stored is in the second. Where only the second has it, the record
//     was just begun, and is left for the next time.
//   - Word 1 is stored after word 3, so where the first reading has an end, the
//     second has its CPU time too. Where only the second has it, the record
//     still counts as open.
//   - An extension's header is stored before its values. If the second reading
//     missed the header, then all of the first one came before its values, and
//     has zeros where those would be taken for a record.
//
// Nothing is assumed about the order in which one reading copies, except that
// words of eight bytes are copied whole.
//
// The error is errGone, and nothing was read, if the chunk was overwritten.
func (t *Trace) readChunk(c *chunkBuf, info *chunkInfo, p problems) error {
	at := info.at
	cs := int(t.header.ChunkSize)
	if len(c.bytes) != cs {
		c.bytes = make([]byte, cs)
	}
	c.used = 0
	n, err := t.readPlace(c.bytes, at)
	if err != nil {
		return err
	}
	head, ok, err := format.DecodeChunkHeader(c.bytes, at, t.header.ChunkSize)
	if err != nil || !ok || head.Kind != format.ChunkRecords {
		if t.overwrites() {
			t.missed(info)
			return errGone
		}
		p.add(textShort, at, 1) // the index found it good
		return nil
	}
	if n < int(min(int64(cs), t.size-at)) {
		p.add(textShort, at, 1)
	}
	live := info.flags&format.FlagFinal == 0 && !t.state.Closed
	if live {
		if len(c.first) != cs {
			c.first = make([]byte, cs)
		}
		c.first, c.bytes = c.bytes, c.first
		if n, err = t.readPlace(c.bytes, at); err != nil {
			return err
		}
		if h, ok, err := format.DecodeChunkHeader(c.bytes, at, t.header.ChunkSize); err == nil && ok {
			head = h
		}
	}
	if t.overwrites() {
		if err := t.still(info); err != nil {
			return err
		}
	}
	c.head = head
	c.used = min(usedBytes(c.bytes, head.Sealed), n&^(format.RecordSize-1))
	if live {
		c.reconcile()
	}
	return nil
}

// freshRecord reads the record at loc from the file, not from what was read
// before.
func (t *Trace) freshRecord(loc int64) (r format.Record, err error) {
	var b [format.RecordSize]byte
	if _, err := t.readLoc(b[:], loc); err != nil {
		return r, err
	}
	return format.DecodeRecord(b[:]), nil
}

// freshExt reads the extension at off; nil if there is none that is whole.
func (t *Trace) freshExt(off int64) ([]byte, error) {
	var h [8]byte
	if _, err := t.readLoc(h[:], off); err != nil {
		return nil, err
	}
	w := binary.LittleEndian.Uint64(h[:])
	if !format.IsExt(w) {
		return nil, nil
	}
	x := make([]byte, format.ExtUnits(w)*format.RecordSize)
	if n, err := t.readLoc(x, off); err != nil || n < len(x) {
		return nil, err
	}
	return x, nil
}

// usedBytes is where a chunk's records end: where its owner sealed it, or else
// where only zeros follow.
func usedBytes(b []byte, sealed int64) int {
	if sealed != 0 {
		return int(min(sealed, int64(len(b))))
	}
	n := len(b) &^ 7
	for n > format.ChunkHeaderSize && binary.LittleEndian.Uint64(b[n-8:]) == 0 {
		n -= 8
	}
	return min((n+format.RecordSize-1)&^(format.RecordSize-1), len(b))
}

// reconcile takes back from the second reading what the first did not have.
func (c *chunkBuf) reconcile() {
	le := binary.LittleEndian
	for s := c.scan(); s.next(); {
		old, b := c.first[s.off:], s.buf[s.off:]
		if le.Uint64(old) == 0 {
			le.PutUint64(b, 0)
			continue
		}
		r := format.DecodeRecord(b)
		if k := r.Kind().Spec(); k != nil && k.Scope && !r.Open() {
			if was := le.Uint64(old[8:]); was != uint64(r.Stop) {
				le.PutUint64(b[8:], was|1<<63)
			}
		}
	}
}

// scan begins a walk over the records.
func (c *chunkBuf) scan() recordScan {
	return recordScan{buf: c.bytes[:c.used], to: format.ChunkHeaderSize}
}

// recordScan walks over the records of a chunk and counts what it skips.
type recordScan struct {
	buf []byte
	off int // of the current record
	ext int // bytes of its extension, which follows it; 0: none
	to  int // where the next one is looked for

	holes, orphans, bad, noExt int64
}

// next finds the next record.
func (s *recordScan) next() bool {
	le := binary.LittleEndian
	for at := s.to; at+format.RecordSize <= len(s.buf); {
		b := s.buf[at:]
		w := le.Uint64(b)
		if w-1 < format.MaxTicks-1 {
			s.off, s.ext, s.to = at, 0, at+format.RecordSize
			if le.Uint64(b[16:])&format.ExtBit != 0 {
				s.extension()
			}
			return true
		}
		at += format.RecordSize
		switch {
		case w == 0:
			s.holes++
		case format.IsExt(w):
			s.orphans++
			at += (format.ExtUnits(w) - 1) * format.RecordSize
		default:
			s.bad++
		}
		s.to = at
	}
	return false
}

// extension takes in the extension that the current record says follows it.
func (s *recordScan) extension() {
	if s.to+format.RecordSize <= len(s.buf) {
		w := binary.LittleEndian.Uint64(s.buf[s.to:])
		if n := format.ExtUnits(w) * format.RecordSize; format.IsExt(w) {
			if s.to+n <= len(s.buf) {
				s.ext = n
				s.to += n
				return
			}
			s.to = len(s.buf)
		}
	}
	s.noExt++
}

// extBytes is the current record's extension.
func (s *recordScan) extBytes() []byte {
	at := s.off + format.RecordSize
	return s.buf[at : at+s.ext]
}

// report adds what the walk skipped to p.
func (s *recordScan) report(p problems, off int64) {
	p.add(textHole, off, s.holes)
	p.add(textOrphanExt, off, s.orphans)
	p.add(textBadStart, off, s.bad)
	p.add(textNoExt, off, s.noExt)
}

// start and kind are those of the current record.
func (s *recordScan) start() int64 { return int64(binary.LittleEndian.Uint64(s.buf[s.off:])) }
func (s *recordScan) kind() format.Kind {
	return format.Kind(binary.LittleEndian.Uint64(s.buf[s.off+16:]) >> 40 & 0x7f)
}

// record decodes the current record.
func (s *recordScan) record() format.Record { return format.DecodeRecord(s.buf[s.off:]) }
