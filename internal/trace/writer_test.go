package trace_test

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// store is one store of eight bytes by a writer.
type store struct {
	off int64
	val uint64
}

// scope is a scope that a writer recorded: the truth with which a reader is compared.
type scope struct {
	start, stop int64
	cpu         uint64
	goid, endBy uint64
	name        uint16
	arg, endArg uint64 // 0: none
	thread      uint32
	instant     bool
}

// writer is a model of the recorder, store by store: several goroutines are somewhere in a record
// at any time. Readers read its image.
type writer struct {
	rnd   *rand.Rand
	image []byte
	size  int64
	now   int64
	chunk int64 // chunks handed out
	at    []int64
	since map[int64]int64
	final map[int64]bool
	old   []int64 // sealed and not final
	ops   []*op   // being stored
	names int
	nblk  int64 // place of the next block
	truth map[int64]*scope
	ended int
	begun []located // and not ending
}

// op is a sequence of stores between which other writers store.
type op struct {
	stores []store
	chunks []int64 // chunks that it stores into: they do not become final meanwhile
	first  func()  // before the first store; may be nil
	done   func()
}

const (
	simChunk  = 4096
	simOwners = 3
)

func newWriter(seed uint64) *writer {
	w := &writer{rnd: rand.New(rand.NewPCG(seed, 1)), image: make([]byte, 2048*simChunk), now: 1000, chunk: 1,
		at: make([]int64, simOwners), since: map[int64]int64{}, final: map[int64]bool{}, truth: map[int64]*scope{}}
	h := format.Header{Major: format.Major, ChunkSize: simChunk, PageSize: 4096, PID: 1, Clock: format.ClockTSC, Path: format.PathAssembly,
		Backing: format.BackingDisk, StartTicks: 1000, TickRate: 1e9}
	copy(w.image, format.AppendHeader(nil, &h))
	w.size = simChunk
	w.now = 2000
	off := w.take(format.ChunkBlocks, 0)
	w.nblk = off + format.ChunkHeaderSize
	return w
}

// take hands out a chunk; its header is stored at once, the magic last.
func (w *writer) take(k format.ChunkKind, owner int) int64 {
	off := w.chunk * simChunk
	w.chunk++
	w.size = max(w.size, off+simChunk*int64(1+w.rnd.IntN(3)))
	var b [format.ChunkHeaderSize]byte
	format.PutChunkHeader(b[:], &format.ChunkHeader{Kind: k, Path: format.PathAssembly, Index: uint32(off / simChunk), Owner: uint32(owner), Since: w.now, Gen: 1})
	var ss []store
	for i := len(b) - 8; i >= 0; i -= 8 {
		ss = append(ss, store{off + int64(i), binary.LittleEndian.Uint64(b[i:])})
	}
	w.all(ss)
	return off
}

func (w *writer) all(ss []store) {
	for _, s := range ss {
		binary.LittleEndian.PutUint64(w.image[s.off:], s.val)
	}
}

// step makes one store.
func (w *writer) step() {
	w.now++
	for len(w.ops) < 3 {
		w.begin()
	}
	i := w.rnd.IntN(len(w.ops))
	o := w.ops[i]
	w.all(o.stores[:1])
	if o.stores = o.stores[1:]; len(o.stores) == 0 {
		w.ops = append(w.ops[:i], w.ops[i+1:]...)
		o.done()
	}
}

// begin starts an op.
func (w *writer) begin() {
	owner := w.rnd.IntN(simOwners)
	switch n := w.rnd.IntN(20); {
	case n == 0:
		w.flush()
	case n < 9 && w.end(owner):
	default:
		w.record(owner, n > 17)
	}
}

// place finds room in the owner's chunk, in a new one if needed.
func (w *writer) place(owner, bytes int) int64 {
	at := w.at[owner]
	if at == 0 || (at-1)%simChunk+1+int64(bytes) > simChunk {
		if at != 0 {
			// Sealed at once; a writer may still be in the middle of a record there.
			chunk := (at - 1) / simChunk * simChunk
			used := at - chunk
			w.all([]store{{chunk + format.ChunkSealedOffset, uint64(used)}})
			w.old = append(w.old, chunk)
		}
		at = w.take(format.ChunkRecords, owner) + format.ChunkHeaderSize
		r := format.Record{Start: w.now, Stop: int64(100 + owner), Head: format.Head(0, format.KindAnchor, false, 0)}
		w.all(words(at, &r, nil))
		at += format.RecordSize
	}
	w.at[owner] = at + int64(bytes)
	return at
}

// words returns the stores of a record in the order of the protocol.
func words(at int64, r *format.Record, ext []byte) []store {
	var ss []store
	for i := 0; i < len(ext); i += 8 {
		ss = append(ss, store{at + format.RecordSize + int64(i), binary.LittleEndian.Uint64(ext[i:])})
	}
	return append(ss, store{at + 16, r.Head}, store{at + 24, r.CPU}, store{at + 8, uint64(r.Stop)}, store{at, uint64(r.Start)})
}

func (w *writer) record(owner int, instant bool) {
	w.now++
	s := &scope{start: w.now, stop: -1, goid: uint64(7 + w.rnd.IntN(4)), instant: instant}
	if w.names == 0 || w.rnd.IntN(40) == 0 {
		w.name()
	}
	s.name = uint16(format.FirstName + w.rnd.IntN(w.names))
	var ext []byte
	if w.rnd.IntN(2) == 0 {
		// Values that a wrong reader would take for a record's start.
		s.arg = uint64(w.now)
		ext, _ = format.AppendExt(nil, []format.Slot{{Type: format.SlotInt, Value: s.arg}, {Type: format.SlotInt, Value: s.arg}, {Type: format.SlotInt, Value: s.arg},
			{Type: format.SlotInt, Value: s.arg}, {Type: format.SlotInt, Value: s.arg}})
	}
	at := w.place(owner, format.RecordSize+len(ext))
	s.thread = uint32(100 + owner)
	r := format.Record{Start: s.start, Stop: format.OpenStop(s.thread, 5, 6), CPU: 0xdead, Head: format.Head(s.goid, format.KindTask, ext != nil, s.name)}
	if instant {
		r.Head = format.Head(s.goid, format.KindEvent, ext != nil, s.name)
		r.Stop, r.CPU = 0, 0
		s.stop = s.start
	}
	w.ops = append(w.ops, &op{stores: words(at, &r, ext), chunks: []int64{at / simChunk * simChunk}, done: func() {
		w.truth[at] = s
		if instant {
			w.ended++
		} else {
			w.begun = append(w.begun, located{at, s})
		}
	}})
}

// end begins to end some scope; false if there is none.
func (w *writer) end(owner int) bool {
	for i, b := range w.begun {
		if w.rnd.IntN(3) > 0 {
			continue
		}
		sc, loc := b.s, b.loc
		w.begun = slices.Delete(w.begun, i, i+1)
		w.now++
		stop, cpu := w.now, uint64(w.now-sc.start)<<2|uint64(format.Likely)
		chunk := loc / simChunk * simChunk
		done := func() { sc.stop, sc.cpu = stop, cpu; w.ended++ }
		if !w.final[chunk] && w.rnd.IntN(4) > 0 {
			w.ops = append(w.ops, &op{stores: []store{{loc + 24, cpu}, {loc + 8, uint64(stop)}}, chunks: []int64{chunk}, done: done})
			return true
		}
		sc.endBy = uint64(7 + w.rnd.IntN(4))
		sc.endArg = uint64(stop)
		ext, _ := format.AppendExt(nil, []format.Slot{{Type: format.SlotLoc, Value: uint64(loc)}, {Type: format.SlotGoid, Value: sc.goid}, {Type: format.SlotInt, Value: sc.endArg}})
		at := w.place(owner, format.RecordSize+len(ext))
		r := format.Record{Start: stop, Stop: sc.start, CPU: cpu, Head: format.Head(sc.endBy, format.KindEnd, true, sc.name)}
		flags := at/simChunk*simChunk + 24
		was := binary.LittleEndian.Uint64(w.image[flags:])
		w.all([]store{{flags, was | format.FlagEnds<<32}})
		w.ops = append(w.ops, &op{stores: words(at, &r, ext), chunks: []int64{at / simChunk * simChunk}, done: done})
		return true
	}
	return false
}

type located struct {
	loc int64
	s   *scope
}

// flush makes a sealed chunk final, if no store into it is pending.
func (w *writer) flush() {
	for i, c := range w.old {
		busy := false
		for _, o := range w.ops {
			for _, b := range o.chunks {
				busy = busy || b == c
			}
		}
		if !busy {
			flags := c + 24
			was := binary.LittleEndian.Uint64(w.image[flags:])
			w.all([]store{{flags, was | format.FlagFinal<<32}})
			w.final[c] = true
			w.old = append(w.old[:i], w.old[i+1:]...)
			return
		}
	}
}

// name writes a name block, its first word last.
func (w *writer) name() {
	id := uint16(format.FirstName + w.names)
	b := format.AppendBlock(nil, format.BlockName, format.AppendName(nil, id, simName(id)))
	for i := len(b) - 8; i >= 0; i -= 8 {
		w.all([]store{{w.nblk + int64(i), binary.LittleEndian.Uint64(b[i:])}})
	}
	w.nblk += int64(len(b))
	w.names++
}

func simName(id uint16) string { return "name " + string(rune('A'+id)) }

// settle finishes everything that was begun, and closes the trace if closeIt is set.
func (w *writer) settle(closeIt bool) {
	for len(w.ops) > 0 {
		o := w.ops[0]
		w.ops = w.ops[1:]
		w.all(o.stores)
		o.done()
	}
	if closeIt {
		b := format.AppendBlock(nil, format.BlockStop, format.AppendTicks(nil, w.now))
		copy(w.image[w.nblk:], b)
		binary.LittleEndian.PutUint64(w.image[format.StateOffset+format.StateClosed:], 1)
		w.size = w.chunk * simChunk
	}
}

// tearing reads the image while the writers go on: words are copied in any order, with stores in
// between.
type tearing struct{ w *writer }

// inAnyOrder returns the order in which n words are copied: forwards, backwards, or any.
func inAnyOrder(rnd *rand.Rand, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	switch rnd.IntN(3) {
	case 0:
		rnd.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	case 1:
		slices.Reverse(order)
	}
	return order
}

func (r tearing) ReadAt(p []byte, off int64) (int, error) {
	w := r.w
	n := 0
	if off < w.size {
		n = int(min(int64(len(p)), w.size-off))
	}
	for _, i := range inAnyOrder(w.rnd, (n+7)/8) {
		if w.names > 0 && w.rnd.IntN(8) == 0 && w.nblk%simChunk < simChunk-256 && w.chunk < 1500 {
			w.step()
		}
		copy(p[8*i:n], w.image[off+int64(8*i):])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
