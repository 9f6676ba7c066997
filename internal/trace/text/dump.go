package text

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Dump writes the trace as text. It needs a file header that can be read; what
// is wrong in the chunks is written as it is.
func Dump(w io.Writer, r io.ReaderAt, size int64) error {
	t, err := trace.Open(r, size)
	if err != nil {
		return err
	}
	d := dumper{w: bufio.NewWriterSize(w, 64<<10), header: t.Header(), names: names{ids: map[string]uint16{}}}
	state := t.State()
	d.file = chunks.Of(r, size, &d.header, &state)
	cs := d.file.Chunk
	d.chunk = make([]byte, cs)
	if err := d.learn(t); err != nil {
		return err
	}
	unborn := int64(0)
	for off, next := int64(0), int64(0); off < size; off = next {
		if err := d.read(off); err != nil {
			return err
		}
		next = d.file.Next(off)
		if off > 0 && isZero(d.chunk) {
			unborn += (next - off) / cs
			continue
		}
		d.unborn(unborn)
		unborn = (next-off)/cs - 1 // in a hole
		if err := d.dumpChunk(off); err != nil {
			return err
		}
	}
	d.unborn(unborn)
	if size%cs != 0 {
		fmt.Fprintf(d.w, "truncate %d\n", size)
	}
	return d.w.Flush()
}

// dumper writes chunk by chunk. What it writes of a chunk it assembles again,
// and says as raw bytes where that is not what the chunk holds: so no rule of
// the text needs to know every way in which a trace can be broken.
type dumper struct {
	w      *bufio.Writer
	file   chunks.File
	header format.Header
	names  names
	chunk  []byte
	text   words
}

// read reads the chunk at off.
func (d *dumper) read(off int64) error {
	if _, err := d.file.Read(d.chunk, off); err != nil {
		return fmt.Errorf("reading at offset %d: %w", off, err)
	}
	return nil
}

// learn takes in the names that the text's name lines will define. That is not
// quite what the reader takes for names: where a trace is broken, Assemble only
// knows what it reads.
func (d *dumper) learn(t *trace.Trace) error {
	for _, c := range t.Chunks() {
		if c.Kind != format.ChunkBlocks {
			continue
		}
		if err := d.read(c.Offset); err != nil {
			return err
		}
		for w := format.WalkBlocks(d.chunk, format.ChunkHeaderSize); w.Next(); {
			if id, name, err := format.DecodeName(w.Payload); w.Type == format.BlockName && w.Err == nil && err == nil {
				d.names.add(id, string(name))
			}
		}
	}
	return nil
}

func isZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	return true
}

func (d *dumper) unborn(n int64) {
	if n > 0 {
		fmt.Fprintf(d.w, "unborn %d\n", n)
	}
}

// dumpChunk writes the chunk at off.
func (d *dumper) dumpChunk(off int64) error {
	d.text = d.text[:0]
	h, ok, err := format.DecodeChunkHeader(d.chunk, off, d.header.ChunkSize)
	switch {
	case off == 0:
		d.fileHeader()
	case !ok || err != nil:
		d.text = append(d.text, "bytes\n"...)
	default:
		d.chunkHeader(&h)
		switch h.Kind {
		case format.ChunkRecords:
			d.records(h.Path)
		case format.ChunkBlocks:
			d.blocks()
		}
	}
	again, err := d.again(off)
	if err != nil {
		return fmt.Errorf("at offset %d: the text can't be assembled again: %w", off, err)
	}
	d.patch(again)
	_, err = d.w.Write(d.text)
	return err
}

func (d *dumper) fileHeader() {
	h := &d.header
	d.text = fmt.Appendf(d.text, "header major=%d minor=%d chunk=%d page=%d pid=%d clock=%s path=%s backing=%s witness=%d id=%x start=%d mono=%d wall=%d rate=%d limit=%d",
		h.Major, h.Minor, h.ChunkSize, h.PageSize, h.PID, symbolOf(clocks, int64(h.Clock)), symbolOf(paths, int64(h.Path)), symbolOf(backings, int64(h.Backing)),
		h.Witness, h.ID, h.StartTicks, h.StartMono, h.StartWall, h.TickRate, h.Limit)
	d.text.nonzero("ring", int64(h.Ring))
	d.text.nonzero("segments", int64(h.Segments))
	le := binary.LittleEndian
	s := d.chunk[format.StateOffset:]
	d.text = fmt.Appendf(d.text, "\nstate closed=%d tick=%d end=%d lost=%d", le.Uint64(s[format.StateClosed:]),
		int64(le.Uint64(s[format.StateTick:])), int64(le.Uint64(s[format.StateEnd:]))&(1<<63-1), int64(le.Uint64(s[format.StateLost:])))
	d.text.nonzero("overwritten", int64(le.Uint64(s[format.StateOverwritten:])))
	d.text.nonzero("until", int64(le.Uint64(s[format.StateUntil:])))
	d.text.nonzero("joined", int64(le.Uint64(s[format.StateJoined:])))
	d.text.nonzero("files", int64(le.Uint64(s[format.StateFiles:])))
	d.text = append(d.text, '\n')
}

func (d *dumper) chunkHeader(h *format.ChunkHeader) {
	kind := symbolOf(kinds, int64(h.Kind))
	if h.Kind != format.ChunkRecords && h.Kind != format.ChunkBlocks {
		kind = "kind-" + itoa(int64(h.Kind))
	}
	flag := itoa(int64(h.Flags))
	if h.Flags < 8 {
		flag = flagsOf(int64(h.Flags))
	}
	d.text = fmt.Appendf(d.text, "chunk %s owner=%d path=%s since=%d gen=%d flags=%s sealed=%d",
		kind, h.Owner, symbolOf(paths, int64(h.Path)), h.Since, h.Gen, flag, h.Sealed)
	d.text.nonzero("number", int64(h.Number))
	d.text = append(d.text, '\n')
}

// records writes the records of the chunk, those behind its end too.
func (d *dumper) records(path format.Path) {
	le := binary.LittleEndian
	b := d.chunk
	for at := format.ChunkHeaderSize; at < len(b); {
		if isZero(b[at:]) {
			return
		}
		unit := b[at : at+format.RecordSize]
		w := le.Uint64(unit)
		switch {
		case w == 0 && isZero(unit):
			n := 1
			for isZero(b[at+n*format.RecordSize : at+(n+1)*format.RecordSize]) {
				n++
			}
			d.text = append(d.text, "hole "+itoa(int64(n))+"\n"...)
			at += n * format.RecordSize
		case format.IsExt(w) && at+format.ExtUnits(w)*format.RecordSize <= len(b):
			n := format.ExtUnits(w) * format.RecordSize
			d.text = append(d.text, "ext"...)
			d.text = d.names.appendExt(d.text, b[at:at+n])
			d.text = append(d.text, '\n')
			at += n
		case w-1 < format.MaxTicks-1:
			at += d.record(at, path)
		default:
			d.text = append(append(append(d.text, "raw "...), hexOf(unit)...), '\n')
			at += format.RecordSize
		}
	}
}

// record writes the record at at and returns its length.
func (d *dumper) record(at int, path format.Path) int {
	le := binary.LittleEndian
	b := d.chunk
	r := format.DecodeRecord(b[at:])
	d.text = d.names.appendRecord(d.text, &r, path)
	n := format.RecordSize
	if r.Ext() {
		at += n
		x := 0
		if at+format.RecordSize <= len(b) && format.IsExt(le.Uint64(b[at:])) {
			x = format.ExtUnits(le.Uint64(b[at:])) * format.RecordSize
		}
		if x > 0 && at+x <= len(b) {
			d.text = append(d.text, " |"...)
			d.text = d.names.appendExt(d.text, b[at:at+x])
			n += x
		} else {
			d.text = append(d.text, " noext"...)
		}
	}
	d.text = append(d.text, '\n')
	return n
}

// appendExt appends the slots of an extension, or its bytes where the slots would
// not give them back.
func (n *names) appendExt(b, x []byte) []byte {
	slots, err := format.DecodeExt(nil, x)
	if err == nil {
		canonical, err := format.AppendExt(nil, slots)
		if err == nil && bytes.Equal(canonical, x) {
			for i := range slots {
				b = AppendSlot(append(b, ' '), &slots[i], n.word)
			}
			return b
		}
	}
	return append(append(b, " raw:"...), hexOf(x)...)
}

// blocks writes the blocks of the chunk.
func (d *dumper) blocks() {
	for w := format.WalkBlocks(d.chunk, format.ChunkHeaderSize); w.Next() && w.Payload != nil; { // else it is what patch writes
		d.text = d.names.appendBlock(d.text, w.Type, w.Payload)
		if w.Err != nil {
			d.text = fmt.Appendf(d.text, " crc=%#x", binary.LittleEndian.Uint32(w.Chunk[w.Off+8:]))
		}
		d.text = append(d.text, '\n')
	}
}

// again assembles the chunk's text.
func (d *dumper) again(off int64) ([]byte, error) {
	a := newAssembler()
	a.names = d.names
	if off > 0 {
		a.header, a.begun = d.header, true
	}
	a.base = off
	for _, l := range bytes.Split(d.text, []byte("\n")) {
		if err := a.line(string(l)); err != nil {
			return nil, fmt.Errorf("%s: %w", l, err)
		}
	}
	return a.out, nil
}

// patch writes what the chunk holds and its text does not.
func (d *dumper) patch(again []byte) {
	const unit = format.RecordSize
	for at := 0; at < len(d.chunk); at += unit {
		from := at
		for at < len(d.chunk) && !bytes.Equal(d.chunk[at:at+unit], again[at:at+unit]) {
			at += unit
		}
		if at == from {
			continue
		}
		d.text = append(d.text, "at "+itoa(int64(from))+"\n"...)
		for ; from < at; from += unit {
			d.text = append(append(append(d.text, "raw "...), hexOf(d.chunk[from:from+unit])...), '\n')
		}
	}
}
