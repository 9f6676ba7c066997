package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// begin begins an op.
func (m *model) begin() {
	owner := m.rnd.IntN(len(m.owners))
	busy := !m.goes && slices.ContainsFunc(m.ops, func(o *op) bool { return o.owner == owner })
	switch n := m.rnd.IntN(40); {
	case busy:
		m.flush()
		m.ops = append(m.ops, &op{stores: []store{{format.StateOffset + format.StateTick, uint64(m.now)}}, owner: -1})
	case n == 0:
		m.flush()
		m.block(0, format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: m.now, Mono: m.now, Wall: m.now}), nil)
		m.ops = append(m.ops, &op{stores: []store{{format.StateOffset + format.StateTick, uint64(m.now)}}, owner: -1})
	case n < 24 && m.end(owner):
	default:
		m.record(owner)
	}
}

// place finds room for n bytes in the owner's chunk.
func (m *model) place(owner, n int) (k *modelChunk, at int) {
	k = m.owners[owner]
	if k == nil || k.at+n > modelChunkSize {
		next := m.take(format.ChunkRecords, owner, false)
		if next == nil {
			return nil, 0
		}
		if k != nil {
			m.seal(k)
		}
		m.owners[owner], k = next, next
		if !m.goes {
			r := format.Record{Start: m.now, Stop: int64(100 + owner), Head: format.Head(0, format.KindAnchor, false, 0)}
			copy(m.image[k.place*modelChunkSize+k.at:], format.AppendRecord(nil, &r))
			k.at += format.RecordSize
		}
	}
	at = k.at
	k.at += n
	return k, at
}

// put begins to store a record.
func (m *model) put(owner int, k *modelChunk, at int, r *format.Record, ext []byte, done func()) {
	off := k.place*modelChunkSize + at
	var ss []store
	for i := 0; i < len(ext); i += 8 {
		ss = append(ss, store{off + format.RecordSize + i, binary.LittleEndian.Uint64(ext[i:])})
	}
	ss = append(ss, store{off + 16, r.Head}, store{off + 24, r.CPU}, store{off + 8, uint64(r.Stop)}, store{off, uint64(r.Start)})
	k.busy++
	m.ops = append(m.ops, &op{stores: ss, chunk: k, owner: owner, done: done})
}

func (m *model) record(owner int) {
	if m.names == 0 || m.rnd.IntN(60) == 0 {
		id := uint16(format.FirstName + m.names)
		m.names++
		m.block(1, format.BlockName, format.AppendName(nil, id, fmt.Sprintf("name %d %0100d", id, id)), nil)
	}
	var ext []byte
	if m.rnd.IntN(2) == 0 {
		// Values that a wrong reader would take for a record's start.
		slot := format.Slot{Type: format.SlotInt, Value: uint64(m.now)}
		ext, _ = format.AppendExt(nil, []format.Slot{slot, slot, slot, slot, slot})
	}
	kind := format.KindTask
	if m.rnd.IntN(4) == 0 {
		kind = format.KindEvent
	}
	k, at := m.place(owner, format.RecordSize+len(ext))
	m.issued++
	if k == nil {
		m.state.Lost++
		m.word(format.StateOffset+format.StateLost, m.state.Lost)
		m.ops = append(m.ops, &op{stores: []store{{format.StateOffset + format.StateTick, uint64(m.now)}}, owner: -1})
		return
	}
	m.now++
	s := &modelScope{loc: m.loc(k, at), start: m.now, chunk: k}
	s.head = format.Head(uint64(7+m.rnd.IntN(3)), kind, ext != nil, uint16(format.FirstName+m.rnd.IntN(m.names)))
	r := format.Record{Start: s.start, Head: s.head}
	if kind == format.KindTask {
		r.Stop, r.CPU = format.OpenStop(uint32(100+owner), 5, 6), 0xdead
		if m.goes {
			r.Stop = s.start | -1<<63
		}
	}
	m.issued-- // until the record is visible
	m.put(owner, k, at, &r, ext, func() {
		m.issued++
		m.truth[s.loc] = s
		k.scopes = append(k.scopes, s)
		if kind == format.KindTask {
			m.open = append(m.open, s)
		} else {
			s.stop = s.start
		}
	})
}

// end begins to end some scope; false if there is none.
func (m *model) end(owner int) bool {
	if len(m.open) < 12 { // some are open for long
		return false
	}
	// Mostly a recent scope, now and then an old one.
	i := len(m.open) - 1 - m.rnd.IntN(4)
	if m.rnd.IntN(20) == 0 {
		i = m.rnd.IntN(len(m.open))
	}
	s := m.open[i]
	m.now++
	stop, cpu := m.now, uint64(m.now-s.start)<<2|uint64(format.Likely)
	if !s.chunk.final && m.used[s.chunk.place] == s.chunk && m.rnd.IntN(3) > 0 {
		m.open = slices.Delete(m.open, i, i+1)
		off := int(s.loc%modelChunkSize) + s.chunk.place*modelChunkSize
		s.chunk.busy++
		m.ops = append(m.ops, &op{stores: []store{{off + 24, cpu}, {off + 8, uint64(stop)}}, chunk: s.chunk, owner: owner,
			done: func() { s.stop, s.cpu = stop, cpu }})
		return true
	}
	ext, _ := format.AppendExt(nil, []format.Slot{{Type: format.SlotLoc, Value: uint64(s.loc)}, {Type: format.SlotGoid, Value: s.head & format.MaxGoid},
		{Type: format.SlotBegin, Value: s.head}})
	k, at := m.place(owner, format.RecordSize+len(ext))
	if k == nil {
		return false
	}
	m.open = slices.Delete(m.open, i, i+1)
	s.apart, s.endIn = true, k
	r := format.Record{Start: stop, Stop: s.start, Head: format.Head(7, format.KindEnd, true, 0), CPU: cpu}
	m.put(owner, k, at, &r, ext, func() { s.stop, s.cpu = stop, cpu })
	return true
}

// queueCarry queues a carry.
func (m *model) queueCarry(s *modelScope) {
	c := format.Carry{Ticks: m.now, Loc: format.Loc(s.loc), Thread: 1, Record: format.Record{Start: s.start, Stop: -1 << 62, Head: s.head &^ format.ExtBit}}
	m.block(0, format.BlockCarry, format.AppendCarry(nil, &c), s)
}

// block queues a block for a chunk of the ring (0) or a kept one (1).
func (m *model) block(stream int, t format.BlockType, p []byte, carries *modelScope) {
	b := format.AppendBlock(nil, t, p)
	kept := stream == 1 || m.ring == 0
	if m.ring == 0 {
		stream = 1
	}
	k := m.blocks[stream]
	if k == nil || k.at+len(b) > modelChunkSize {
		m.drain(stream)
		if k != nil {
			m.seal(k)
		}
		if k = m.take(format.ChunkBlocks, 0, kept); k == nil {
			if m.blocks[stream] = nil; carries != nil || kept {
				panic("the model has no chunk for a block")
			}
			return
		}
		m.blocks[stream] = k
	}
	var ss []store
	for i := len(b) - 8; i >= 0; i -= 8 {
		ss = append(ss, store{k.place*modelChunkSize + k.at + i, binary.LittleEndian.Uint64(b[i:])})
	}
	k.at += len(b)
	k.busy++
	if carries != nil {
		k.carry = append(k.carry, carries)
	}
	o := &op{stores: ss, chunk: k}
	m.queues[stream] = append(m.queues[stream], o)
	if t == format.BlockName { // written before the first record that has the name
		m.drain(stream)
	}
}

// drain writes the waiting blocks.
func (m *model) drain(stream int) {
	for _, o := range m.queues[stream] {
		for !m.store(o) {
		}
	}
	m.queues[stream] = nil
}
