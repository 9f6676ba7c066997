//go:build !scope_off

package record

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// blockWriter writes blocks off the hot path: names, heartbeats, facts. Its chunks
// come from the same pool as the records'.
type blockWriter struct {
	mu   sync.Mutex
	kept bool     // whether its chunks are never overwritten
	idx  int64    // of the chunk; 0: none
	w    []uint64 // its memory
	at   int      // words used in it
	buf  []byte
	shut bool
}

// block writes a block and reports whether there was room for it. In a forked child
// it writes nothing, which covers what Go's own goroutines there write.
func (r *recorder) block(t format.BlockType, payload []byte) bool {
	if sys.Forked() {
		return false
	}
	if r.ring != nil && t.Once() {
		return r.blockBy(&r.kept, t, payload)
	}
	if (t == format.BlockGoTrace || t == format.BlockSwitch || t == format.BlockSamples) && !r.pool.Spacious() {
		return false // there may be many of them: leave the last room to others
	}
	return r.blockBy(&r.blocks, t, payload)
}

func (r *recorder) blockBy(b *blockWriter, t format.BlockType, payload []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return false
	}
	b.buf = format.AppendBlock(b.buf[:0], t, payload)
	n := len(b.buf) / 8
	if n > (pool.ChunkSize-format.ChunkHeaderSize)/8 {
		return false
	}
	if full := b.idx == 0 || b.at+n > len(b.w); (full || r.pool.Holds(b.idx)) && !r.newBlockChunk(b) && full {
		return false
	}
	// Store the first word last: a 0 there marks the chunk's current end.
	for i := n - 1; i > 0; i-- {
		setWord(&b.w[b.at+i], binary.LittleEndian.Uint64(b.buf[8*i:]))
	}
	testpoint.Here("block.filled")
	atomic.StoreUint64(&b.w[b.at], binary.LittleEndian.Uint64(b.buf))
	testpoint.Here("block.published")
	b.at += n
	return true
}

func (r *recorder) newBlockChunk(b *blockWriter) bool {
	take := r.pool.TakeForBlocks
	if b.kept {
		take = r.pool.TakeKept
	}
	idx, lost := take()
	if lost != 0 {
		return false
	}
	testpoint.Here("block.chunk.taken")
	r.sealBlocks(b)
	testpoint.Here("block.chunk.sealed")
	b.idx, b.w, b.at = idx, r.pool.Words(idx), format.ChunkHeaderSize/8
	h := r.chunkHeader(format.ChunkBlocks, r.writer.path(), idx)
	storeHeader(b.w, &h)
	testpoint.Here("block.chunk.headed")
	r.pool.Advance(idx, pool.Open)
	return true
}

func (r *recorder) sealBlocks(b *blockWriter) {
	if b.idx != 0 {
		atomic.StoreUint64(&b.w[format.ChunkSealedOffset/8], uint64(b.at)*8)
		r.pool.Advance(b.idx, pool.Sealed)
		b.idx = 0
	}
}

// sealUnborn gives an empty, sealed header to chunks that were taken but that the
// assembly refused to install, because the recording was over.
func (r *recorder) sealUnborn() {
	// Wait for chunks of blocks that are being initialized.
	r.blocks.mu.Lock()
	defer r.blocks.mu.Unlock()
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	for _, idx := range r.pool.Live(nil) {
		if r.pool.State(idx) == pool.Free {
			h := r.chunkHeader(format.ChunkRecords, format.PathAssembly, idx)
			h[format.ChunkSealedOffset/8] = format.ChunkHeaderSize
			storeHeader(r.pool.Words(idx), &h)
			r.pool.Advance(idx, pool.Sealed)
		}
	}
}

// shutBlocks seals the last chunks; later blocks are refused.
func (r *recorder) shutBlocks() {
	for _, b := range []*blockWriter{&r.blocks, &r.kept} {
		b.mu.Lock()
		r.sealBlocks(b)
		b.shut = true
		b.mu.Unlock()
	}
}

// header returns the mutable words of the file header.
func (r *recorder) header() []uint64 {
	return r.pool.Words(0)[format.StateOffset/8:][:format.StateSize/8]
}

func (r *recorder) writeHeader(h *format.Header) {
	b := format.AppendHeader(nil, h)
	w := r.pool.Words(0)
	b = append(b, make([]byte, -len(b)&7)...)
	for i := len(b)/8 - 1; i > 0; i-- {
		setWord(&w[i], binary.LittleEndian.Uint64(b[8*i:]))
	}
	atomic.StoreUint64(&w[0], binary.LittleEndian.Uint64(b))
}

// setState updates the mutable words of the file header.
func (r *recorder) setState(closed bool) {
	w := r.header()
	atomic.StoreUint64(&w[format.StateTick/8], uint64(r.clock.Now()))
	atomic.StoreUint64(&w[format.StateEnd/8], uint64(r.pool.Size()))
	atomic.StoreUint64(&w[format.StateLost/8], uint64(r.missing()))
	if g := r.ring; g != nil {
		atomic.StoreUint64(&w[format.StateUntil/8], uint64(g.until.Load()))
		atomic.StoreUint64(&w[format.StateOverwritten/8], uint64(g.over.Load()))
		atomic.StoreUint64(&w[format.StateFiles/8], uint64(r.segments.Load()))
	}
	if closed {
		atomic.StoreUint64(&w[format.StateClosed/8], 1)
	}
}
