package snapshot

import (
	"encoding/binary"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// model is a model of the recorder, store by store. It is the source of snapshots: it goes on
// writing while it is read.
type model struct {
	rnd   *rand.Rand
	image []byte
	ring  int  // chunks; 0: none
	goes  bool // several goroutines write to one chunk: the Go path
	speed int  // stores for every two hundred words that are read, and twice that in bursts

	now     int64
	places  int // handed out so far, the header's too
	number  uint32
	used    map[int]*modelChunk // by place
	keptNow int
	free    []int // places of the ring that are zeroed
	owners  [3]*modelChunk
	blocks  [2]*modelChunk // of the ring, kept
	ops     []*op          // being stored
	queues  [2][]*op       // of their blocks, and of chunks to be zeroed: one after the other
	names   int
	open    []*modelScope

	byNumber map[uint32]*modelChunk
	truth    map[int64]*modelScope
	issued   int64 // records, those lost included
	state    format.State
}

type modelChunk struct {
	place  int
	number uint32
	at     int // offset of the next record
	busy   int // ops that store into it
	kind   format.ChunkKind
	kept   bool
	sealed bool
	final  bool
	since  int64
	gone   bool // overwritten, or about to be
	scopes []*modelScope
	carry  []*modelScope // scopes with a carry in it
}

type modelScope struct {
	loc         int64
	start, stop int64 // stop 0: open
	head, cpu   uint64
	apart       bool // it ended, or will end, apart
	chunk       *modelChunk
	endIn       *modelChunk // chunk of its end, if apart
}

// op is a sequence of stores between which other ops store.
type op struct {
	stores []store
	chunk  *modelChunk
	owner  int
	done   func()
}

type store struct {
	off int
	val uint64
}

const modelChunkSize = 4096

func newModel(seed uint64, ring int, goes bool, speed int) *model {
	m := &model{rnd: rand.New(rand.NewPCG(seed, 7)), ring: ring, goes: goes, speed: speed, image: make([]byte, 2500*modelChunkSize),
		now: 2000, places: 1, used: map[int]*modelChunk{}, truth: map[int64]*modelScope{}, byNumber: map[uint32]*modelChunk{}}
	h := format.Header{Major: format.Major, Minor: format.Minor, ChunkSize: modelChunkSize, PageSize: 4096, PID: 1, Clock: format.ClockMonotonic,
		Path: format.PathAssembly, Backing: format.BackingDisk, StartTicks: 1000, TickRate: 1e9, Ring: uint32(ring)}
	if goes {
		h.Path = format.PathGo
	}
	copy(m.image, format.AppendHeader(nil, &h))
	return m
}

// run makes n stores.
func (m *model) run(n int) {
	for range n {
		m.step()
	}
}

func (m *model) step() {
	m.now++
	if m.now%16 == 0 {
		m.recycle()
	}
	for len(m.ops) < 3 {
		m.begin()
	}
	for i := range m.queues {
		if q := m.queues[i]; len(q) > 0 && m.rnd.IntN(3) == 0 && m.store(q[0]) {
			m.queues[i] = m.queues[i][1:]
		}
	}
	i := m.rnd.IntN(len(m.ops))
	if o := m.ops[i]; m.store(o) {
		m.ops = slices.DeleteFunc(m.ops, func(x *op) bool { return x == o })
	}
}

// store makes the next store of an op.
func (m *model) store(o *op) (over bool) {
	s := o.stores[0]
	binary.LittleEndian.PutUint64(m.image[s.off:], s.val)
	if o.stores = o.stores[1:]; len(o.stores) > 0 {
		return false
	}
	if o.chunk != nil {
		o.chunk.busy--
	}
	if o.done != nil {
		o.done()
	}
	return true
}

func (m *model) word(off int, v int64) {
	binary.LittleEndian.PutUint64(m.image[off:], uint64(v))
}

// loc returns the Loc of the place at in the chunk.
func (m *model) loc(k *modelChunk, at int) int64 {
	if m.ring > 0 {
		return int64(k.number)*modelChunkSize + int64(at)
	}
	return int64(k.place)*modelChunkSize + int64(at)
}

// recycle begins to overwrite the oldest chunk, if it will be needed soon.
func (m *model) recycle() {
	if m.ring == 0 || len(m.free) > 4 || len(m.queues[0]) > 0 {
		return
	}
	var oldest *modelChunk
	ring := 0
	for _, k := range m.used {
		if !k.kept {
			if ring++; k.final && k.busy == 0 && (oldest == nil || k.number < oldest.number) {
				oldest = k
			}
		}
	}
	if ring+len(m.free) < m.ring-4 || oldest == nil {
		return
	}
	for _, s := range append(oldest.scopes, oldest.carry...) {
		if s.stop == 0 {
			m.queueCarry(s)
		}
	}
	base := oldest.place * modelChunkSize
	var n int64
	if oldest.kind == format.ChunkRecords {
		n = count(&chunks.Chunk{Bytes: m.image[base:][:modelChunkSize], Had: modelChunkSize})
	}
	var zeros []store
	for off := 8; off < modelChunkSize; off += 8 {
		zeros = append(zeros, store{base + off, 0})
	}
	// Nothing lies between the word and the first store of zeros: see account.
	m.queues[0] = append(m.queues[0], &op{stores: []store{{format.StateOffset + format.StateUntil, uint64(m.now)}}, done: func() {
		m.state.Overwritten += n
		m.word(format.StateOffset+format.StateOverwritten, m.state.Overwritten)
		m.word(base, 0)
		oldest.gone = true
	}}, &op{stores: zeros, done: func() {
		delete(m.used, oldest.place)
		m.free = append(m.free, oldest.place)
	}})
}

// take hands out a chunk; nil if there is none.
func (m *model) take(kind format.ChunkKind, owner int, kept bool) *modelChunk {
	k := &modelChunk{at: format.ChunkHeaderSize, kind: kind, kept: kept, since: m.now}
	switch inRing := len(m.used) - m.keptNow; {
	case m.ring > 0 && !kept && 0 < len(m.free) && len(m.free) <= 2 && kind == format.ChunkRecords:
		return nil // kept for blocks, which record what is overwritten
	case m.ring > 0 && !kept && len(m.free) > 0:
		k.place, m.free = m.free[0], m.free[1:]
	case m.ring > 0 && !kept && (inRing+len(m.free) >= m.ring || kind == format.ChunkRecords && inRing+len(m.free) >= m.ring-4):
		return nil
	default:
		k.place = m.places
		m.places++
	}
	h := format.ChunkHeader{Kind: kind, Path: format.PathAssembly, Index: uint32(k.place), Owner: uint32(owner), Since: m.now, Gen: 1}
	if m.goes {
		h.Path = format.PathGo
	}
	if kept && m.ring > 0 {
		h.Flags |= format.FlagKept
	} else if m.ring > 0 {
		m.number++
		k.number, h.Number = m.number, m.number
		m.byNumber[k.number] = k
	}
	if kind == format.ChunkRecords {
		h.Flags |= format.FlagEnds
	}
	m.used[k.place] = k
	if kept {
		m.keptNow++
	}
	var b [format.ChunkHeaderSize]byte
	format.PutChunkHeader(b[:], &h)
	var ss []store
	for i := len(b) - 8; i >= 0; i -= 8 {
		ss = append(ss, store{k.place*modelChunkSize + i, binary.LittleEndian.Uint64(b[i:])})
	}
	for _, s := range ss {
		binary.LittleEndian.PutUint64(m.image[s.off:], s.val)
	}
	return k
}

// flush seals chunks, marks them as final, or writes the state.
func (m *model) flush() {
	for _, k := range m.used {
		if k.sealed && !k.final && k.busy == 0 && m.rnd.IntN(2) == 0 {
			k.final = true
			off := k.place*modelChunkSize + format.ChunkFlagsOffset
			binary.LittleEndian.PutUint32(m.image[off:], binary.LittleEndian.Uint32(m.image[off:])|format.FlagFinal)
		}
	}
	m.state.Tick, m.state.End = m.now, int64(m.places)*modelChunkSize
	m.word(format.StateOffset+format.StateTick, m.state.Tick)
	m.word(format.StateOffset+format.StateEnd, m.state.End)
}

func (m *model) seal(k *modelChunk) {
	k.sealed = true
	m.word(k.place*modelChunkSize+format.ChunkSealedOffset, int64(k.at))
}

// ReadAt reads the model as a file.
func (m *model) ReadAt(b []byte, off int64) (int, error) {
	n := min(int64(len(b)), int64(m.places+2)*modelChunkSize-off)
	if n <= 0 {
		return 0, io.EOF
	}
	backwards := m.rnd.IntN(2) == 0 // a copy may read bytes in any order
	for i := int64(0); i < n; i += 8 {
		j := i
		if backwards {
			j = (n - 1 - i) &^ 7
		}
		copy(b[j:n], m.image[off+j:min(off+j+8, off+n)])
		switch n := m.rnd.IntN(5000); {
		case n < m.speed:
			m.run(100) // the reader was off the CPU
		case n < 25*m.speed:
			m.step()
		}
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func (m *model) Name() string               { return "model.scope" }
func (m *model) Stat() (fs.FileInfo, error) { return m, nil }
func (m *model) Size() int64                { return int64(m.places+2) * modelChunkSize }
func (m *model) Mode() fs.FileMode          { return 0 }
func (m *model) ModTime() time.Time         { return time.Time{} }
func (m *model) IsDir() bool                { return false }
func (m *model) Sys() any                   { return nil }
