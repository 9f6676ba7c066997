package tracetest

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// Bomb is a file that is expensive to read.
type Bomb struct {
	Name string
	Data []byte
}

// Bombs returns files of about size bytes each that claim large sizes, repeat definitions,
// refer to each other in cycles, or are as expensive to read as the format allows.
func Bombs(size int) (list []Bomb) {
	for _, b := range bombs {
		m := &maker{size: size, chunk: 64 << 10, header: format.Header{
			Major: format.Major, Minor: format.Minor, PageSize: 4096, PID: 1, Clock: format.ClockMonotonic, Path: format.PathGo,
			Backing: format.BackingHeap, StartTicks: 1000, StartMono: 1000, StartWall: 1_700_000_000e9, TickRate: 1e9,
		}}
		b.fill(m)
		list = append(list, Bomb{b.name, m.file()})
	}
	return list
}

// maker writes a file of size bytes.
type maker struct {
	size   int
	chunk  int
	header format.Header
	state  []int64 // its words
	since  int64   // of all chunks; 0: the start
	live   bool    // no chunk is final, and the trace is not closed
	b      []byte  // the chunks after the first
	kind   format.ChunkKind
	number uint32
	cut    int // remaining bytes of the file; 0: all
}

// full reports whether the file has its size.
func (m *maker) full() bool { return len(m.b)+m.chunk >= m.size }

// loc returns the location of the next record.
func (m *maker) loc() int64 {
	if m.header.Ring != 0 {
		return int64(m.number)*int64(m.chunk) + int64(len(m.b)%m.chunk)
	}
	return int64(m.chunk + len(m.b))
}

// room continues the current chunk if it is of that kind and has n bytes left, or begins a
// new one.
func (m *maker) room(kind format.ChunkKind, n int) {
	if used := len(m.b) % m.chunk; m.kind == kind && used != 0 && used+n <= m.chunk {
		return
	}
	m.b = append(m.b, make([]byte, -len(m.b)&(m.chunk-1))...)
	m.kind = kind
	h := format.ChunkHeader{Kind: kind, Path: m.header.Path, Index: uint32(len(m.b)/m.chunk + 1), Since: m.since, Gen: 1, Flags: format.FlagFinal | format.FlagEnds}
	if h.Since == 0 {
		h.Since = m.header.StartTicks
	}
	if m.live {
		h.Flags = 0
	}
	if m.header.Ring != 0 {
		m.number++
		h.Number = m.number
	}
	m.b = append(m.b, make([]byte, format.ChunkHeaderSize)...)
	format.PutChunkHeader(m.b[len(m.b)-format.ChunkHeaderSize:], &h)
}

func (m *maker) block(t format.BlockType, payload []byte) {
	b := format.AppendBlock(nil, t, payload)
	m.room(format.ChunkBlocks, len(b))
	m.b = append(m.b, b...)
}

func (m *maker) record(r format.Record, slots ...format.Slot) {
	b := format.AppendRecord(nil, &r)
	if len(slots) > 0 {
		b, _ = format.AppendExt(b, slots)
	}
	m.room(format.ChunkRecords, len(b))
	m.b = append(m.b, b...)
}

func (m *maker) file() []byte {
	m.header.ChunkSize = uint32(m.chunk)
	b := format.AppendHeader(nil, &m.header)
	b = append(b, make([]byte, m.chunk-len(b))...)
	words := m.state
	if words == nil && !m.live {
		words = []int64{1}
	}
	at := format.StateOffset
	for _, w := range words {
		for i := range 8 {
			b[at+i] = byte(w >> (8 * i))
		}
		at += 8
	}
	if b = append(b, m.b...); m.cut > 0 {
		b = append(b, make([]byte, max(m.cut-len(b), 0))...)[:m.cut]
	}
	return b
}

// head returns word 2 of a record.
func head(goid int, k format.Kind, ext bool, name int) uint64 {
	return format.Head(uint64(goid), k, ext, uint16(name))
}

const bombStart = 2000 // ticks of the first record

// task returns a scope of dur ticks.
func task(goid, name int, start, dur int64) format.Record {
	return format.Record{Start: start, Stop: start + dur, Head: head(goid, format.KindTask, false, name)}
}

func openTask(goid, name int, start int64) format.Record {
	return format.Record{Start: start, Stop: start | math.MinInt64, Head: head(goid, format.KindTask, false, name)}
}

// until returns a function that fills the file with parts i = 0, 1, … from f.
func until(f func(m *maker, i int)) func(*maker) {
	return func(m *maker) {
		for i := 0; !m.full(); i++ {
			f(m, i)
		}
	}
}

// some returns a function that fills a share of the file with first and the rest with then.
func some(share float64, first, then func(m *maker, i int)) func(*maker) {
	return func(m *maker) {
		for i := 0; float64(len(m.b)) < share*float64(m.size); i++ {
			first(m, i)
		}
		until(then)(m)
	}
}

func at(i int) int64 { return bombStart + int64(i) }

// nameText returns a name that no other id has.
func nameText(i, length int) string {
	s := fmt.Sprintf("%06d", i)
	return s + strings.Repeat("x", length-len(s))
}

var bombs = []struct {
	name string
	fill func(*maker)
}{
	// Wrong numbers.
	{"a header of the largest numbers", func(m *maker) {
		m.header.Limit, m.header.StartWall, m.header.StartMono, m.header.TickRate = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64
		m.state = []int64{1, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}
		until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })(m)
	}},
	{"a header of the smallest numbers", func(m *maker) {
		m.header.Limit, m.header.StartWall, m.header.StartMono, m.header.TickRate = math.MinInt64, math.MinInt64, math.MinInt64, 1
		m.state = []int64{0, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64}
		until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })(m)
	}},
	{"a ring of 2^32 chunks", func(m *maker) {
		m.header.Ring = math.MaxUint32
		until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })(m)
	}},
	{"a live ring of 2^32 chunks", func(m *maker) {
		m.header.Ring, m.live = math.MaxUint32, true
		until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })(m)
	}},
	{"chunks of 16 MiB, of which there is a page", func(m *maker) { m.chunk, m.cut = 16<<20, 4096 }},
	{"chunks of 16 MiB, of which there are two and a page", func(m *maker) {
		m.chunk, m.live = 16<<20, true
		m.block(format.BlockName, format.AppendName(nil, 2, "f"))
		m.record(task(1, 2, at(0), 1))
		m.cut = 2*m.chunk + 4096
	}},
	{"chunks of 4 KiB", func(m *maker) {
		m.chunk = 4096
		until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })(m)
	}},
	{"chunks of 4 KiB with a record each, none final", func(m *maker) {
		m.chunk, m.live = 4096, true
		until(func(m *maker, i int) { m.record(openTask(i, 2, at(i))); m.kind = 0 })(m)
	}},
	{"blocks that are longer than everything", func(m *maker) {
		until(func(m *maker, i int) {
			m.room(format.ChunkBlocks, m.chunk)
			b := format.AppendBlock(nil, format.BlockName, nil)
			b[0], b[1], b[2], b[3] = 0xf8, 0xff, 0xff, 0xff
			m.b = append(m.b, b...)
			m.kind = 0
		})(m)
	}},
	{"texts that are longer than their extension", until(func(m *maker, i int) {
		r := task(1, 2, at(i), 1)
		r.Head |= format.ExtBit
		m.record(r, format.Slot{Type: format.SlotString, Str: []byte("abc"), Full: math.MaxInt32})
		for j := range 4 {
			m.b[len(m.b)-24+j] = 0xff // bytes that are kept: 2^32-1
		}
	})},
	{"2^64 arguments that were cut", until(func(m *maker, i int) {
		r := task(1, 2, at(i), 1)
		r.Head |= format.ExtBit
		m.record(r, format.Slot{Type: format.SlotCut, Value: math.MaxUint64})
	})},
	{"extensions of the greatest length", until(func(m *maker, i int) {
		r := task(1, 2, at(i), 1)
		r.Head |= format.ExtBit
		var slots []format.Slot
		for range 7 {
			slots = append(slots, format.Slot{Type: format.SlotString, Str: []byte(nameText(i, 1024)), Full: 1 << 30})
		}
		m.record(r, slots...)
	})},
	{"times at their ends", until(func(m *maker, i int) {
		m.record(format.Record{Start: 1, Stop: format.MaxTicks - 1, Head: head(i%7, format.KindTask, false, 2), CPU: math.MaxUint64})
		m.record(format.Record{Start: format.MaxTicks - 1, Stop: math.MaxInt64, Head: head(i%5, format.KindTask, false, 2), CPU: math.MaxUint64 - 1})
	})},

	// Cyclic references.
	{"ends that end ends, and themselves", func(m *maker) {
		until(func(m *maker, i int) {
			loc := m.loc() + int64(i%3-1)*64
			m.record(format.Record{Start: at(i), Stop: at(i), Head: head(1, format.KindEnd, true, 2)},
				format.Slot{Type: format.SlotLoc, Value: uint64(loc)}, format.Slot{Type: format.SlotGoid, Value: 1})
		})(m)
	}},
	{"ends of one begin", func(m *maker) {
		loc := int64(m.chunk + format.ChunkHeaderSize)
		m.record(openTask(1, 2, at(0)))
		until(func(m *maker, i int) {
			m.record(format.Record{Start: at(i + 1), Stop: at(0), Head: head(1, format.KindEnd, true, 2)},
				format.Slot{Type: format.SlotLoc, Value: uint64(loc)}, format.Slot{Type: format.SlotGoid, Value: 1})
		})(m)
	}},
	{"ends of begins that a ring overwrote", func(m *maker) {
		m.header.Ring, m.number = 1<<20, 1<<20
		until(func(m *maker, i int) {
			m.record(format.Record{Start: at(i) + 1e6, Stop: at(i), Head: head(i, format.KindEnd, true, 2)},
				format.Slot{Type: format.SlotLoc, Value: uint64(m.chunk + 64 + 32*i)}, format.Slot{Type: format.SlotGoid, Value: uint64(i)},
				format.Slot{Type: format.SlotBegin, Value: head(i, format.KindTask, false, i)})
		})(m)
	}},
	{"carries of records that are gone, of one another, of themselves", func(m *maker) {
		m.header.Ring, m.number = 1<<20, 1<<10
		until(func(m *maker, i int) {
			c := format.Carry{Ticks: at(i), Loc: format.Loc(m.chunk + 64 + 32*i), Record: openTask(i, i, at(i))}
			if i%3 == 0 {
				c.Loc = format.Loc(m.loc()&^31 + 64)
			}
			m.block(format.BlockCarry, format.AppendCarry(nil, &c))
		})(m)
	}},
	{"carries of one record", func(m *maker) {
		m.header.Ring, m.number = 1<<20, 1<<10
		until(func(m *maker, i int) {
			c := format.Carry{Ticks: at(i), Loc: format.Loc(m.chunk + 64), Record: openTask(1, 2, at(0))}
			m.block(format.BlockCarry, format.AppendCarry(nil, &c))
		})(m)
	}},
	{"chunks of one number", func(m *maker) {
		m.header.Ring, m.chunk = 1<<20, 4096
		until(func(m *maker, i int) { m.number = 0; m.record(task(1, 2, at(i), 1)); m.kind = 0 })(m)
	}},
	{"chunks that lie backwards", func(m *maker) {
		m.header.Ring, m.chunk = 1<<20, 4096
		until(func(m *maker, i int) { m.number = uint32(1<<20 - i); m.record(task(1, 2, at(i), 1)); m.kind = 0 })(m)
	}},
	{"goroutines that made one another", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: at(i), CPU: uint64(1 + (i+1)%1000), Head: head(1+i%1000, format.KindGo, false, 2)})
	})},

	// Blocks.
	{"names", until(func(m *maker, i int) { m.block(format.BlockName, format.AppendName(nil, uint16(i), "")) })},
	{"names backwards", until(func(m *maker, i int) { m.block(format.BlockName, format.AppendName(nil, uint16(65535-i), "n")) })},
	{"the last name alone", func(m *maker) {
		m.chunk = 4096
		m.block(format.BlockName, format.AppendName(nil, 65535, "n"))
	}},
	{"long names", until(func(m *maker, i int) { m.block(format.BlockName, format.AppendName(nil, uint16(i), nameText(i, 1024))) })},
	{"a name recorded again and again", until(func(m *maker, i int) { m.block(format.BlockName, format.AppendName(nil, 2, nameText(i, 8))) })},
	{"facts", until(func(m *maker, i int) { m.block(format.BlockInfo, format.AppendInfo(nil, "", "")) })},
	{"notes", until(func(m *maker, i int) { m.block(format.BlockNote, format.AppendNote(nil, at(i), "")) })},
	{"gaps", until(func(m *maker, i int) {
		m.block(format.BlockGap, format.AppendGap(nil, &format.Gap{From: at(i), To: at(i) + 1, Count: math.MaxInt64, Reason: format.Loss(i)}))
	})},
	{"stops", until(func(m *maker, i int) { m.block(format.BlockStop, format.AppendTicks(nil, at(i))) })},
	{"calibrations", func(m *maker) {
		m.header.Clock, m.header.TickRate = format.ClockTSC, 1
		until(func(m *maker, i int) {
			m.block(format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: at(3 * i), Mono: at(2*i + i&1), Wall: at(i)}))
		})(m)
	}},
	{"heartbeats", until(func(m *maker, i int) { m.block(format.BlockBeat, format.AppendBeat(nil, at(i), nil)) })},
	{"heartbeats that follow each other from chunk to chunk", func(m *maker) {
		m.chunk = m.size / 4
		each := (m.chunk - format.ChunkHeaderSize) / 24
		until(func(m *maker, i int) { m.block(format.BlockBeat, format.AppendBeat(nil, at(i%each*3+i/each), nil)) })(m)
	}},
	{"heartbeats of a value", until(func(m *maker, i int) {
		m.block(format.BlockBeat, format.AppendBeat(nil, at(i), []format.FieldValue{{Field: format.Field(i), Value: math.MaxInt64}}))
	})},
	{"a heartbeat of all values", until(func(m *maker, i int) {
		vs := make([]format.FieldValue, 4000)
		for j := range vs {
			vs[j] = format.FieldValue{Field: format.Field(j % 60), Value: math.MinInt64 + int64(j&1)}
		}
		m.block(format.BlockBeat, format.AppendBeat(nil, at(0), vs))
	})},
	{"threads", until(func(m *maker, i int) {
		m.block(format.BlockThread, format.AppendThreads(nil, at(i), []format.Thread{{ID: int64(i), CPU: math.MaxInt64, Wait: -1}}))
	})},
	{"blocks of unknown types", until(func(m *maker, i int) { m.block(format.BlockType(100+i), nil) })},
	{"blocks that make no sense, each in its own way", until(func(m *maker, i int) { m.block(format.BlockStop, format.AppendTicks(nil, -at(i))) })},
	{"blocks whose checksums are wrong", until(func(m *maker, i int) {
		m.block(format.BlockType(i), nil)
		m.b[len(m.b)-6] ^= 1
	})},
	{"frames", until(func(m *maker, i int) {
		m.block(format.BlockFrame, format.AppendFrame(nil, &format.Frame{ID: uint32(i)}))
	})},
	{"stacks of nothing", until(func(m *maker, i int) {
		m.block(format.BlockStack, format.AppendStack(nil, &format.Stack{ID: uint32(1 + i)}))
	})},
	{"counts of what is not known", until(func(m *maker, i int) {
		m.block(format.BlockCount, format.AppendCounts(nil, at(i), []format.Count{{Name: uint16(i), Stack: uint32(1 + i>>4), Calls: math.MaxInt64, Weight: math.MinInt64}}))
	})},
	{"many names of one deep stack", some(0.02, deepStack(1, false), func(m *maker, i int) {
		cs := make([]format.Count, 100)
		for j := range cs {
			cs[j] = format.Count{Name: uint16(100*i + j), Stack: 1, Calls: 1, Weight: 1}
		}
		m.block(format.BlockCount, format.AppendCounts(nil, at(i), cs))
	})},
	{"deep stacks of functions that were all inlined", func(m *maker) {
		for i := range 1000 {
			f := format.Frame{ID: uint32(i), Function: nameText(i, 100), File: "f", Line: uint32(i), Inlined: true}
			m.block(format.BlockFrame, format.AppendFrame(nil, &f))
		}
		until(func(m *maker, i int) {
			s := format.Stack{ID: uint32(1 + i)}
			for j := range 1000 {
				s.Frames = append(s.Frames, uint32((i+j)%1000))
			}
			m.block(format.BlockStack, format.AppendStack(nil, &s))
			m.block(format.BlockCount, format.AppendCounts(nil, at(i), []format.Count{{Name: 2, Stack: s.ID, Calls: 1, Weight: 1}}))
		})(m)
	}},
	{"Go traces of nothing", until(func(m *maker, i int) {
		m.block(format.BlockGoTrace, format.AppendGoTrace(nil, uint32(1+i), 0, nil))
	})},
	{"parts of a Go trace, the last one first", until(func(m *maker, i int) {
		m.block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, uint32(m.size-i), nil))
	})},
	{"parts of a Go trace that lie a chunk apart each", func(m *maker) {
		m.chunk = m.size / 4
		each := (m.chunk - format.ChunkHeaderSize) / 32
		until(func(m *maker, i int) { // the next part is in the next chunk, and after the last chunk in the first
			m.block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, uint32(i%each*3+i/each), []byte{1}))
		})(m)
	}},
	{"switches of a thread each", until(func(m *maker, i int) {
		m.block(format.BlockSwitch, format.AppendSwitches(nil, &format.Switches{Thread: uint32(i), Base: at(i), Until: at(i)}))
	})},
	{"as many switches as there may be", until(func(m *maker, i int) {
		s := format.Switches{Thread: 1, Base: at(i), Until: at(i), List: make([]format.Switch, m.chunk-200)}
		for j := range s.List {
			s.List[j] = format.Switch{Time: s.Base, How: format.SwitchKind(j & 1)}
		}
		m.block(format.BlockSwitch, format.AppendSwitches(nil, &s))
	})},
	{"more switches than there may be", func(m *maker) {
		m.chunk = m.size / 2
		until(func(m *maker, i int) {
			m.block(format.BlockSwitch, append(format.AppendSwitches(nil, &format.Switches{Thread: 1, Base: at(i), Until: at(i)}), make([]byte, m.chunk-200)...))
		})(m)
	}},
	{"samples of a counter each", until(func(m *maker, i int) {
		m.block(format.BlockSamples, format.AppendSamples(nil, &format.Samples{Thread: 1, Base: at(i), Until: at(i), Lost: math.MaxInt64, Counter: fmt.Sprint(i)}))
	})},
	{"samples of a thread each", until(func(m *maker, i int) {
		m.block(format.BlockSamples, format.AppendSamples(nil, &format.Samples{Thread: uint32(i), Base: at(i), Until: at(i), Counter: "c"}))
	})},
	{"as many samples as there may be", until(func(m *maker, i int) {
		s := format.Samples{Thread: 1, Base: at(i), Until: at(i), Counter: "c", List: make([]format.CodeSample, min(format.MaxSamples, (m.chunk-200)/4))}
		for j := range s.List {
			s.List[j].Time = s.Base
		}
		m.block(format.BlockSamples, format.AppendSamples(nil, &s))
	})},
	{"more samples than there may be", func(m *maker) {
		m.chunk = m.size / 2
		until(func(m *maker, i int) {
			m.block(format.BlockSamples, append(format.AppendSamples(nil, &format.Samples{Base: at(i), Until: at(i), Counter: "c"}), make([]byte, m.chunk-200)...))
		})(m)
	}},
	{"addresses of a stack each", until(func(m *maker, i int) {
		m.block(format.BlockCode, format.AppendCode(nil, &format.Code{Stack: uint32(format.CodeStacks + i)}))
	})},
	{"addresses of deep stacks", until(func(m *maker, i int) {
		m.block(format.BlockCode, format.AppendCode(nil, &format.Code{Stack: uint32(format.CodeStacks + i), PCs: make([]uint64, min(format.MaxStackFrames, m.chunk-200))}))
	})},
	{"files of a part each", until(func(m *maker, i int) {
		m.block(format.BlockFile, format.AppendFilePart(nil, &format.FilePart{File: uint32(1 + i), Length: 1, Size: 1, Name: "f", Data: []byte{1, 1, 0, 0xfe, 0xff, 'x'}}))
	})},
	{"parts of a file that lie at one place", until(func(m *maker, i int) {
		m.block(format.BlockFile, format.AppendFilePart(nil, &format.FilePart{File: 1, Length: 1, Size: format.MaxFile, Name: "f", Data: []byte{1, 1, 0, 0xfe, 0xff, 'x'}}))
	})},
	{"parts of a file that inflate to a thousand times their size", func(m *maker) {
		var zeros bytes.Buffer
		w, _ := flate.NewWriter(&zeros, 9)
		_, _ = w.Write(make([]byte, format.MaxFilePart))
		_ = w.Close()
		until(func(m *maker, i int) {
			m.block(format.BlockFile, format.AppendFilePart(nil, &format.FilePart{File: 1, Offset: int64(i) * format.MaxFilePart, Length: format.MaxFilePart, Size: format.MaxFile, Name: "f", Data: zeros.Bytes()}))
		})(m)
	}},
	{"locks of an address each", until(func(m *maker, i int) {
		m.block(format.BlockLock, format.AppendLockSums(nil, &format.LockSums{Ticks: at(i), Addr: uint64(i), Name: uint16(i), Acquired: math.MaxInt64,
			Contended: math.MaxInt64, Short: math.MaxInt64, ShortWait: math.MaxInt64}))
	})},

	// Records.
	{"tasks", until(func(m *maker, i int) { m.record(task(1, 2, at(2*i), 1)) })},
	{"tasks of a name each", until(func(m *maker, i int) { m.record(task(1, i, at(2*i), 1)) })},
	{"processes of a name each", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(2 * i), Stop: at(2*i) + 1, Head: head(1, format.KindProcess, false, i)})
	})},
	{"tasks of a goroutine each", until(func(m *maker, i int) { m.record(task(i+1, 2, at(2*i), 1)) })},
	{"tasks of a goroutine each, all at once", until(func(m *maker, i int) { m.record(task(i+1, 2, at(i), 1e9)) })},
	{"open tasks of a goroutine each", until(func(m *maker, i int) { m.record(openTask(i+1, 2, at(i))) })},
	{"open tasks of one goroutine", until(func(m *maker, i int) { m.record(openTask(1, 2, at(i))) })},
	{"tasks in tasks", until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1e9-2*int64(i))) })},
	{"tasks that end in the order in which they began", until(func(m *maker, i int) { m.record(task(1, 2, at(i), 1e9)) })},
	{"tasks of unknown goroutines, all at once", until(func(m *maker, i int) { m.record(task(0, 2, at(i), 1e9)) })},
	{"tasks that began before their chunk", func(m *maker) {
		m.since = 1e9
		until(func(m *maker, i int) { m.record(task(1, 2, at(1e6-i), 1e9)) })(m)
	}},
	{"tasks that lie backwards", until(func(m *maker, i int) { m.record(task(1, 2, at(1e9-i), 5)) })},
	{"tasks in chunks that all began at once, none final", func(m *maker) {
		m.live, m.chunk = true, 4096
		until(func(m *maker, i int) { m.record(task(1, 2, at(i%97), 1)) })(m)
	}},
	{"pending events that all come at the end", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: 1e9 - int64(i), Head: head(i&7, format.KindPending, false, 2)})
	})},
	{"pending events that never come", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: at(i) | math.MinInt64, Head: head(1, format.KindPending, false, 2)})
	})},
	{"events of a name each", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Head: head(1, format.KindEvent, false, i)})
	})},
	{"counters of a name each", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: math.MaxInt64, CPU: uint64(format.SlotUint), Head: head(1, format.KindCounter, false, i)})
	})},
	{"counters of no numbers", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: int64(math.Float64bits(math.NaN())) + int64(i&1), CPU: uint64(format.SlotFloat), Head: head(1, format.KindCounter, false, 2)})
	})},
	{"waits for a lock each", until(func(m *maker, i int) { m.lock(format.KindWait, 1, i, i, at(i), 1e9) })},
	{"holds of a lock each", until(func(m *maker, i int) { m.lock(format.KindHold, 1, i, i, at(i), 1e9) })},
	{"waits for one lock, all at once", until(func(m *maker, i int) { m.lock(format.KindWait+format.Kind(i&1), i, 2, 1, at(i), 1e6) })},
	{"holds of one goroutine, and tasks", until(func(m *maker, i int) {
		m.lock(format.KindHold, 1, 2, 1, at(2*i), 1e9)
		m.record(task(1, 2, at(2*i+1), 1))
	})},
	{"rows' names", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Head: head(1+i&1, format.KindTrack, false, i)})
		m.record(format.Record{Start: at(i), Head: head(1+i&1, format.KindEvent, false, 2)})
	})},
	{"rows' names of overlapping tasks", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Head: head(1, format.KindTrack, false, i)})
		m.record(task(1, 2, at(i), 1e9))
	})},
	{"a task for each thread", func(m *maker) {
		m.header.Path = format.PathAssembly
		until(func(m *maker, i int) {
			m.record(format.Record{Start: at(i), Stop: int64(i + 1), Head: head(0, format.KindAnchor, false, 0)})
			m.record(task(0, 2, at(i), 1e9))
		})(m)
	}},
	{"arguments of a key each", until(func(m *maker, i int) {
		r := task(1, 2, at(i), 1)
		r.Head |= format.ExtBit
		var slots []format.Slot
		for j := range 6 {
			slots = append(slots, format.Slot{Type: format.SlotKey, Value: uint64(6*i + j)}, format.Slot{Type: format.SlotInt, Value: uint64(i)})
		}
		m.record(r, slots...)
	})},
	{"arguments that are all called open", func(m *maker) {
		m.block(format.BlockName, format.AppendName(nil, 3, "open"))
		until(func(m *maker, i int) {
			r := task(1, 2, at(i), 1)
			r.Head |= format.ExtBit
			var slots []format.Slot
			for range 6 {
				slots = append(slots, format.Slot{Type: format.SlotKey, Value: 3}, format.Slot{Type: format.SlotInt, Value: uint64(i)})
			}
			m.record(r, slots...)
		})(m)
	}},
	{"keys of keys", until(func(m *maker, i int) {
		r := task(1, 2, at(i), 1)
		r.Head |= format.ExtBit
		m.record(r, make12(format.Slot{Type: format.SlotKey, Value: 3})...)
	})},
	{"verbs without end", func(m *maker) {
		m.block(format.BlockName, format.AppendName(nil, 3, strings.Repeat("%d%s%999999999v%*d", 56)))
		until(func(m *maker, i int) {
			m.record(format.Record{Start: at(i), Stop: at(i) + 1, Head: head(1, format.KindTaskf, true, 3)}, make12(format.Slot{Type: format.SlotInt, Value: 1 << 40})...)
		})(m)
	}},
	{"steps of the clock, and tasks across them", some(0.5, func(m *maker, i int) {
		m.block(format.BlockBreak, format.AppendBreak(nil, at(2*i), at(2*i)+1))
	}, func(m *maker, i int) { m.record(task(1, 2, at(i), 1)) })},
	{"zeros", func(m *maker) {
		m.record(task(1, 2, at(0), 1))
		m.b = append(m.b, make([]byte, m.size-len(m.b)-m.chunk)...)
	}},
	{"holes", func(m *maker) {
		until(func(m *maker, i int) {
			m.room(format.ChunkRecords, m.chunk)
			m.b = append(m.b, make([]byte, m.chunk-format.ChunkHeaderSize-32)...)
			m.record(task(1, 2, at(i), 1))
		})(m)
	}},
	{"what no record begins with", until(func(m *maker, i int) {
		m.record(format.Record{Start: -1 - int64(i), Stop: -1, Head: math.MaxUint64, CPU: math.MaxUint64})
	})},
	{"records of unknown kinds", until(func(m *maker, i int) {
		m.record(format.Record{Start: at(i), Stop: -1, Head: head(1, format.Kind(20+i%100), false, i)})
	})},
}

func (m *maker) lock(k format.Kind, goid, name, addr int, start, dur int64) {
	m.record(format.Record{Start: start, Stop: start + dur, Head: head(goid, k, true, name)}, format.Slot{Type: format.SlotAddr, Value: uint64(addr)})
}

func make12(s format.Slot) (list []format.Slot) {
	for range format.MaxSlots {
		list = append(list, s)
	}
	return list
}

// deepStack returns a function that writes a stack with the maximum number of frames, all of
// one function.
func deepStack(id uint32, inlined bool) func(m *maker, i int) {
	return func(m *maker, _ int) {
		m.block(format.BlockFrame, format.AppendFrame(nil, &format.Frame{ID: 1, Function: "f", File: "f.go", Line: 1, Inlined: inlined}))
		s := format.Stack{ID: id, Frames: make([]uint32, format.MaxStackFrames)}
		for i := range s.Frames {
			s.Frames[i] = 1
		}
		m.block(format.BlockStack, format.AppendStack(nil, &s))
	}
}
