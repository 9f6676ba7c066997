package goscopes

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/scopeview/scopeview/internal/format"
)

// file writes a trace. It holds four chunks at a time, whatever the trace's length.
type file struct {
	f       *os.File
	chunks  uint32 // number of chunks begun so far, including the header
	records chunk
	odd     chunk // the chunk of records that are out of order or of no known thread
	last    int64 // start of the last record in order
	blocks  chunk
	raw     []byte // bytes of the Go execution trace not yet written
	part    uint32 // number of its parts so far
	names   map[string]uint16
	err     error // first error of writing
}

// chunk is a chunk being filled.
type chunk struct {
	b      []byte // nil: no chunk is begun
	kind   format.ChunkKind
	path   format.Path
	index  uint32
	since  int64
	thread uint32 // of its last anchor
	flags  uint32
}

// startTicks is the tick at which the trace begins, because tick 0 stands for no time.
const startTicks = 1

// rawPart is the number of bytes of a Go execution trace that fit into a chunk.
const rawPart = format.ChunkSize - format.ChunkHeaderSize - format.BlockHeaderSize - format.GoTraceHeadSize

func newFile(f *os.File) *file {
	return &file{f: f, chunks: 1, names: map[string]uint16{"": format.NameEmpty, format.OtherNames: format.NameOther}}
}

// begin begins a chunk.
func (w *file) begin(c *chunk, kind format.ChunkKind, path format.Path, since int64) {
	*c = chunk{b: make([]byte, format.ChunkHeaderSize, format.ChunkSize), kind: kind, path: path, index: w.chunks, since: since}
	w.chunks++
}

// end writes a chunk.
func (w *file) end(c *chunk) {
	if c.b == nil {
		return
	}
	format.PutChunkHeader(c.b, &format.ChunkHeader{
		Kind: c.kind, Path: c.path, Index: c.index, Since: c.since, Gen: 1, Flags: c.flags | format.FlagFinal, Sealed: int64(len(c.b)),
	})
	w.write(c.b[:format.ChunkSize], int64(c.index)*format.ChunkSize)
	c.b = nil
}

func (w *file) write(b []byte, at int64) {
	if w.err == nil {
		_, w.err = w.f.WriteAt(b, at)
	}
}

// block writes a block. No block may be longer than a chunk.
func (w *file) block(t format.BlockType, payload []byte) {
	if c := &w.blocks; c.b != nil && len(c.b)+format.BlockHeaderSize+(len(payload)+7)&^7 > format.ChunkSize {
		w.end(c)
	}
	if w.blocks.b == nil {
		w.begin(&w.blocks, format.ChunkBlocks, format.PathAssembly, startTicks)
	}
	w.blocks.b = format.AppendBlock(w.blocks.b, t, payload)
}

func (w *file) fact(key, value string) {
	if value != "" {
		w.block(format.BlockInfo, format.AppendInfo(nil, key, value))
	}
}

// name returns the number of a name. Names beyond format.MaxNames share one number.
func (w *file) name(text string) uint16 {
	if len(text) > format.MaxName {
		text = text[:format.MaxName]
	}
	id, ok := w.names[text]
	if !ok {
		if len(w.names) >= format.MaxNames {
			return format.NameOther
		}
		id = uint16(len(w.names))
		w.names[text] = id
		w.block(format.BlockName, format.AppendName(nil, id, text))
	}
	return id
}

// record writes a record with its extension, and returns its location. A record that begins
// before earlier ones, or on no known thread, is written to the chunk odd.
func (w *file) record(r *format.Record, thread uint32, slots []format.Slot) format.Loc {
	ext, err := format.AppendExt(nil, slots)
	if err != nil || len(slots) == 0 { // the texts are short enough to fit
		ext = nil
	}
	if ext != nil {
		r.Head |= format.ExtBit
	}
	end := r.Kind() == format.KindEnd
	c, path := &w.records, format.PathAssembly
	if thread == 0 || !end && r.Start < w.last {
		c, path = &w.odd, format.PathGo
	}
	if c.b != nil && len(c.b)+2*format.RecordSize+len(ext) > format.ChunkSize {
		w.end(c)
	}
	if c.b == nil {
		w.begin(c, format.ChunkRecords, path, max(w.last, startTicks))
	}
	if end {
		c.flags |= format.FlagEnds
	} else if c.since = min(c.since, r.Start); path == format.PathAssembly {
		w.last = r.Start
	}
	if path == format.PathAssembly && c.thread != thread {
		c.thread = thread
		anchor := format.Record{Start: max(w.last, startTicks), Stop: int64(thread), Head: format.Head(0, format.KindAnchor, false, 0), CPU: ^uint64(0)}
		c.b = format.AppendRecord(c.b, &anchor)
	}
	if r.Stop == open {
		if r.Stop = format.OpenStop(thread, 0, 0); path == format.PathGo {
			r.Stop = r.Start | math.MinInt64
		}
	}
	loc := format.Loc(c.index)*format.ChunkSize + format.Loc(len(c.b))
	c.b = append(format.AppendRecord(c.b, r), ext...)
	return loc
}

// open is the Stop of a scope without an end in its record.
const open = -1

// goTrace appends bytes of the Go execution trace.
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
	var c chunk
	w.begin(&c, format.ChunkBlocks, format.PathAssembly, startTicks)
	c.b = format.AppendBlock(c.b, format.BlockGoTrace, format.AppendGoTrace(nil, 1, w.part, w.raw))
	w.end(&c)
	w.part, w.raw = w.part+1, w.raw[:0]
}

// finish writes the unfinished chunks and the header; end is the tick at which the trace
// ends.
func (w *file) finish(mono, wall, end int64) error {
	w.flushRaw()
	w.end(&w.records)
	w.end(&w.odd)
	w.end(&w.blocks)
	w.block(format.BlockStop, format.AppendTicks(nil, end)) // after all others
	w.end(&w.blocks)
	h := format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, Clock: format.ClockMonotonic,
		Path: format.PathAssembly, Backing: format.BackingDisk, Witness: format.WitnessGoid,
		StartTicks: startTicks, StartMono: mono, StartWall: wall, TickRate: 1e9,
	}
	if _, err := rand.Read(h.ID[:]); err != nil {
		return fmt.Errorf("making an id for the trace: %w", err)
	}
	b := make([]byte, format.ChunkSize)
	format.AppendHeader(b[:0], &h)
	state := b[format.StateOffset:]
	binary.LittleEndian.PutUint64(state[format.StateClosed:], 1)
	binary.LittleEndian.PutUint64(state[format.StateTick:], uint64(end))
	binary.LittleEndian.PutUint64(state[format.StateEnd:], uint64(w.chunks)*format.ChunkSize)
	w.write(b, 0)
	return w.err
}
