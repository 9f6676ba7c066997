package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// walk looks at the live chunks and delivers. all is false if fn had enough.
func (f *Follower) walk(fn func(*Event) bool) (all bool, err error) {
	f.late = 0
	live := f.live
	kept := make([]*liveChunk, 0, 16) // not in place: end searches f.live meanwhile
	for i, c := range live {
		more, err := f.look(c)
		if err != nil || more {
			kept = append(kept, c)
		}
		if err != nil {
			f.live = append(kept, live[i+1:]...)
			return false, err
		}
		if (i+1)%batch == 0 && !f.deliver(fn) {
			f.live = append(kept, live[i+1:]...)
			return false, nil
		}
	}
	f.live = kept
	return f.deliver(fn), nil
}

// look walks over one chunk. more is false when nothing in it can change.
func (f *Follower) look(c *liveChunk) (more bool, err error) {
	t, buf := f.t, &f.buf
	last := c.flags&format.FlagFinal != 0 || t.state.Closed // it was final before it is read
	if err := t.readChunk(buf, &c.chunkInfo, f.decoder.problems); err == errGone {
		f.ring.dirty = true
		return true, nil
	} else if err != nil {
		return true, err
	}
	f.mark(c)
	wasLate := f.late
	c.open, c.begins = c.open[:0], c.begins[:0]
	var thread uint32
	s := buf.scan()
	for s.Next() {
		unit := s.Off / format.RecordSize
		r := s.Record()
		k := r.Kind()
		if k == format.KindAnchor {
			thread = uint32(r.Stop)
			continue
		}
		spec := k.Spec()
		if c.saw(unit) || spec == nil {
			continue
		}
		loc := c.off + int64(s.Off)
		if k == format.KindEnd && last && (c.flags|buf.head.Flags)&format.FlagEnds == 0 {
			c.see(unit) // no end counts where none was announced, as for Events
			continue
		}
		if k == format.KindEnd {
			ok, err := f.end(&r, loc, s.WholeExt(), c.owner)
			if err != nil {
				return true, err
			}
			if ok {
				c.see(unit)
			}
			continue
		}
		if spec.Scope && r.Open() {
			c.open, c.begins = append(c.open, loc), append(c.begins, openBegin{r.Start, thread})
			continue
		}
		c.see(unit)
		end := r.Start
		if spec.Scope {
			end = max(end, r.Stop)
		}
		f.add(item{end: end, rec: r, where: where{loc, thread, c.owner, false}, ext: slices.Clone(s.WholeExt())})
	}
	c.whole = last
	if last && f.late > wasLate {
		return true, nil // it stays live, and knows what is open in it
	}
	if last {
		for i, loc := range c.open {
			if !c.saw(int(loc-c.off) / format.RecordSize) { // its end may be in this chunk too
				f.open[loc] = c.begins[i]
			}
		}
		return false, nil
	}
	c.flags = buf.head.Flags
	return buf.head.Sealed == 0 || len(c.open) > 0 || s.Holes > 0 || f.late > wasLate, nil
}

// mark gives c its marks.
func (f *Follower) mark(c *liveChunk) {
	if c.seen == nil {
		c.seen = make([]uint64, (int(f.t.header.ChunkSize)/format.RecordSize+63)/64)
	}
}

// add queues an item. Quiet ones only name rows.
func (f *Follower) add(it item) {
	if it.end < format.MaxTicks {
		f.t.last = max(f.t.last, it.end)
	}
	if f.quiet {
		f.track(&it.rec)
		return
	}
	f.ready = append(f.ready, it)
}

func (f *Follower) track(r *format.Record) {
	if k := r.Kind(); (k == format.KindTrack || k == format.KindGo) && r.Goid() != 0 {
		f.tracks.put(r.Goid(), r.Name())
	}
}

// end queues the scope that the end record r at loc ends. ok is false if the
// begin can't be seen yet: its chunk's pages may be written later than the end's.
func (f *Follower) end(r *format.Record, loc int64, ext []byte, owner uint32) (ok bool, err error) {
	t := f.t
	begin, ok := endLoc(ext)
	if !ok || begin <= 0 || begin%format.RecordSize != 0 {
		f.decoder.problems.add(textOrphanEnd, t.place(loc), 1)
		return true, nil
	}
	if t.inRing() && t.holder(begin, r.Stop) == nil {
		return f.endGone(r, loc, begin, ext, owner), nil
	}
	b, err := t.freshRecord(begin)
	if err == errGone {
		f.ring.dirty = true
		f.late++ // the next poll knows what is carried of it
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info := f.recordsAt(begin)
	if info == nil || b.Start == 0 {
		if t.state.Closed {
			f.decoder.problems.add(textOrphanEnd, t.place(loc), 1)
			return true, nil
		}
		f.late++
		return false, nil
	}
	if b.Stop == r.Start && b.Start == r.Stop {
		return true, nil // it ended in place too, see stream.twice
	}
	if spec := b.Kind().Spec(); spec == nil || !spec.Scope || !b.Open() || b.Start != r.Stop {
		f.decoder.problems.add(textOrphanEnd, t.place(loc), 1)
		return true, nil
	}
	if _, ok := decodeEnd(r, ext, &b, f.decoder.endArgs[:0]); !ok {
		f.decoder.problems.add(textBadEnd, t.place(loc), 1)
		return true, nil
	}
	var args []byte
	if b.Ext() {
		if args, err = t.freshExt(begin + format.RecordSize); err == errGone {
			f.ring.dirty = true
			f.late++
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	w := where{loc: begin, owner: info.owner}
	if format.Path(info.path) == format.PathAssembly {
		w.thread = uint32(b.Stop>>40) & 0x3fffff
	}
	if c := f.liveAt(begin); c != nil {
		f.mark(c)
		unit := int(begin-c.off) / format.RecordSize
		if c.saw(unit) {
			return true, nil // ended twice
		}
		c.see(unit)
	}
	delete(f.open, begin)
	f.add(item{end: max(r.Start, b.Start), rec: b, where: w, ext: args, apart: &apart{*r, slices.Clone(ext)}})
	return true, nil
}

// recordsAt is the chunk of records that loc lies in, nil if it is not known.
func (f *Follower) recordsAt(loc int64) *chunkInfo {
	off := loc - loc%int64(f.t.header.ChunkSize)
	c := f.t.chunkAt(off)
	if c == nil || c.Kind != format.ChunkRecords || loc-off < format.ChunkHeaderSize {
		return nil
	}
	return c
}

func (f *Follower) liveAt(loc int64) *liveChunk {
	off := loc - loc%int64(f.t.header.ChunkSize)
	i, ok := slices.BinarySearchFunc(f.live, off, func(c *liveChunk, off int64) int { return cmp.Compare(c.off, off) })
	if !ok {
		return nil
	}
	return f.live[i]
}
