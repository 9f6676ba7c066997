package excerpt

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// sparse is a chunk that has records of several chunks of one owner.
type sparse struct {
	*chunks.Builder        // nil: none is begun
	thread          uint32 // of the last anchor
	last            int64  // start of the latest record
}

// copyRecords copies the marked records of each chunk.
func (m *maker) copyRecords() error {
	err := m.eachRecords(func(x *chunk) bool { return m.marked[x.loc] != nil }, func(x *chunk, c *chunks.Chunk) error {
		set := m.marked[x.loc]
		m.records += int64(countMarked(set))
		for w := c.Records(); w.Next(); {
			if isMarked(set, w.Off) && w.Start() >= m.begin {
				return m.copyChunk(x, c, set)
			}
		}
		return m.copySparse(x, c, set)
	})
	if err != nil {
		return err
	}
	for _, c := range m.used.carries {
		m.note(c.Loc, c.Loc, &c.Record)
		m.carried = append(m.carried, c)
	}
	slices.SortFunc(m.moved, byPlace)
	for _, s := range m.sparse {
		if s.Builder != nil {
			if err := m.put(s.Builder); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyChunk copies the marked records of a chunk to one of their own.
func (m *maker) copyChunk(x *chunk, c *chunks.Chunk, set []uint64) error {
	h := c.ChunkHeader
	if h.Flags = 0; m.ring {
		m.numbers.count++
	} else {
		h.Number = 0
	}
	b := m.take(h)
	anchor, due := format.Record{}, false
	eachMarked(c, set, func(r *format.Record) { anchor, due = *r, true }, func(w *format.Walk, r *format.Record, ext []byte) {
		if due {
			b.Record(&anchor, nil)
			due = false
		}
		m.note(x.loc+format.Loc(w.Off), m.locOf(b), r)
		b.Record(r, ext)
		if r.Start < m.begin {
			m.starts[r.Start] = b.Head.Index
		}
	})
	return m.put(b)
}

// eachMarked calls anchor with the anchors of a chunk, and f with its marked records.
func eachMarked(c *chunks.Chunk, set []uint64, anchor func(r *format.Record), f func(w *format.Walk, r *format.Record, ext []byte)) {
	for w := c.Records(); w.Next(); {
		r := w.Record()
		ext := w.WholeExt()
		if ext == nil {
			r.Head &^= format.ExtBit
		}
		switch {
		case r.Kind() == format.KindAnchor:
			anchor(&r)
		case isMarked(set, w.Off):
			f(&w, &r, ext)
		}
	}
}

// locOf returns the place of a chunk's next record.
func (m *maker) locOf(b *chunks.Builder) format.Loc {
	n := int64(b.Head.Index)
	if b.Head.Number > 0 {
		n = int64(b.Head.Number)
	}
	return format.Loc((n+1)*m.cs - int64(b.Left()))
}

// note updates the record r, which moves, with what a missing part of Go's execution trace supplied.
// An open one is noted for its end.
func (m *maker) note(from, to format.Loc, r *format.Record) {
	spec := r.Kind().Spec()
	switch cpu, supplied := m.cpu[from]; {
	case spec == nil || !spec.Scope:
	case r.Open():
		m.moved = append(m.moved, move{from, to, r.Start})
		if ns, ok := m.left[from]; ok {
			m.unended[to] = unended{*r, max(m.t.Ticks(ns), r.Start)}
		}
	case supplied:
		r.CPU = m.atMost(cpu, r.Stop-r.Start)
	}
}

// atMost limits the CPU ticks of word 3 to a duration. They may exceed it by what the rates of the
// clocks differ.
func (m *maker) atMost(word uint64, wall int64) uint64 {
	wall = max(wall, 0)
	return min(word>>2, uint64(wall+format.CPUSlack(wall)))<<2 | word&3
}

// copySparse copies the marked records of a chunk, which all began before the range.
func (m *maker) copySparse(x *chunk, c *chunks.Chunk, set []uint64) error {
	var failed error
	anchor, thread := format.Record{}, uint32(0)
	eachMarked(c, set, func(r *format.Record) { anchor, thread = *r, uint32(r.Stop) }, func(w *format.Walk, r *format.Record, ext []byte) {
		from := x.loc + format.Loc(w.Off)
		if m.ring {
			m.note(from, from, r)
			m.carried = append(m.carried, format.Carry{Ticks: m.end, Loc: from, Thread: thread, Owner: x.Owner, Record: *r, Ext: slices.Clone(ext)})
			return
		}
		if err := m.addSparse(x, from, &anchor, thread, r, ext); err != nil && failed == nil {
			failed = err
		}
	})
	return failed
}

// addSparse adds a record to its owner's chunk of long scopes.
func (m *maker) addSparse(x *chunk, from format.Loc, anchor *format.Record, thread uint32, r *format.Record, ext []byte) error {
	k := owner{x.Path, x.Owner}
	s := m.sparse[k]
	if s == nil {
		s = &sparse{}
		m.sparse[k] = s
	}
	late := r.Kind() == format.KindWait || r.Kind() == format.KindHold // such records may be written late
	// Of equal starts the order of places counts: behind a record of a later chunk only another comes.
	// A record that began before its chunk was handed out is shown from then on.
	if s.Builder != nil && (s.Left() < 2*format.RecordSize+len(ext) || !late && r.Start < s.last || thread == 0 && s.thread != 0 ||
		m.starts[r.Start] > s.Head.Index || x.Since < s.Head.Since || r.Start < x.Since && x.Since != s.Head.Since) {
		if err := m.put(s.Builder); err != nil {
			return err
		}
		s.Builder = nil
	}
	if s.Builder == nil {
		*s = sparse{Builder: m.take(format.ChunkHeader{Kind: format.ChunkRecords, Path: x.Path, Owner: x.Owner, Since: x.Since, Gen: 1})}
	}
	if x.Path == format.PathAssembly && (thread != s.thread || s.Empty()) && thread != 0 {
		a := *anchor
		a.Start = max(a.Start, s.last)
		s.Builder.Record(&a, nil)
		s.thread, s.last = thread, a.Start
	}
	m.note(from, m.locOf(s.Builder), r)
	s.Builder.Record(r, ext)
	m.starts[r.Start] = s.Head.Index
	if !late {
		s.last = max(s.last, r.Start)
	}
	return nil
}

// copyEnds copies the ends apart of the records that were copied.
func (m *maker) copyEnds() error {
	mayHave := func(x *chunk) bool {
		return x.Flags&format.FlagEnds != 0 || !m.t.Closed() && x.Flags&format.FlagFinal == 0
	}
	err := m.eachRecords(mayHave, func(x *chunk, c *chunks.Chunk) error {
		for w := c.Records(); w.Next(); {
			r, ext := w.Record(), w.WholeExt()
			begin, ok := format.BeginOf(ext)
			if r.Kind() != format.KindEnd || !ok {
				continue
			}
			to, by, in := m.endOf(begin, r.Stop, x.Owner)
			if !in {
				continue
			}
			delete(m.unended, to)
			if cpu, supplied := m.cpu[begin]; supplied {
				r.CPU = m.atMost(cpu, r.Start-r.Stop)
			}
			ext = slices.Clone(ext)
			binary.LittleEndian.PutUint64(ext[8:], uint64(to))
			if err := m.addEnd(by, &r, ext); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.endLeft()
}

// endOf returns the new place of the record at loc that began at start, if it is in, and the owner of
// the chunk for its end: an end whose begin is overwritten has the scope's owner.
func (m *maker) endOf(loc format.Loc, start int64, of uint32) (to format.Loc, by uint32, in bool) {
	i, ok := slices.BinarySearchFunc(m.moved, move{from: loc, start: start}, byPlace)
	if ok {
		return m.moved[i].to, 0, true
	}
	return loc, of, m.isGone(loc, start)
}

func byPlace(a, b move) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.start, b.start))
}

// addEnd writes an end apart.
func (m *maker) addEnd(by uint32, r *format.Record, ext []byte) error {
	b := m.ends[by]
	if b != nil && b.Left() < format.RecordSize+len(ext) {
		if err := m.put(b); err != nil {
			return err
		}
		b = nil
	}
	if b == nil {
		h := format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathGo, Owner: by, Since: m.end, Flags: format.FlagEnds}
		m.numbered(&h)
		b = m.take(h)
		m.ends[by] = b
	}
	b.Record(r, ext)
	return nil
}

// endLeft ends the scopes whose goroutines have ended, as a missing part of Go's execution trace has
// it, and writes the chunks of ends.
func (m *maker) endLeft() error {
	places := make([]format.Loc, 0, len(m.unended))
	for at := range m.unended {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		x := m.unended[at]
		ext, err := format.AppendExt(nil, []format.Slot{{Type: format.SlotLoc, Value: uint64(at)}, {Type: format.SlotGoid, Value: x.rec.Goid()}})
		if err != nil {
			return err
		}
		r := format.Record{Start: x.stop, Stop: x.rec.Start, Head: format.Head(0, format.KindEnd, true, x.rec.Name())}
		if err := m.addEnd(0, &r, ext); err != nil {
			return err
		}
	}
	owners := make([]uint32, 0, len(m.ends))
	for by := range m.ends {
		owners = append(owners, by)
	}
	slices.Sort(owners)
	for _, by := range owners {
		if err := m.put(m.ends[by]); err != nil {
			return err
		}
	}
	return nil
}
