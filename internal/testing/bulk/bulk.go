// Package bulk writes large traces with known content, for tests and benchmarks. It writes
// the format itself, without a recorder: about ten million scopes per second and CPU. The
// output is the same for the same shape, number of scopes and seed, and scopeview verify
// finds nothing in it, except for Cut.
package bulk

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// Shape is the kind of scopes in a trace.
type Shape string

// Shapes. All except Regular have log-normal times and 12 names of different frequency.
const (
	Regular   Shape = "regular"   // four goroutines, constant steps, every second scope inside the previous one
	Irregular Shape = "irregular" // eight goroutines that move between four Ps
	Rows      Shape = "rows"      // 5,000 goroutines
	Deep      Shape = "deep"      // up to 64 nested scopes
	Long      Shape = "long"      // with scopes across all others, and across some windows, with separate ends
	Args      Shape = "args"      // two ints each
	Ring      Shape = "ring"      // an overwritten ring: what is left is Irregular
	Killed    Shape = "killed"    // not closed: the last chunks have open scopes, and unused chunks follow
	Cut       Shape = "cut"       // like Killed, and the file ends within a record
)

// Shapes lists them.
var Shapes = []Shape{Regular, Irregular, Rows, Deep, Long, Args, Ring, Killed, Cut}

// Trace describes a trace to write.
type Trace struct {
	Shape  Shape
	Scopes int64 // number of scopes, including open ones
	Seed   uint64
}

const (
	owners = 4
	room   = (format.ChunkSize - format.ChunkHeaderSize) / format.RecordSize
	batch  = 16 // chunks written at once
	window = 16 // unused chunks after those of Killed
)

// plan is the layout of a trace. Chunk i of the records belongs to P i%owners and covers the
// time window i/owners, independently of the other chunks, so they can be built in any
// order.
type plan struct {
	Trace
	load
	chunks   int64 // number of record chunks
	ordinary int64 // number of scopes that end in the chunk where they begin
	first    int64 // number of chunks for the header and blocks
	started  int64 // ticks at Start
	begin    int64 // ticks where the records begin
	number   int64 // in a ring: number of its first record chunk
}

func (t Trace) plan() (*plan, error) {
	p := &plan{Trace: t, load: loads[t.Shape], first: 2, started: 1e12, begin: 1e12 + 1e6}
	if p.span == 0 {
		return nil, fmt.Errorf("there is no shape %q, but %v", t.Shape, Shapes)
	}
	p.chunks = (t.Scopes + p.perChunk - 1) / p.perChunk
	if p.ordinary = t.Scopes - int64(len(p.carries())) - p.apart(); t.Scopes <= 0 || p.ordinary < 0 || p.chunks > 1<<31 {
		return nil, fmt.Errorf("%d scopes are too few or too many for the shape %s", t.Scopes, t.Shape)
	}
	if t.Shape == Ring {
		p.first = 3
		p.number = 3*p.chunks + 17
		if p.number+p.chunks > format.RingNumbers {
			return nil, fmt.Errorf("%d scopes are too many for a ring", t.Scopes)
		}
		p.begin += p.number / owners * p.span
	}
	return p, nil
}

// windows returns the number of time windows.
func (p *plan) windows() int64 { return (p.chunks + owners - 1) / owners }

// end returns the tick after all records.
func (p *plan) end() int64 { return p.begin + p.windows()*p.span }

// since returns the tick at which the window of chunk i begins.
func (p *plan) since(i int64) int64 { return p.begin + i/owners*p.span }

// share returns the number of ordinary scopes of chunk i: almost the same for all.
func (p *plan) share(i int64) int {
	return int(p.ordinary*(i+1)/p.chunks - p.ordinary*i/p.chunks)
}

// lastOf returns the last chunk of the P that owns chunk i.
func (p *plan) lastOf(i int64) int64 { return i + owners*((p.chunks-1-i)/owners) }

// place returns the position of chunk i in the file. In a ring it depends on the wrapping.
func (p *plan) place(i int64) int64 {
	if p.Shape != Ring {
		return p.first + i
	}
	places := p.chunks + 1 // one contains blocks
	return 2 + (p.number+i)%places
}

// loc returns the location by which records refer to each other.
func (p *plan) loc(i int64, off int) format.Loc {
	n := p.place(i)
	if p.Shape == Ring {
		n = p.number + i
	}
	return format.Loc(n*format.ChunkSize + int64(off))
}

// Write writes the trace, using all processors, and returns its size.
func (t Trace) Write(w io.WriterAt) (size int64, err error) {
	p, err := t.plan()
	if err != nil {
		return 0, err
	}
	if err := p.head(w); err != nil {
		return 0, err
	}
	var next atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	errs := make(chan error)
	for range workers {
		go func() { errs <- p.write(w, &next) }()
	}
	for range workers {
		err = errors.Join(err, <-errs)
	}
	size = (p.first + p.chunks) * format.ChunkSize
	switch t.Shape {
	case Killed:
		size += window * format.ChunkSize
		_, e := w.WriteAt([]byte{0}, size-1)
		err = cmp.Or(err, e)
	case Cut:
		size = p.cutAt()
	}
	return size, err
}

// cutAt returns the size of the file of Cut, which ends within a record of its last chunk.
func (p *plan) cutAt() int64 {
	return (p.first+p.chunks-1)*format.ChunkSize + format.ChunkHeaderSize + room/2*format.RecordSize + 13
}

// write builds and writes chunks until none is left.
func (p *plan) write(w io.WriterAt, next *atomic.Int64) error {
	m := maker{plan: p}
	b := make([]byte, batch*format.ChunkSize)
	for {
		from := next.Add(batch) - batch
		if from >= p.chunks {
			return nil
		}
		clear(b)
		begin, n := int64(0), 0 // contiguous bytes in the file
		for i := from; i < min(from+batch, p.chunks); i++ {
			at := p.place(i) * format.ChunkSize
			if n > 0 && at != begin+int64(n) {
				if _, err := w.WriteAt(b[:n], begin); err != nil {
					return err
				}
				clear(b[:n])
				n = 0
			}
			if n == 0 {
				begin = at
			}
			m.chunk(b[n:n+format.ChunkSize], i)
			n += format.ChunkSize
		}
		if p.Shape == Cut && from+batch >= p.chunks {
			n = int(p.cutAt() - begin)
		}
		if _, err := w.WriteAt(b[:n], begin); err != nil {
			return err
		}
	}
}

// Bytes returns the trace.
func (t Trace) Bytes() ([]byte, error) {
	p, err := t.plan()
	if err != nil {
		return nil, err
	}
	m := make(memory, (p.first+p.chunks+window)*format.ChunkSize)
	n, err := t.Write(m)
	return m[:n], err
}

// memory is a file in memory.
type memory []byte

func (m memory) WriteAt(b []byte, off int64) (int, error) { return copy(m[off:], b), nil }

// head writes the file header and the blocks.
func (p *plan) head(w io.WriterAt) error {
	h := format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: 4711,
		Clock: format.ClockTSC, Path: format.PathAssembly, Backing: format.BackingDisk, Witness: 7,
		StartTicks: p.started, StartMono: 5e9, StartWall: 1_700_000_000e9, TickRate: p.rate,
	}
	if p.rate == 1e9 {
		h.Clock = format.ClockMonotonic
	}
	copy(h.ID[:], p.Shape)
	binary.LittleEndian.PutUint64(h.ID[8:], p.Seed)
	s := format.State{Closed: true, Tick: p.end() + 1, End: (p.first + p.chunks) * format.ChunkSize}
	if p.killed() {
		s.Closed, s.Tick = false, p.end()-p.span
	}
	if p.Shape == Ring {
		h.Ring = uint32(p.chunks + 1)
		s.Overwritten, s.Until = (p.number-1)*p.perChunk, p.begin
	}
	b := make([]byte, format.ChunkSize*p.first)
	format.AppendHeader(b[:0], &h)
	format.PutState(b[format.StateOffset:], &s)
	if p.Shape == Ring {
		once, others := format.ChunkHeader{Index: 1, Flags: format.FlagKept}, format.ChunkHeader{Index: uint32(p.place(-1)), Number: uint32(p.number - 1)}
		p.blocks(b[format.ChunkSize:], &once, append(p.facts(), p.stop()))
		p.blocks(b[2*format.ChunkSize:], &others, append(p.calibs(), p.carryBlocks()...))
		if _, err := w.WriteAt(b[2*format.ChunkSize:], p.place(-1)*format.ChunkSize); err != nil {
			return err
		}
		b = b[:2*format.ChunkSize]
	} else {
		all := append(p.facts(), p.calibs()...)
		if !p.killed() {
			all = append(all, p.stop())
		}
		p.blocks(b[format.ChunkSize:], &format.ChunkHeader{Index: 1}, all)
	}
	_, err := w.WriteAt(b, 0)
	return err
}

// killed reports whether the recording was killed.
func (p *plan) killed() bool { return p.Shape == Killed || p.Shape == Cut }
