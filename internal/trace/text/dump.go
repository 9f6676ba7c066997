package text

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/inorder"
	"github.com/scopeview/scopeview/internal/trace"
)

// Dump writes the trace as text. The file header must be readable; defects in the chunks are
// written as they are.
func Dump(w io.Writer, r io.ReaderAt, size int64) error {
	t, err := trace.Open(r, size)
	if err != nil {
		return err
	}
	d := dumper{header: t.Header(), names: names{ids: map[string]uint16{}}}
	state := t.State()
	d.file = chunks.Of(r, size, &d.header, &state)
	if err := d.learn(t); err != nil {
		return err
	}
	places := []int64{0} // where chunks can be, and the end of the last one
	for off := int64(0); off < size; {
		off = d.file.Next(off)
		places = append(places, off)
	}
	unborn := int64(0) // chunks not handed out, those in holes included
	inorder.Each(len(places)-1, func(i int, c *chunkText) { c.make(&d, places[i]) }, func(i int, c *chunkText) bool {
		n := (places[i+1] - places[i]) / d.file.Chunk
		switch {
		case c.err != nil:
			err = c.err
		case c.zero:
			unborn += n
		default:
			if err = writeUnborn(w, unborn); err == nil {
				_, err = w.Write(c.text)
			}
			unborn = n - 1
		}
		return err == nil
	})
	if err == nil {
		err = writeUnborn(w, unborn)
	}
	if err == nil && size%d.file.Chunk != 0 {
		_, err = fmt.Fprintf(w, "truncate %d\n", size)
	}
	return err
}

// writeUnborn writes the line for n chunks that were not handed out.
func writeUnborn(w io.Writer, n int64) (err error) {
	if n > 0 {
		_, err = fmt.Fprintf(w, "unborn %d\n", n)
	}
	return err
}

// dumper holds the data that the text of all chunks needs.
type dumper struct {
	file   chunks.File
	header format.Header
	names  names
}

// chunkText is a chunk as text. The text of its header and of blocks is assembled again, and bytes
// that differ from the chunk's are written raw: so the text's rules need not cover every way in
// which a trace can be broken. The text of records always assembles to the same bytes.
type chunkText struct {
	*dumper
	err   error
	zero  bool // the chunk has no text
	text  words
	chunk []byte
	again []byte // the assembled text
	ext   extText
}

// read reads the chunk at off into b, which it allocates if nil. ok is false if there is no chunk,
// or if it makes no sense.
func (d *dumper) read(b *[]byte, off int64) (c chunks.Chunk, ok bool, err error) {
	if *b == nil {
		*b = make([]byte, d.file.Chunk)
	}
	c, ok, bad, err := d.file.ReadChunk(*b, off)
	if err != nil {
		err = fmt.Errorf("reading at offset %d: %w", off, err)
	}
	return c, ok && bad == nil, err
}

// learn adds the names that the text's name lines will define. In a broken trace the reader may
// find other names: Assemble only knows the lines it reads.
func (d *dumper) learn(t *trace.Trace) error {
	var chunk []byte
	for _, c := range t.Chunks() {
		if c.Kind != format.ChunkBlocks {
			continue
		}
		if _, _, err := d.read(&chunk, c.Offset); err != nil {
			return err
		}
		for w := format.WalkBlocks(chunk, format.ChunkHeaderSize); w.Next(); {
			if id, name, err := format.DecodeName(w.Payload); w.Type == format.BlockName && w.Err == nil && err == nil {
				d.names.add(id, string(name))
			}
		}
	}
	d.names.settle()
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

// make writes the text of the chunk at off.
func (c *chunkText) make(d *dumper, off int64) {
	c.dumper, c.text, c.zero = d, c.text[:0], false
	read, ok, err := d.read(&c.chunk, off)
	if c.err = err; err != nil {
		return
	}
	if c.zero = off > 0 && isZero(c.chunk); c.zero {
		return
	}
	records := false
	switch {
	case off == 0:
		c.fileHeader()
	case !ok:
		c.text = append(c.text, "bytes\n"...)
	default:
		c.chunkHeader(&read.ChunkHeader)
		if read.Kind == format.ChunkBlocks {
			c.blocks()
		}
		records = read.Kind == format.ChunkRecords
	}
	if err := c.assemble(off); err != nil {
		c.err = fmt.Errorf("at offset %d: the text can't be reassembled: %w", off, err)
		return
	}
	if records {
		c.records(read.Path)
		copy(c.again[format.ChunkHeaderSize:], c.chunk[format.ChunkHeaderSize:])
	}
	c.patch()
}

func (c *chunkText) fileHeader() {
	h := &c.header
	c.text = fmt.Appendf(c.text, "header major=%d minor=%d chunk=%d page=%d pid=%d clock=%s path=%s backing=%s witness=%d id=%x start=%d mono=%d wall=%d rate=%d limit=%d",
		h.Major, h.Minor, h.ChunkSize, h.PageSize, h.PID, symbolOf(clocks, int64(h.Clock)), symbolOf(paths, int64(h.Path)), symbolOf(backings, int64(h.Backing)),
		h.Witness, h.ID, h.StartTicks, h.StartMono, h.StartWall, h.TickRate, h.Limit)
	c.text.nonzero("ring", int64(h.Ring))
	c.text.nonzero("segments", int64(h.Segments))
	le := binary.LittleEndian
	s := c.chunk[format.StateOffset:]
	c.text = fmt.Appendf(c.text, "\nstate closed=%d tick=%d end=%d lost=%d", le.Uint64(s[format.StateClosed:]),
		int64(le.Uint64(s[format.StateTick:])), int64(le.Uint64(s[format.StateEnd:]))&(1<<63-1), int64(le.Uint64(s[format.StateLost:])))
	c.text.nonzero("overwritten", int64(le.Uint64(s[format.StateOverwritten:])))
	c.text.nonzero("until", int64(le.Uint64(s[format.StateUntil:])))
	c.text.nonzero("joined", int64(le.Uint64(s[format.StateJoined:])))
	c.text.nonzero("files", int64(le.Uint64(s[format.StateFiles:])))
	c.text = append(c.text, '\n')
}

func (c *chunkText) chunkHeader(h *format.ChunkHeader) {
	kind := symbolOf(kinds, int64(h.Kind))
	if h.Kind != format.ChunkRecords && h.Kind != format.ChunkBlocks {
		kind = "kind-" + itoa(int64(h.Kind))
	}
	flag := itoa(int64(h.Flags))
	if h.Flags < 8 {
		flag = flagsOf(int64(h.Flags))
	}
	c.text = fmt.Appendf(c.text, "chunk %s owner=%d path=%s since=%d gen=%d flags=%s sealed=%d",
		kind, h.Owner, symbolOf(paths, int64(h.Path)), h.Since, h.Gen, flag, h.Sealed)
	c.text.nonzero("number", int64(h.Number))
	c.text.nonzero("final", h.Final)
	c.text = append(c.text, '\n')
}

// records writes the records of the chunk, including those behind its end.
func (c *chunkText) records(path format.Path) {
	le := binary.LittleEndian
	b := c.chunk
	for at := format.ChunkHeaderSize; at < len(b); {
		unit := b[at : at+format.RecordSize]
		w := le.Uint64(unit)
		switch {
		case w == 0 && isZero(unit):
			if isZero(b[at:]) {
				return
			}
			n := 1
			for isZero(b[at+n*format.RecordSize : at+(n+1)*format.RecordSize]) {
				n++
			}
			c.text = append(strconv.AppendInt(append(c.text, "hole "...), int64(n), 10), '\n')
			at += n * format.RecordSize
		case format.IsExt(w) && at+format.ExtUnits(w)*format.RecordSize <= len(b):
			n := format.ExtUnits(w) * format.RecordSize
			c.text = append(c.text, "ext"...)
			c.text = c.names.appendExt(c.text, b[at:at+n], &c.ext)
			c.text = append(c.text, '\n')
			at += n
		case w-1 < format.MaxTicks-1:
			at += c.record(at, path)
		default:
			c.text = append(hex.AppendEncode(append(c.text, "raw "...), unit), '\n')
			at += format.RecordSize
		}
	}
}

// record writes the record at at and returns its length.
func (c *chunkText) record(at int, path format.Path) int {
	le := binary.LittleEndian
	b := c.chunk
	r := format.DecodeRecord(b[at:])
	c.text = c.names.appendRecord(c.text, &r, path)
	n := format.RecordSize
	if r.Ext() {
		at += n
		x := 0
		if at+format.RecordSize <= len(b) && format.IsExt(le.Uint64(b[at:])) {
			x = format.ExtUnits(le.Uint64(b[at:])) * format.RecordSize
		}
		if x > 0 && at+x <= len(b) {
			c.text = append(c.text, " |"...)
			c.text = c.names.appendExt(c.text, b[at:at+x], &c.ext)
			n += x
		} else {
			c.text = append(c.text, " noext"...)
		}
	}
	c.text = append(c.text, '\n')
	return n
}

// extText is scratch memory for the text of extensions.
type extText struct {
	slots []format.Slot
	again []byte
}

// appendExt appends the slots of an extension, or its bytes where the slots would not assemble to
// the same bytes.
func (n *names) appendExt(b, x []byte, m *extText) []byte {
	var err error
	if m.slots, err = format.DecodeExt(m.slots[:0], x); err == nil {
		if m.again, err = format.AppendExt(m.again[:0], m.slots); err == nil && bytes.Equal(m.again, x) {
			for i := range m.slots {
				b = AppendSlot(append(b, ' '), &m.slots[i], n.word)
			}
			return b
		}
	}
	return hex.AppendEncode(append(b, " raw:"...), x)
}

// blocks writes the blocks of the chunk.
func (c *chunkText) blocks() {
	for w := format.WalkBlocks(c.chunk, format.ChunkHeaderSize); w.Next() && w.Payload != nil; { // else patch writes it
		c.text = c.names.appendBlock(c.text, w.Type, w.Payload)
		if w.Err != nil {
			c.text = fmt.Appendf(c.text, " crc=%#x", binary.LittleEndian.Uint32(w.Chunk[w.Off+8:]))
		}
		c.text = append(c.text, '\n')
	}
}

// assemble assembles the text of the chunk at off.
func (c *chunkText) assemble(off int64) error {
	a := newAssembler()
	a.names = c.names
	if off > 0 {
		a.header, a.begun = c.header, true
	}
	a.base, a.out = off, c.again[:0]
	for l := range bytes.SplitSeq(c.text, []byte("\n")) {
		if err := a.line(string(l)); err != nil {
			return fmt.Errorf("%s: %w", l, err)
		}
	}
	c.again = a.out
	return nil
}

// patch writes the parts of the chunk that its text does not assemble to.
func (c *chunkText) patch() {
	const unit = format.RecordSize
	if bytes.Equal(c.chunk, c.again) {
		return
	}
	for at := 0; at < len(c.chunk); at += unit {
		from := at
		for at < len(c.chunk) && !bytes.Equal(c.chunk[at:at+unit], c.again[at:at+unit]) {
			at += unit
		}
		if at == from {
			continue
		}
		c.text = append(c.text, "at "+itoa(int64(from))+"\n"...)
		for ; from < at; from += unit {
			c.text = append(hex.AppendEncode(append(c.text, "raw "...), c.chunk[from:from+unit]), '\n')
		}
	}
}
