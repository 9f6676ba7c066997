package excerpt

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// usage has what a first pass over the blocks found of those that are in.
type usage struct {
	beats    [2]int64 // ns: heartbeats from the one to the other
	lastBeat int64    // ns
	stacks   map[uint32]bool
	frames   map[uint32]bool
	counters map[string]counter
	levels   map[level]format.CodeSample // of the heap, before the range
	carries  map[goneRecord]format.Carry // the latest of each
	threads  map[uint16]switched         // by process of a merged trace
}

// counter is one whose samples the trace has.
type counter struct {
	unit   string
	thread uint32
	kept   bool // a block of it is in
}

// switched describes the switches of a process's threads.
type switched struct {
	thread uint32 // one of them
	kept   bool   // a block of them is in
}

// level identifies the memory in use of a stack.
type level struct {
	counter string
	stack   uint32
}

// margin is the time around the range whose samples and switches are in: some belong to what
// happened before, such as the sample of a page fault.
const margin = 1_000_000 // ns

// touches reports whether a stretch of the monotonic clock touches the range.
func (m *maker) touches(base, until int64) bool {
	mono := m.header.StartMono
	return base-mono <= m.to+margin && until-mono >= m.from-margin
}

// isIn reports whether a tick is in the range.
func (m *maker) isIn(ticks int64) bool {
	ns := m.t.Nanos(ticks)
	return ns >= m.from && ns <= m.to
}

// eachBlock calls f with the sound blocks, in the order in which they were written: of a ring those
// of kept chunks first.
func (m *maker) eachBlock(f func(t format.BlockType, p []byte) error) error {
	list := m.list
	if m.ring {
		list = slices.SortedStableFunc(slices.Values(m.list), func(a, b chunk) int {
			kept := func(x *chunk) int { return -int(x.Flags & format.FlagKept) }
			return cmp.Or(cmp.Compare(kept(&a), kept(&b)), cmp.Compare(a.Since, b.Since))
		})
	}
	return m.each(list, format.ChunkBlocks, func(*chunk) bool { return true }, func(_ *chunk, c *chunks.Chunk) error {
		for w := c.Blocks(); w.Next(); {
			if w.Err != nil {
				continue
			}
			if s := format.BlockOf(w.Type); s != nil {
				if _, err := s.ReadFields(nil, w.Payload); err != nil {
					continue
				}
			}
			if err := f(w.Type, w.Payload); err != nil {
				return err
			}
		}
		return nil
	})
}

// examineBlocks finds what the blocks that are in refer to.
func (m *maker) examineBlocks() error {
	u := &m.used
	*u = usage{stacks: map[uint32]bool{}, frames: map[uint32]bool{}, counters: map[string]counter{}, levels: map[level]format.CodeSample{}, carries: map[goneRecord]format.Carry{}, threads: map[uint16]switched{}}
	if err := m.findBeats(); err != nil {
		return err
	}
	var samples format.SamplesReader
	err := m.eachBlock(func(t format.BlockType, p []byte) error {
		switch t {
		case format.BlockSamples:
			if s, err := samples.Decode(p); err == nil {
				m.examineSamples(&s)
			}
		case format.BlockCount:
			if ticks, list, err := format.DecodeCounts(nil, p); err == nil && m.isIn(ticks) {
				for _, c := range list {
					u.stacks[c.Stack] = true
				}
			}
		case format.BlockCarry:
			if c, err := format.DecodeCarry(p); err == nil {
				at := goneRecord{c.Loc, m.t.Nanos(c.Record.Start)}
				if old, ok := u.carries[at]; m.isGone(c.Loc, c.Record.Start) && (!ok || old.Ticks <= c.Ticks) {
					c.Ext = slices.Clone(c.Ext)
					u.carries[at] = c
				}
			}
		case format.BlockSwitch:
			if s, _, err := format.CheckSwitches(p); err == nil {
				u.threads[s.Process] = switched{s.Thread, u.threads[s.Process].kept || m.touches(s.Base, s.Until)}
			}
		}
		return nil
	})
	var frames []format.Frame
	for stack := range u.stacks {
		frames = m.t.AppendFrames(frames[:0], stack)
		for i := range frames {
			u.frames[frames[i].ID] = true
		}
	}
	return err
}

// findBeats finds the heartbeats around the range, and the last one.
func (m *maker) findBeats() error {
	u := &m.used
	u.beats = [2]int64{math.MinInt64, math.MaxInt64}
	return m.t.EachBeat(func(b *trace.Beat) bool {
		if b.Time <= m.from {
			u.beats[0] = b.Time
		}
		if b.Time >= m.to && u.beats[1] == math.MaxInt64 {
			u.beats[1] = b.Time
		}
		u.lastBeat = b.Time
		return true
	})
}

// examineSamples notes the stacks of samples that are in, and the memory in use before.
func (m *maker) examineSamples(s *format.Samples) {
	u := &m.used
	c := u.counters[s.Counter]
	c.unit, c.thread = s.Unit, s.Thread
	in := m.touches(s.Base, s.Until)
	c.kept = c.kept || in
	u.counters[s.Counter] = c
	heap := s.Counter == format.InUseBytes || s.Counter == format.InUseObjects
	for _, x := range s.List {
		if in {
			u.stacks[x.Stack] = true
		} else if k := (level{s.Counter, x.Stack}); heap && x.Time-m.header.StartMono < m.from {
			if u.levels[k] = x; x.Weight == 0 {
				delete(u.levels, k)
			} else {
				u.stacks[x.Stack] = true
			}
		}
	}
}

// isKept reports whether a block is copied as it is.
func (m *maker) isKept(t format.BlockType, p []byte) bool {
	u := &m.used
	switch t {
	case format.BlockBeat, format.BlockThread:
		ns := m.t.Nanos(int64(binary.LittleEndian.Uint64(p)))
		return ns >= u.beats[0] && ns <= u.beats[1] || ns == u.lastBeat
	case format.BlockLock, format.BlockCount:
		return m.isIn(int64(binary.LittleEndian.Uint64(p)))
	case format.BlockSwitch:
		s, _, err := format.CheckSwitches(p)
		return err == nil && m.touches(s.Base, s.Until)
	case format.BlockSamples:
		s, err := format.CheckSamples(p)
		return err == nil && m.touches(s.Base, s.Until)
	case format.BlockStack, format.BlockCode:
		return u.stacks[binary.LittleEndian.Uint32(p)]
	case format.BlockFrame:
		id := binary.LittleEndian.Uint32(p)
		return id >= format.PlaceFrames || u.frames[id]
	case format.BlockCarry, format.BlockGoTrace, format.BlockCalls, format.BlockUnseen, format.BlockGoroutine, format.BlockStop:
		return false // they are written anew
	}
	return true
}

// blockWriter writes chunks of blocks. A ring's have those of its kept chunks, or the others.
type blockWriter struct {
	m    *maker
	kept bool
	b    *chunks.Builder
}

// add appends a block.
func (w *blockWriter) add(t format.BlockType, p []byte) error {
	if w.b != nil && w.b.Block(t, p) {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	m := w.m
	h := format.ChunkHeader{Kind: format.ChunkBlocks, Path: m.header.Path, Since: m.end, Gen: 1}
	if w.kept {
		h.Flags = format.FlagKept
	} else {
		m.numbered(&h)
	}
	w.b = m.take(h)
	w.b.Block(t, p) // it fits: those that are written anew have the chunk's share
	return nil
}

// share returns the part of n, which fits a chunk of the usual size, that fits the trace's chunks.
func (m *maker) share(n int) int { return max(1, int(min(int64(n), int64(n)*m.cs/format.ChunkSize))) }

func (w *blockWriter) flush() error {
	if w.b == nil {
		return nil
	}
	return w.m.put(w.b)
}

// blockWriters writes each block to the kind of chunk that it belongs to.
type blockWriters struct{ once, other *blockWriter }

func (w *blockWriters) add(t format.BlockType, p []byte) error {
	if t.Once() {
		return w.once.add(t, p)
	}
	return w.other.add(t, p)
}

// copyBlocks writes the blocks.
func (m *maker) copyBlocks() error {
	w := &blockWriters{once: &blockWriter{m: m, kept: m.ring}}
	if w.other = w.once; m.ring {
		w.other = &blockWriter{m: m}
	}
	if err := m.eachBlock(func(t format.BlockType, p []byte) error {
		if !m.isKept(t, p) {
			return nil
		}
		if t == format.BlockSamples {
			if err := m.addLevels(w); err != nil {
				return err
			}
		}
		return w.add(t, p)
	}); err != nil {
		return err
	}
	for _, add := range []func(*blockWriters) error{m.addCarries, m.addCalls, m.addLevels, m.addEmpty, m.addGoroutines, m.addGoTraces} {
		if err := add(w); err != nil {
			return err
		}
	}
	if m.ring {
		if err := w.other.flush(); err != nil {
			return err
		}
	}
	for _, f := range m.infos() {
		if err := w.add(format.BlockInfo, format.AppendInfo(nil, f[0], f[1])); err != nil {
			return err
		}
	}
	if err := w.add(format.BlockStop, format.AppendTicks(nil, m.end)); err != nil {
		return err
	}
	return w.once.flush()
}

// addLevels writes, once, the memory in use when the range began, as samples before those of the range.
func (m *maker) addLevels(w *blockWriters) error {
	of := map[string][]format.CodeSample{}
	for k, x := range m.used.levels {
		of[k.counter] = append(of[k.counter], x)
	}
	for _, name := range []string{format.InUseBytes, format.InUseObjects} {
		list := of[name]
		slices.SortFunc(list, func(a, b format.CodeSample) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Stack, b.Stack))
		})
		for part := range slices.Chunk(list, m.share(format.FullSamples)) {
			s := format.Samples{Counter: name, Unit: m.used.counters[name].unit, Base: part[0].Time, Until: part[len(part)-1].Time, List: part}
			if err := w.add(format.BlockSamples, format.AppendSamples(nil, &s)); err != nil {
				return err
			}
		}
	}
	m.used.levels = nil
	return nil
}

// addCarries writes the carries that are in, and those of scopes that began before the range.
func (m *maker) addCarries(w *blockWriters) error {
	slices.SortFunc(m.carried, func(a, b format.Carry) int {
		return cmp.Or(cmp.Compare(a.Loc, b.Loc), cmp.Compare(a.Record.Start, b.Record.Start))
	})
	for i := range m.carried {
		if err := w.add(format.BlockCarry, format.AppendCarry(nil, &m.carried[i])); err != nil {
			return err
		}
	}
	return nil
}

// addCalls writes the numbers of calls that were only counted, which are those of the whole
// recording: a function's calls may be counted for long without a block.
func (m *maker) addCalls(w *blockWriters) error {
	for part := range slices.Chunk(m.t.Calls(), m.share(format.MaxCalls)) {
		var calls []format.Calls
		var unseen []format.Unseen
		for _, x := range part {
			c := format.Calls{Name: x.Name, Calls: x.Calls, Recorded: x.Recorded, Off: -1}
			if x.Off {
				c.Off = max(m.end-m.t.Ticks(x.Since), 0)
			}
			calls = append(calls, c)
			if x.Unseen > 0 {
				unseen = append(unseen, format.Unseen{Name: x.Name, Calls: x.Unseen})
			}
		}
		if err := w.add(format.BlockCalls, format.AppendCalls(nil, m.end, calls)); err != nil {
			return err
		}
		if unseen != nil {
			if err := w.add(format.BlockUnseen, format.AppendUnseen(nil, m.end, unseen)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addEmpty writes empty blocks of counters, and of switches, that the trace has, but not in the
// range: otherwise they would count as not recorded.
func (m *maker) addEmpty(w *blockWriters) error {
	at := max(m.from+m.header.StartMono, 0)
	names := make([]string, 0, len(m.used.counters))
	for name, c := range m.used.counters {
		if !c.kept {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c := m.used.counters[name]
		s := format.Samples{Thread: c.thread, Counter: name, Unit: c.unit, Base: at, Until: at}
		if err := w.add(format.BlockSamples, format.AppendSamples(nil, &s)); err != nil {
			return err
		}
	}
	for _, process := range slices.Sorted(maps.Keys(m.used.threads)) {
		x := m.used.threads[process]
		if x.kept {
			continue
		}
		s := format.Switches{Thread: x.thread, Process: process, First: true, Base: at, Until: at}
		if err := w.add(format.BlockSwitch, format.AppendSwitches(nil, &s)); err != nil {
			return err
		}
	}
	return nil
}
