package merge

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/scopeview/scopeview/internal/format"
)

// writer writes a linear trace chunk by chunk: records by their owners, and blocks. Each
// chunk is written once, when it is full or its owner has no more.
type writer struct {
	f      io.WriterAt
	chunks uint32            // that were handed out, chunk 0 included
	open   map[uint64]*chunk // of records, by owner and path
	blocks *chunk
	free   []*chunk
	err    error // of the first write that failed
}

// chunk is one that is being filled.
type chunk struct {
	b      []byte
	head   format.ChunkHeader
	thread uint32 // of the last anchor
}

func newWriter(f io.WriterAt) *writer {
	return &writer{f: f, chunks: 1, open: map[uint64]*chunk{}}
}

// take hands out a chunk.
func (w *writer) take(head format.ChunkHeader) *chunk {
	c := &chunk{}
	if n := len(w.free); n > 0 {
		c, w.free = w.free[n-1], w.free[:n-1]
	} else {
		c.b = make([]byte, 0, format.ChunkSize)
	}
	head.Index, head.Gen, head.Flags = w.chunks, 1, format.FlagFinal
	w.chunks++
	c.b, c.head, c.thread = c.b[:format.ChunkHeaderSize], head, 0
	return c
}

// put writes a chunk out.
func (w *writer) put(c *chunk) {
	c.head.Sealed = int64(len(c.b))
	b := c.b[:format.ChunkSize]
	format.PutChunkHeader(b, &c.head)
	clear(b[len(c.b):])
	if _, err := w.f.WriteAt(b, int64(c.head.Index)*format.ChunkSize); err != nil && w.err == nil {
		w.err = fmt.Errorf("writing the merged trace: %w", err)
	}
	w.free = append(w.free, c)
}

// record appends a record and its extension to the chunk of its owner, behind an anchor
// of its thread where that is another one than before, and returns where it is. Thread 0 is
// unknown. ends says that it is an end apart.
func (w *writer) record(owner, thread uint32, r *format.Record, ext []byte, ends bool) format.Loc {
	path := format.PathAssembly
	if thread == 0 {
		path = format.PathGo
	}
	key := uint64(path)<<32 | uint64(owner)
	c := w.open[key]
	if c != nil && len(c.b)+2*format.RecordSize+len(ext) > format.ChunkSize {
		w.put(c)
		c = nil
	}
	if c == nil {
		c = w.take(format.ChunkHeader{Kind: format.ChunkRecords, Path: path, Owner: owner, Since: r.Start})
		w.open[key] = c
	}
	if thread != c.thread {
		c.thread = thread
		start := r.Start
		if ends {
			start = r.Stop // the begin's: an end lies right behind its begin
		}
		c.b = format.AppendRecord(c.b, &format.Record{Start: start, Stop: int64(thread), Head: format.Head(0, format.KindAnchor, false, 0), CPU: 1<<64 - 1})
	}
	if ends {
		c.head.Since = min(c.head.Since, r.Stop)
		c.head.Flags |= format.FlagEnds
	}
	loc := format.Loc(int64(c.head.Index)*format.ChunkSize + int64(len(c.b)))
	c.b = append(format.AppendRecord(c.b, r), ext...)
	return loc
}

// closeRecords writes out the chunks of records.
func (w *writer) closeRecords() {
	for _, c := range w.open {
		w.put(c)
	}
	clear(w.open)
}

// block appends a block, in a chunk of blocks.
func (w *writer) block(t format.BlockType, payload []byte) {
	size := format.BlockHeaderSize + len(payload) + 7
	if w.blocks != nil && len(w.blocks.b)+size > format.ChunkSize {
		w.put(w.blocks)
		w.blocks = nil
	}
	if w.blocks == nil {
		w.blocks = w.take(format.ChunkHeader{Kind: format.ChunkBlocks, Path: format.PathGo, Since: startTicks})
	}
	w.blocks.b = format.AppendBlock(w.blocks.b, t, payload)
}

// finish ends the trace at a tick, and returns its size.
func (w *writer) finish(h format.Header, end int64, lost [format.CounterReasons + 1]int64) (int64, error) {
	w.block(format.BlockStop, format.AppendTicks(nil, end))
	w.put(w.blocks)
	size := int64(w.chunks) * format.ChunkSize
	b := make([]byte, format.ChunkSize)
	format.AppendHeader(b[:0], &h)
	le := binary.LittleEndian
	total := int64(0)
	for why, n := range lost {
		if why > 0 {
			le.PutUint64(b[format.CountersOffset+8*(why-1):], uint64(n))
			total = sum(total, n)
		}
	}
	for at, v := range map[int]int64{format.StateClosed: 1, format.StateTick: end, format.StateEnd: size, format.StateLost: total} {
		le.PutUint64(b[format.StateOffset+at:], uint64(v))
	}
	if _, err := w.f.WriteAt(b, 0); err != nil && w.err == nil {
		w.err = fmt.Errorf("writing the merged trace: %w", err)
	}
	return size, w.err
}
