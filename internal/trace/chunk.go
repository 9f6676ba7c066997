package trace

import (
	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// chunkBuf holds a chunk of records. Its memory is reused.
type chunkBuf struct {
	head  format.ChunkHeader
	bytes []byte // the chunk, zeros where the file ends early
	used  int    // end of its records
	until int64  // nothing in it starts later
	lost  int64  // places for records in missing pages
	first []byte // the first of two reads
}

// readChunk reads the chunk c of the index.
//
// A chunk that was not final when its header was read, in a trace that was not closed, may change
// while it is copied. A copy of 64 KiB is not of one moment. So it is read twice, and a record
// counts only as far as the first read had it already:
//
//   - Word 0 is stored last, so if the first read has it, everything that
//     begin stored is in the second. If only the second has it, the record
//     was just begun, and is left for the next time.
//   - Word 1 is stored after word 3, so if the first read has an end, the
//     second has its CPU time too. If only the second has it, the record
//     still counts as open.
//   - An extension's header is stored before its values. If the second read
//     missed the header, then all of the first one came before its values, and
//     has zeros where those would be taken for a record.
//
// Nothing is assumed about the order in which one read copies, except that words of eight bytes are
// copied whole.
//
// The error is errGone, and nothing was read, if the chunk was overwritten.
func (t *Trace) readChunk(c *chunkBuf, info *chunkInfo, p problems) error {
	at := info.at
	c.used, c.lost = 0, 0
	read, ok, err := t.readHeaded(&c.bytes, at)
	if err != nil {
		return err
	}
	if !ok || read.Kind != format.ChunkRecords {
		why := whyShort(c.bytes)
		if t.overwrites() && why == textShort {
			t.noteOverwritten(info)
			return errGone
		}
		p.add(why, at, 1) // the index found it valid
		return nil
	}
	if read.Had < int(min(int64(len(c.bytes)), t.size-at)) {
		p.add(textShort, at, 1)
	}
	c.head = read.ChunkHeader
	live := info.flags&format.FlagFinal == 0 && !t.state.Closed
	if live {
		c.first, c.bytes = c.bytes, c.first
		if read, ok, err = t.readHeaded(&c.bytes, at); err != nil {
			return err
		}
		if ok {
			c.head = read.ChunkHeader
		}
		read.ChunkHeader = c.head
	}
	if err := t.checkUnchanged(info); err != nil {
		return err
	}
	c.used = read.Used()
	if live {
		c.reconcile()
	}
	if t.stopped {
		c.until = t.startsUntil(info, &c.head)
		lost := c.losePages(live)
		if t.header.Ring != 0 && len(t.breaks) == 0 { // a clock that stepped proves nothing
			lost = c.loseOthers(lost, live)
		}
		c.lost = lost * diskPage / format.RecordSize
		p.add(textPages, at, lost)
	}
	return nil
}

// whyShort returns why the chunk b, which the index found valid, is no longer one.
func whyShort(b []byte) string {
	if format.IsLost(b) {
		return textLost
	}
	return textShort
}

// readHeaded reads the chunk at the offset at into b, which it allocates if needed. ok is false if
// the header makes no sense.
func (t *Trace) readHeaded(b *[]byte, at int64) (c chunks.Chunk, ok bool, err error) {
	if cs := int(t.header.ChunkSize); len(*b) != cs {
		*b = make([]byte, cs)
	}
	c, ok, bad, err := t.chunkFile().ReadChunk(*b, at)
	if err != nil {
		err = ioError(t.path, at, err)
	}
	return c, ok && bad == nil, err
}

// freshRecord reads the record at loc from the file, not from an earlier read.
func (t *Trace) freshRecord(loc format.Loc) (r format.Record, err error) {
	var b [format.RecordSize]byte
	if _, err := t.addr.read(b[:], loc); err != nil {
		return r, err
	}
	return format.DecodeRecord(b[:]), nil
}

// freshBegin reads the record at loc, with its extension.
func (t *Trace) freshBegin(loc format.Loc) (r format.Record, ext []byte, err error) {
	if r, err = t.freshRecord(loc); err == nil && r.Ext() {
		ext, err = t.freshExt(loc + format.RecordSize)
	}
	return r, ext, err
}

// freshExt reads the extension at loc; nil if there is no complete one.
func (t *Trace) freshExt(loc format.Loc) ([]byte, error) {
	var h [8]byte
	if _, err := t.addr.read(h[:], loc); err != nil {
		return nil, err
	}
	x := make([]byte, format.ExtBytes(h[:]))
	if n, err := t.addr.read(x, loc); err != nil || n < len(x) || n == 0 {
		return nil, err
	}
	return x, nil
}

// reconcile removes from the second read the records that the first did not have.
func (c *chunkBuf) reconcile() {
	for s := c.scan(); s.Next(); {
		if !s.Reconcile(c.first) {
			clear(s.Chunk[s.Off:][:8])
		}
	}
}

// scan begins a walk over the records.
func (c *chunkBuf) scan() format.Walk { return format.WalkRecords(c.bytes[:c.used]) }

// report adds the counts of what a walk skipped to p.
func report(w *format.Walk, p problems, off int64) {
	p.add(textHole, off, w.Holes)
	p.add(textOrphanExt, off, w.Orphans)
	p.add(textBadStart, off, w.Bad)
	p.add(textNoExt, off, w.Unextended)
}
