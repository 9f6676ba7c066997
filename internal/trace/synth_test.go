package trace

import (
	"io"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// synth is a trace of any size that is generated as it is read: chunk 1 holds the names, every
// other one the records of one of its owners, in turn.
type synth struct {
	h         format.Header
	owners    int
	chunks    int   // of records
	spanning  bool  // one scope is open from the first record to the last
	endsApart bool  // every 50th scope ends apart
	step      int64 // ticks from begin to begin

	mu     sync.Mutex
	cached int64
	buf    []byte
}

func newSynth(owners, chunks int) *synth {
	return &synth{owners: owners, chunks: chunks, step: 60, cached: -1, h: format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: 1,
		Clock: format.ClockTSC, Path: format.PathAssembly, Backing: format.BackingDisk,
		StartTicks: 1000, StartMono: 5, StartWall: 1_700_000_000e9, TickRate: 3_000_000_000,
	}}
}

func (s *synth) size() int64 { return int64(s.chunks+2) * format.ChunkSize }

func (s *synth) perChunk() int {
	return (format.ChunkSize - format.ChunkHeaderSize) / format.RecordSize
}

func (s *synth) records() int { return s.chunks * s.perChunk() }

func (s *synth) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(p) {
		i := off / format.ChunkSize
		if i >= int64(s.chunks+2) {
			return n, io.EOF
		}
		if i != s.cached {
			s.chunk(int(i))
			s.cached = i
		}
		m := copy(p[n:], s.buf[off%format.ChunkSize:])
		n += m
		off += int64(m)
	}
	return n, nil
}

func (s *synth) chunk(i int) {
	if s.buf == nil {
		s.buf = make([]byte, format.ChunkSize)
	}
	b := s.buf[:0]
	switch i {
	case 0:
		clear(s.buf)
		format.AppendHeader(b, &s.h)
		format.PutState(s.buf[format.StateOffset:], &format.State{Closed: true, Tick: s.last(), End: s.size()})
		return
	case 1:
		clear(s.buf)
		format.PutChunkHeader(s.buf, &format.ChunkHeader{Kind: format.ChunkBlocks, Index: 1, Since: s.h.StartTicks, Gen: 1})
		b = s.buf[:format.ChunkHeaderSize]
		for id, name := range []string{2: "f", 3: "g", 4: "whole"} {
			if name != "" {
				b = format.AppendBlock(b, format.BlockName, format.AppendName(nil, uint16(id), name))
			}
		}
		format.AppendBlock(b, format.BlockStop, format.AppendTicks(nil, s.last()))
		return
	}
	k := i - 2
	owner, turn := k%s.owners, k/s.owners
	n := s.perChunk()
	t := s.h.StartTicks + int64(turn)*int64(n)*s.step
	flags := uint32(format.FlagFinal)
	if s.hasEnds(k) {
		flags |= format.FlagEnds
	}
	format.PutChunkHeader(s.buf, &format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathAssembly,
		Index: uint32(i), Owner: uint32(owner), Since: t, Gen: 1, Flags: flags, Sealed: format.ChunkSize})
	b = s.buf[:format.ChunkHeaderSize]
	r := format.Record{Start: t, Stop: int64(1000 + owner), CPU: 1000, Head: format.Head(0, format.KindAnchor, false, 0)}
	b = format.AppendRecord(b, &r)
	n--
	loc := func(chunk, rec int) int64 {
		return int64(chunk+2)*format.ChunkSize + format.ChunkHeaderSize + int64(rec)*format.RecordSize
	}
	if s.spanning && k == 0 {
		r = format.Record{Start: t, Stop: format.OpenStop(1000, 0, 0), Head: format.Head(7, format.KindTask, false, 4)}
		b = format.AppendRecord(b, &r)
		n--
	}
	if s.spanning && k == s.chunks-1 {
		n -= 2
	}
	if s.endsApart && turn > 0 {
		// The end of the scope that the owner's previous chunk left open.
		before := s.h.StartTicks + int64(turn-1)*int64(s.perChunk())*s.step
		b = s.end(b, t, before+int64(s.perChunk())*s.step-s.step, loc(k-s.owners, s.perChunk()-1), uint64(100+owner))
		n -= 2
	}
	for j := 0; j < n; j++ {
		t += s.step
		r = format.Record{Start: t, Stop: t + s.step/2, CPU: 20<<2 | uint64(format.Exact), Head: format.Head(uint64(100+owner), format.KindTask, false, uint16(2+j&1))}
		if j&1 == 0 {
			r.Stop = t + s.step + s.step/2 + 5 // parent of the next
		}
		if s.endsApart && j == n-1 {
			r.Start = s.h.StartTicks + int64(turn+1)*int64(s.perChunk())*s.step - s.step
			r.Stop = format.OpenStop(1000, 0, 0)
		}
		b = format.AppendRecord(b, &r)
	}
	if s.spanning && k == s.chunks-1 {
		b = s.end(b, s.last(), s.h.StartTicks, loc(0, 1), 7)
	}
	clear(s.buf[len(b):])
}

func (s *synth) end(b []byte, stop, start, loc int64, goid uint64) []byte {
	r := format.Record{Start: stop, Stop: start, Head: format.Head(goid, format.KindEnd, true, 4)}
	b = format.AppendRecord(b, &r)
	b, _ = format.AppendExt(b, []format.Slot{{Type: format.SlotLoc, Value: uint64(loc)}, {Type: format.SlotGoid, Value: goid}})
	return b
}

func (s *synth) hasEnds(k int) bool {
	return s.spanning && k == s.chunks-1 || s.endsApart && k >= s.owners
}

func (s *synth) last() int64 {
	return s.h.StartTicks + int64(s.chunks/s.owners+1)*int64(s.perChunk())*s.step
}

// load generates the whole trace in memory.
func (s *synth) load() []byte {
	b := make([]byte, s.size())
	s.ReadAt(b, 0)
	return b
}
