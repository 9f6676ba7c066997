package outside

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
)

// writer writes a trace that has only blocks. Its clock is the system's monotonic one.
type writer struct {
	file  *os.File
	chunk []byte // being filled; its length is the used part
	index uint32
	last  int64 // ticks
	err   error // the first error
}

// newWriter creates the file path, which must not exist, and writes the trace's header.
func newWriter(path string, pid int, now int64) (*writer, error) {
	f, err := newfile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("creating the trace: %w", err)
	}
	w := &writer{file: f, last: now}
	h := format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: uint32(os.Getpagesize()), PID: uint32(pid),
		Clock: format.ClockMonotonic, Path: format.PathPure, Backing: format.BackingDisk,
		StartTicks: now, StartMono: now, StartWall: time.Now().UnixNano(), TickRate: 1e9,
	}
	_, _ = rand.Read(h.ID[:]) // it never fails
	first := make([]byte, format.ChunkSize)
	copy(first, format.AppendHeader(nil, &h))
	w.write(first, 0)
	w.begin(now)
	w.block(format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: now, Mono: now, Wall: h.StartWall}), now)
	return w, w.err
}

// begin begins a chunk.
func (w *writer) begin(now int64) {
	w.index++
	w.chunk = make([]byte, format.ChunkHeaderSize, format.ChunkSize)
	format.PutChunkHeader(w.chunk, &format.ChunkHeader{Kind: format.ChunkBlocks, Path: format.PathPure, Index: w.index, Since: now, Gen: 1, Flags: format.FlagFinal})
}

// block appends a block, to the next chunk if this one is full. now is 0 for blocks without a
// time.
func (w *writer) block(t format.BlockType, payload []byte, now int64) {
	w.last = max(w.last, now)
	if len(w.chunk)+len(payload)+format.BlockHeaderSize+8 > format.ChunkSize {
		w.seal()
		w.begin(w.last)
	}
	w.chunk = format.AppendBlock(w.chunk, t, payload)
}

// seal writes a chunk out.
func (w *writer) seal() {
	binary.LittleEndian.PutUint64(w.chunk[format.ChunkSealedOffset:], uint64(len(w.chunk)))
	w.write(w.chunk[:format.ChunkSize], int64(w.index)*format.ChunkSize)
}

func (w *writer) write(b []byte, at int64) {
	if w.err != nil {
		return
	}
	if _, err := w.file.WriteAt(b, at); err != nil {
		w.err = fmt.Errorf("writing the trace: %w", err)
	}
}

// close ends the trace; now is when the program ended.
func (w *writer) close(now int64) error {
	w.block(format.BlockStop, format.AppendTicks(nil, now), now)
	w.seal()
	state := make([]byte, format.StateSize)
	le := binary.LittleEndian
	le.PutUint64(state[format.StateClosed:], 1)
	le.PutUint64(state[format.StateTick:], uint64(w.last))
	le.PutUint64(state[format.StateEnd:], uint64(w.index+1)*format.ChunkSize)
	w.write(state, format.StateOffset)
	if err := w.file.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("closing the trace: %w", err)
	}
	return w.err
}
