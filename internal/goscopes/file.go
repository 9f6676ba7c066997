package goscopes

import (
	"crypto/rand"
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// file writes a trace. It holds four chunks at a time, whatever the trace's length.
type file struct {
	*tracefile.Writer
	raw  []byte // of the Go execution trace, not yet written
	part uint32 // its parts so far
}

// startTicks is the tick at which the trace begins, because tick 0 stands for no time.
const startTicks = 1

// rawPart is the number of bytes of a Go execution trace that fit into a chunk.
const rawPart = format.ChunkSize - format.ChunkHeaderSize - format.BlockHeaderSize - format.GoTraceHeadSize

func newFile(f *os.File) *file {
	h := format.Header{
		PageSize: 4096, Clock: format.ClockMonotonic, Path: format.PathAssembly, Backing: format.BackingDisk, Witness: format.WitnessGoid,
		StartTicks: startTicks, TickRate: 1e9,
	}
	return &file{Writer: tracefile.New(f, h)}
}

func (w *file) fact(key, value string) {
	if value != "" {
		w.Block(format.BlockInfo, format.AppendInfo(nil, key, value))
	}
}

// record writes a record with its extension, and returns where it is.
func (w *file) record(r format.Record, thread uint32, slots []format.Slot) format.Loc {
	ext, err := format.AppendExt(nil, slots)
	if err != nil || len(slots) == 0 { // the texts are short enough to fit
		ext = nil
	}
	if ext != nil {
		r.Head |= format.ExtBit
	}
	return w.Record(0, thread, r, ext)
}

// goTrace takes more of the Go execution trace.
func (w *file) goTrace(b []byte) {
	for len(b) > 0 {
		n := min(len(b), rawPart-len(w.raw))
		w.raw, b = append(w.raw, b[:n]...), b[n:]
		if len(w.raw) == rawPart {
			w.flushRaw()
		}
	}
}

func (w *file) flushRaw() {
	if len(w.raw) == 0 {
		return
	}
	w.Block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, w.part, w.raw))
	w.part, w.raw = w.part+1, w.raw[:0]
}

// finish writes the unfinished chunks and the header; end is the tick at which the trace
// ends.
func (w *file) finish(mono, wall, end int64) error {
	w.flushRaw()
	w.Header.StartMono, w.Header.StartWall = mono, wall
	if _, err := rand.Read(w.Header.ID[:]); err != nil {
		return fmt.Errorf("making an id for the trace: %w", err)
	}
	w.Close(end, nil)
	return w.Err
}
