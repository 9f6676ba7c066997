package trace

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/scopeview/scopeview/internal/format"
)

// Open reads the index of a trace of size bytes. Errors wrap
// format.ErrNotTrace, ErrEmpty, ErrNewer or are a *CorruptError.
func Open(r io.ReaderAt, size int64) (*Trace, error) { return open(r, size, "") }

// OpenFile opens path; Close closes it.
func OpenFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w; it is not a regular file", path, format.ErrNotTrace)
	}
	var t *Trace
	if err == nil {
		t, err = open(f, st.Size(), path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// Close closes the file that OpenFile opened.
func (t *Trace) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

func open(r io.ReaderAt, size int64, path string) (*Trace, error) {
	t := &Trace{r: r, path: path, size: size, found: problems{}, inEvents: problems{}}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	if err := t.readIndex(int64(t.header.ChunkSize)); err != nil {
		return nil, err
	}
	if err := t.readBlocks(); err != nil {
		return nil, err
	}
	t.settle()
	if err := t.lastMoment(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trace) readHeader() error {
	var b [format.StateOffset + format.StateSize]byte
	n := min(max(t.size, 0), int64(len(b)))
	got, err := readFull(t.r, b[:n], 0)
	if err != nil {
		return ioError(t.path, 0, err)
	}
	if t.header, t.state, err = format.DecodeHeader(b[:got]); err != nil {
		return headerError(t.path, err)
	}
	cs := int64(t.header.ChunkSize)
	if rest := t.size % cs; rest != 0 {
		t.found.add(fmt.Sprintf("the file is cut off: it ends %d bytes into a chunk", rest), t.size, 1)
	}
	if t.state.End > t.size {
		t.found.add(fmt.Sprintf("the file is cut off: its writer had written %d bytes", t.state.End), t.size, 1)
	}
	return nil
}

// readIndex looks at the headers of all chunks from offset from on. A chunk
// whose magic is zero was not handed out, or its writer was stopped before it
// could say so: those before the last good one are told of, those behind it are
// the prepared window.
func (t *Trace) readIndex(from int64) error {
	cs := int64(t.header.ChunkSize)
	if t.used == 0 {
		t.used = min(cs, t.size)
	}
	var b [format.ChunkHeaderSize]byte
	unborn, firstUnborn := int64(0), int64(0)
	for off := from; off < t.size; off += cs {
		n, err := readFull(t.r, b[:min(int64(len(b)), t.size-off)], off)
		if err != nil {
			return ioError(t.path, off, err)
		}
		h, ok, err := format.DecodeChunkHeader(b[:n], off, t.header.ChunkSize)
		if err != nil {
			t.found.add("a chunk is skipped, its header makes no sense ("+err.Error()+")", off, 1)
			t.used = min(off+cs, t.size)
			continue
		}
		if !ok {
			if unborn++; unborn == 1 {
				firstUnborn = off
			}
			continue
		}
		if unborn > 0 {
			t.found.add("a chunk was handed out and never begun", firstUnborn, unborn)
			unborn = 0
		}
		t.used = min(off+cs, t.size)
		if h.Kind != format.ChunkRecords && h.Kind != format.ChunkBlocks {
			t.found.add(fmt.Sprintf("a chunk of unknown kind %d is skipped", h.Kind), off, 1)
			continue
		}
		t.chunks = append(t.chunks, chunkInfo{off: off, since: h.Since, flags: h.Flags, owner: h.Owner, kind: h.Kind, path: uint8(h.Path)})
	}
	return nil
}

// lastMoment finds t.last. A record can be later than the flusher's last round
// only where it, or its end, was written since: in a chunk that is not final,
// or in the last chunk of its owner.
func (t *Trace) lastMoment() error {
	type writer struct{ path, owner uint32 }
	newest := map[writer]int{}
	for i, c := range t.chunks {
		if c.kind == format.ChunkRecords {
			newest[writer{uint32(c.path), c.owner}] = i
		}
	}
	var buf chunkBuf
	ignored := problems{} // Events meets and counts them again
	for i, c := range t.chunks {
		if c.kind != format.ChunkRecords || c.flags&format.FlagFinal != 0 && newest[writer{uint32(c.path), c.owner}] != i {
			continue
		}
		if err := t.readChunk(&buf, c.off, ignored); err != nil {
			return err
		}
		for s := buf.scan(); s.next(); {
			r := format.DecodeRecord(s.buf[s.off:])
			t.last = max(t.last, r.Start)
			if k := r.Kind().Spec(); k != nil && k.Scope && r.Stop < format.MaxTicks {
				t.last = max(t.last, r.Stop)
			}
		}
	}
	return nil
}

// readFull reads len(b) bytes at off, or as many as there are: the file may be
// shorter than it was.
func readFull(r io.ReaderAt, b []byte, off int64) (int, error) {
	n, err := r.ReadAt(b, off)
	if err != nil && !errors.Is(err, io.EOF) && n < len(b) {
		return n, err
	}
	return n, nil
}
