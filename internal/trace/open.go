package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	_ "github.com/scopeview/scopeview/internal/pack" // registers the reader of packed traces with package hot
)

// Open reads the index of a trace of size bytes. Errors wrap format.ErrNotTrace, ErrEmpty, ErrNewer
// or are a *corruptError.
func Open(r io.ReaderAt, size int64) (*Trace, error) { return open(r, size, "") }

// OpenFile opens path, joined with its hot file if there is one; Close closes both.
func OpenFile(path string) (*Trace, error) { return OpenFileUntil(context.Background(), path) }

// OpenFileUntil is OpenFile for a trace that can be read until ctx is done: from then on reads fail
// with the context's error.
func OpenFileUntil(ctx context.Context, path string) (*Trace, error) {
	f, err := hot.Open(path)
	if err != nil {
		return nil, err
	}
	return openUntil(ctx, f, path)
}

// OpenJoined is OpenFileUntil for a file that is open already, which Close closes. An error closes
// it too.
func OpenJoined(ctx context.Context, f *hot.File) (*Trace, error) { return openUntil(ctx, f, f.Name()) }

func openUntil(ctx context.Context, f *hot.File, path string) (*Trace, error) {
	size, err := f.Size()
	var t *Trace
	if err == nil {
		t, err = open(&Reading{File: f, Until: ctx}, size, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// Reading is a trace's file that can be read until a context is done.
type Reading struct {
	*hot.File
	Until context.Context
}

// ReadAt reads from the file, or returns the context's error.
func (r *Reading) ReadAt(b []byte, off int64) (int, error) {
	if err := r.Until.Err(); err != nil {
		return 0, err
	}
	return r.File.ReadAt(b, off)
}

// Close closes the file that OpenFile opened.
func (t *Trace) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

func open(r io.ReaderAt, size int64, path string) (*Trace, error) {
	t := &Trace{r: r, path: path, size: size, openProblems: problems{}, eventProblems: problems{}}
	t.names.Store(&nameTable{})
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	if f, ok := r.(interface{ Trace() *os.File }); ok && !t.state.Closed {
		alive, known := WriterAlive(f.Trace())
		t.grows = alive || !known
	}
	if err := t.readIndex(); err != nil {
		return nil, err
	}
	if err := t.readBlocks(); err != nil {
		return nil, err
	}
	t.noteRestart()
	t.settle()
	if err := t.lastMoment(); err != nil {
		return nil, err
	}
	if err := t.readCounters(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trace) readHeader() error {
	var b [format.StateOffset + format.StateSize]byte
	n := min(max(t.size, 0), int64(len(b)))
	got, err := chunks.ReadFull(t.r, b[:n], 0)
	if err != nil {
		return ioError(t.path, 0, err)
	}
	if t.header, t.state, err = format.DecodeHeader(b[:got]); err != nil {
		return headerError(t.path, err)
	}
	if err := t.header.Within(t.size); err != nil {
		return &corruptError{Path: t.path, Offset: t.size, Err: err}
	}
	t.addr = addressesOf(t)
	if s, ok := t.r.(interface{ MissingSegments() int64 }); ok {
		if n := s.MissingSegments(); n > 0 {
			t.openProblems.add(textSegment, 0, n)
		}
	}
	if t.header.Segments > 0 {
		t.openProblems.add(textApart, 0, 1)
	}
	t.checkSize()
	return nil
}

// checkSize adds the problems of a file that is too short.
func (t *Trace) checkSize() {
	cs := int64(t.header.ChunkSize)
	if rest := t.size % cs; rest != 0 {
		t.openProblems.add(fmt.Sprintf("the file is cut off: it ends %d bytes into a chunk", rest), t.size, 1)
	}
	switch behind := t.state.End - t.size; {
	case behind > 0 && t.LacksHotPart() && behind <= format.MaxHotSlots*cs:
		t.openProblems.add(textCool, t.size, 1)
	case behind > 0 && t.header.Backing == format.BackingHeap && !t.state.Closed:
		t.openProblems.add(textUncopied, t.size, 1)
	case behind > 0:
		t.openProblems.add(fmt.Sprintf("the file is cut off: its writer had written %d bytes", t.state.End), t.size, 1)
	}
}

// Booted returns the value that a recording on this machine would have for the fact boot; empty:
// not known. Tests replace it.
var Booted = func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// noteRestart notes whether the machine may have stopped while the trace was written. After a kill
// the pages of the disk backing are all there; the losses of other backings are reported
// separately.
func (t *Trace) noteRestart() {
	was, now := t.Lookup("boot"), Booted()
	t.stopped = !t.state.Closed && was != "" && now != "" && was != now
	if t.stopped && t.header.Backing == format.BackingDisk {
		t.openProblems.add(textRestart, 0, 1)
	}
}

// lastMoment finds t.last. A record can be later than the flusher's last round only if it, or its
// end, was written since: in a chunk that is not final, or in the last chunk of its owner.
func (t *Trace) lastMoment() error {
	type writer struct{ path, owner uint32 }
	newest := map[writer]int{}
	for i, c := range t.chunks {
		w := writer{uint32(c.path), c.owner}
		if last, ok := newest[w]; c.Kind == format.ChunkRecords && (!ok || c.Since >= t.chunks[last].Since) {
			newest[w] = i
		}
	}
	var buf chunkBuf
	ignored := problems{} // Events finds and counts them again
	for i, c := range t.chunks {
		if c.Kind != format.ChunkRecords || c.flags&format.FlagFinal != 0 && newest[writer{uint32(c.path), c.owner}] != i {
			continue
		}
		if err := t.readChunk(&buf, &c, ignored); err == errGone {
			continue
		} else if err != nil {
			return err
		}
		for s := buf.scan(); s.Next(); {
			r := s.Record()
			k := r.Kind().Spec()
			if k == nil {
				continue
			}
			t.last = max(t.last, r.Start)
			if k.Scope && r.Stop < format.MaxTicks {
				t.last = max(t.last, r.Stop)
			}
		}
	}
	return nil
}
