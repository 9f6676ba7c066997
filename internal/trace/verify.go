package trace

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// Verify checks all promises of docs/format.md, including those whose violation the reader
// tolerates. A trace that is being written may have findings that it will not have once closed. The
// error is that of a failed read or an unreadable header.
func Verify(r io.ReaderAt, size int64) ([]Finding, error) {
	t, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	ends, err := t.endsApart()
	if err != nil {
		return nil, err
	}
	v := &checker{verifier: &verifier{t: t, ends: ends}}
	if err := v.fileHeader(); err != nil {
		return nil, err
	}
	// Blocks first: records are checked against the names.
	places := v.places()
	for i := range places {
		if !places[i].records() {
			if err := v.chunk(&places[i]); err != nil {
				return nil, err
			}
		}
	}
	v.blocksDone()
	if err := v.allRecords(slices.DeleteFunc(places, func(p checkedPlace) bool { return !p.records() })); err != nil {
		return nil, err
	}
	if err := v.carried(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rule, b.Rule))
	})
	return v.found, nil
}

func (v *checker) fileHeader() error {
	v.bytes = make([]byte, v.t.header.ChunkSize)
	if _, err := v.t.readAt(v.bytes, 0); err != nil {
		return err
	}
	v.headerValues()
	v.headerReserved()
	v.headerState()
	v.ringHeader()
	t := v.t
	v.check(t.size%int64(t.header.ChunkSize) == 0, t.size, "file-size", "the file ends %d bytes into a chunk", t.size%int64(t.header.ChunkSize))
	return nil
}

func (v *checker) headerValues() {
	h := &v.t.header
	v.check(h.Clock == format.ClockTSC || h.Clock == format.ClockMonotonic, 24, "header-values", "the clock is %v", h.Clock)
	v.check(h.Path >= format.PathAssembly && h.Path <= format.PathPure, 28, "header-values", "the path is %v", h.Path)
	v.check(h.Backing >= format.BackingDisk && h.Backing <= format.BackingShm, 30, "header-values", "the backing is %v", h.Backing)
	v.check(h.Witness < 8, 32, "header-values", "the witnesses are %#x", h.Witness)
	v.check(h.PageSize >= 512 && h.PageSize&(h.PageSize-1) == 0, 16, "header-values", "the page size is %d", h.PageSize)
	v.check(h.Clock != format.ClockMonotonic || h.TickRate == 1e9, 76, "header-values", "the monotonic clock has %d ticks per second", h.TickRate)
}

func (v *checker) headerReserved() {
	for _, part := range v.t.header.Reserved() {
		v.zero(v.bytes[part[0]:part[1]], int64(part[0]), "header-reserved", "reserved bytes are not zero")
	}
}

func (v *checker) headerState() {
	const at = format.StateOffset
	t, h, s := v.t, &v.t.header, &v.t.state
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(v.bytes[at+off:]) }
	closed, joined := word(format.StateClosed), word(format.StateJoined)
	v.check(closed <= 1, at+format.StateClosed, "state", "closed is %d", closed)
	v.check(s.Tick == 0 || s.Tick >= h.StartTicks && s.Tick < format.MaxTicks, at+format.StateTick, "state", "the last round's tick is %d", s.Tick)
	v.check(s.Lost >= 0, at+format.StateLost, "state", "%d records are lost", s.Lost)
	v.check(joined == 0 || joined == 1 && h.Backing == format.BackingShm, at+format.StateJoined, "state", "joined is %d, and the backing is %v", joined, h.Backing)
	v.check(s.End >= 0 && s.End%int64(h.ChunkSize) == 0 && (s.End <= t.size || t.LacksHotPart()), at+format.StateEnd, "state-end", "chunks end at %d in a file of %d bytes", s.End, t.size)
	v.check(!s.Closed || s.End >= t.used && t.addr.unused(t.used, s.End) == 0, at+format.StateEnd, "state-end", "chunks end at %d, and the last one at %d", s.End, t.used)
}

// chunk checks the chunk at the place p.
func (v *checker) chunk(p *checkedPlace) error {
	if v.bytes == nil {
		v.bytes = make([]byte, v.t.header.ChunkSize)
	}
	c, ok, bad, err := v.t.chunkFile().ReadChunk(v.bytes, p.at)
	switch {
	case err != nil:
		return ioError(v.t.path, p.at, err)
	case bad != nil:
		v.add(p.at, "chunk-header", "%v", bad)
	case !ok:
		v.unborn(p.at)
	case (c.Kind == format.ChunkRecords) == p.records():
		v.chunkHeader(&c.ChunkHeader, p.at)
		return v.contents(&c, p.chunk, p.at)
	case p.chunk == nil:
		v.ringChunk(&c.ChunkHeader, p.at) // adds why it is not in the index
	}
	return nil
}

// unborn checks a place where no chunk was handed out. A ring zeroes a header first, and its chunk
// then. The magic of a header is stored last.
func (v *checker) unborn(off int64) {
	born := 0
	if !v.t.state.Closed {
		born = format.ChunkHeaderSize
	}
	if !v.t.overwrites() {
		v.zero(v.bytes[born:], off+int64(born), "chunk-unborn", "no chunk was handed out here, and there is something")
	}
}

func (v *checker) chunkHeader(h *format.ChunkHeader, off int64) {
	records := h.Kind == format.ChunkRecords
	v.check(records || h.Kind == format.ChunkBlocks, off+4, "chunk-values", "the chunk's kind is %d", h.Kind)
	v.check(h.Path >= format.PathAssembly && h.Path <= format.PathPure, off+5, "chunk-values", "the chunk's path is %v", h.Path)
	v.check(h.Flags < 8, off+28, "chunk-values", "the chunk's flags are %#x", h.Flags)
	v.check(firstNonzero(v.bytes[6:8]) < 0 && firstNonzero(v.bytes[44:format.ChunkFinalOffset]) < 0 && firstNonzero(v.bytes[format.ChunkFinalOffset+8:format.ChunkHeaderSize]) < 0, off, "chunk-values", "reserved bytes of the chunk's header are not zero")
	v.ringChunk(h, off)
	v.check(h.Since >= v.t.header.StartTicks, off+16, "chunk-since", "the chunk was handed out at tick %d, before the start", h.Since)
	if h.Sealed == 0 {
		v.check(h.Flags&format.FlagFinal == 0, off+28, "chunk-sealed", "the chunk is final and not sealed")
		return
	}
	unit := int64(8)
	if records {
		unit = format.RecordSize
	}
	v.check(h.Sealed >= format.ChunkHeaderSize && h.Sealed%unit == 0, off+32, "chunk-sealed", "the chunk is sealed at %d", h.Sealed)
	if !records || h.Path != format.PathAssembly {
		v.zero(v.bytes[h.Sealed:], off+h.Sealed, "chunk-tail", "behind the chunk's end there is something")
	}
}

// contents checks the contents of the chunk c, whose entry in the index is known.
func (v *checker) contents(c *chunks.Chunk, known *chunkInfo, off int64) error {
	switch c.Kind {
	case format.ChunkBlocks:
		v.kept = c.Flags&format.FlagKept != 0
		v.blockChunk(c.Blocks(), off)
	case format.ChunkRecords:
		return v.recordChunk(c, known)
	}
	return nil
}
