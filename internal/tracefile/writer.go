// Package tracefile writes traces that no recorder writes: merged, converted and tests' traces, and
// those recorded from outside.
package tracefile

import (
	"cmp"
	"io"
	"math"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// A Writer writes a trace chunk by chunk: records in the streams of their owners, and blocks. Each
// chunk is written once, when it is full or the stream ends; Begin and Close write the file's
// header. Its methods do nothing once a write has failed.
type Writer struct {
	Header format.Header // may change until Begin or Close
	Since  int64         // ticks at which later chunks of blocks are said to be handed out; StartTicks at first
	Err    error         // the first failed write's

	w       io.WriterAt
	count   uint32 // of chunks handed out so far, chunk 0 included
	last    uint32 // index of the last chunk of blocks
	streams map[stream]*streamState
	blocks  *chunks.Builder
	free    []*chunks.Builder
	names   map[string]uint16
}

// stream identifies records that follow each other in chunks.
type stream struct {
	owner uint32
	path  format.Path
}

type streamState struct {
	*chunks.Builder        // nil: none of its chunks is being filled
	thread          uint32 // of the chunk's last anchor
	last            int64  // the latest start of a record; 0: there was none
}

// Open is the Stop of a scope without an end; format.ApartBit may be added.
const Open = math.MinInt64

// New returns a Writer of the trace with the header h, whose version and chunk size it sets.
func New(w io.WriterAt, h format.Header) *Writer {
	h.Major, h.Minor, h.ChunkSize = format.Major, format.Minor, format.ChunkSize
	return &Writer{
		Header: h, Since: h.StartTicks, w: w, count: 1, streams: map[stream]*streamState{},
		names: map[string]uint16{"": format.NameEmpty, format.OtherNames: format.NameOther},
	}
}

// Begin writes the header of a trace that is still open.
func (w *Writer) Begin() { w.head(&format.State{}, nil) }

// take hands out a chunk.
func (w *Writer) take(h format.ChunkHeader) *chunks.Builder {
	h.Index, h.Gen, h.Flags = w.count, 1, format.FlagFinal
	w.count++
	n := len(w.free)
	if n == 0 {
		return chunks.NewBuilder(format.ChunkSize, h)
	}
	c := w.free[n-1]
	w.free = w.free[:n-1]
	c.Reset(h)
	return c
}

// put writes a chunk.
func (w *Writer) put(c *chunks.Builder) {
	w.write(c.Build(), int64(c.Head.Index)*format.ChunkSize)
	w.free = append(w.free, c)
}

func (w *Writer) write(b []byte, at int64) {
	if w.Err == nil {
		_, w.Err = w.w.WriteAt(b, at)
	}
}

// Record writes a record and its extension, and returns its location. A record of a known thread
// that is not earlier than its owner's last one is written as the assembly path does, behind an
// anchor of its thread; others as the Go path does. Thread 0 is unknown. A Stop of Open becomes
// that path's form of it.
func (w *Writer) Record(owner, thread uint32, r format.Record, ext []byte) format.Loc {
	end := r.Kind() == format.KindEnd
	s, path := w.stream(owner, format.PathAssembly), format.PathAssembly
	if thread == 0 || !end && r.Start < s.last {
		s, path, thread = w.stream(owner, format.PathGo), format.PathGo, 0
	}
	begun := r.Start // or where an end lies among the begins
	if end {
		begun = cmp.Or(s.last, r.Stop)
	}
	if s.Builder != nil && s.Left() < 2*format.RecordSize+len(ext) {
		w.put(s.Builder)
		s.Builder = nil
	}
	if s.Builder == nil {
		s.Builder, s.thread = w.take(format.ChunkHeader{Kind: format.ChunkRecords, Path: path, Owner: owner, Since: begun}), 0
	}
	s.Head.Since = min(s.Head.Since, begun)
	if end {
		s.Head.Flags |= format.FlagEnds
	} else {
		s.last = max(s.last, r.Start)
	}
	if thread != s.thread {
		s.thread = thread
		s.Builder.Record(&format.Record{Start: begun, Stop: int64(thread), Head: format.Head(0, format.KindAnchor, false, 0), CPU: math.MaxUint64}, nil)
	}
	if spec := r.Kind().Spec(); spec != nil && spec.Scope && r.Open() {
		apart := r.Stop & format.ApartBit
		if r.Stop = r.Start | Open; path == format.PathAssembly {
			r.Stop = format.OpenStop(thread, 0, 0)
		}
		r.Stop |= apart
	}
	return format.Loc(int64(s.Head.Index)*format.ChunkSize + int64(s.Builder.Record(&r, ext)))
}

func (w *Writer) stream(owner uint32, path format.Path) *streamState {
	s := w.streams[stream{owner, path}]
	if s == nil {
		s = &streamState{}
		w.streams[stream{owner, path}] = s
	}
	return s
}

// EndRecords ends all streams: later records may be earlier again.
func (w *Writer) EndRecords() {
	for _, s := range w.streams {
		if s.Builder != nil {
			w.put(s.Builder)
		}
	}
	clear(w.streams)
}

// Name returns the number of a name, and writes its block if the name is new. It returns the number
// of format.OtherNames if there are too many.
func (w *Writer) Name(text string) uint16 {
	text = text[:min(len(text), format.MaxName)]
	id, ok := w.names[text]
	if !ok {
		if len(w.names) == format.MaxNames {
			return format.NameOther
		}
		id = uint16(len(w.names))
		w.names[text] = id
		w.Block(format.BlockName, format.AppendName(nil, id, text)) // before the records with the name
	}
	return id
}

// Block writes a block that fits into a chunk. One that takes a whole chunk does not end the chunk
// of the others.
func (w *Writer) Block(t format.BlockType, payload []byte) {
	if format.BlockSize(len(payload)) == format.ChunkSize-format.ChunkHeaderSize {
		c := w.takeBlocks()
		c.Block(t, payload)
		w.put(c)
		return
	}
	if w.blocks == nil {
		w.blocks = w.takeBlocks()
	}
	if !w.blocks.Block(t, payload) {
		w.put(w.blocks)
		w.blocks = w.takeBlocks()
		w.blocks.Block(t, payload)
	}
}

func (w *Writer) takeBlocks() *chunks.Builder {
	w.last = w.count
	return w.take(format.ChunkHeader{Kind: format.ChunkBlocks, Path: w.Header.Path, Since: w.Since})
}

// Close ends the trace at a tick and returns its size; Err is then final. lost counts the lost
// records by reason; nil: none.
func (w *Writer) Close(end int64, lost *[format.CounterReasons + 1]int64) (size int64) {
	w.EndRecords()
	if c := w.blocks; c != nil && c.Head.Index != w.last { // the stop block is behind all others
		w.put(c)
		w.blocks = nil
	}
	w.Block(format.BlockStop, format.AppendTicks(nil, end))
	w.put(w.blocks)
	size = int64(w.count) * format.ChunkSize
	s := format.State{Closed: true, Tick: end, End: size}
	if lost != nil {
		for _, n := range lost[1:] {
			s.Lost += min(n, math.MaxInt64-s.Lost)
		}
	}
	w.head(&s, lost)
	return size
}

// head writes chunk 0.
func (w *Writer) head(s *format.State, lost *[format.CounterReasons + 1]int64) {
	b := make([]byte, format.ChunkSize)
	format.AppendHeader(b[:0], &w.Header)
	format.PutState(b[format.StateOffset:], s)
	if lost != nil {
		format.PutCounters(b[format.CountersOffset:], lost, true)
	}
	w.write(b, 0)
}
