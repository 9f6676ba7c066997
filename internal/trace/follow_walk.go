package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// walk reads the live chunks and delivers. all is false if fn returned false.
func (f *Follower) walk(fn func(*Event) bool) (all bool, err error) {
	f.late = 0
	live := f.live
	kept := make([]*liveChunk, 0, 16) // not in place: end searches f.live meanwhile
	for i, c := range live {
		more, err := f.readLive(c)
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

// readLive walks over one chunk. more is false if nothing in it can change.
func (f *Follower) readLive(c *liveChunk) (more bool, err error) {
	t, buf := f.t, &f.buf
	last := c.flags&format.FlagFinal != 0 || t.state.Closed // it was final before it is read
	if err := t.readChunk(buf, &c.chunkInfo, f.decoder.problems); err == errGone {
		f.ring.dirty = true
		return true, nil
	} else if err != nil {
		return true, err
	}
	wasLate := f.late
	c.open = c.open[:0]
	var thread uint32
	s := buf.scan()
	for s.Next() {
		if s.Kind() == format.KindAnchor {
			thread = uint32(s.Record().Stop)
		} else if err := f.examine(c, &s, thread, last); err != nil {
			return true, err
		}
	}
	c.whole = last
	if last && f.late > wasLate {
		return true, nil // it stays live, with its list of open scopes
	}
	if last {
		c.eachOpen(func(b openBegin) { f.open[b.loc] = b }) // the ends of some may be in this chunk too
		return false, nil
	}
	c.flags = buf.head.Flags
	return buf.head.Sealed == 0 || len(c.open) > 0 || s.Holes > 0 || f.late > wasLate, nil
}

// examine examines the record at the walk's position; last means that nothing in the chunk changes
// any more.
func (f *Follower) examine(c *liveChunk, s *format.Walk, thread uint32, last bool) error {
	r := s.Record()
	k := r.Kind()
	spec := k.Spec()
	loc := c.loc + format.Loc(s.Off)
	switch {
	case spec == nil || c.saw(loc):
	case k == format.KindEnd && last && (c.flags|f.buf.head.Flags)&format.FlagEnds == 0:
		c.see(loc) // ends count only in chunks with FlagEnds, as for Events
	case k == format.KindEnd:
		ok, err := f.end(&r, loc, s.WholeExt(), c.owner)
		if ok && err == nil {
			c.see(loc)
		}
		return err
	case spec.Scope && r.Open():
		c.open = append(c.open, openBegin{loc, r.Start, thread})
	default:
		c.see(loc)
		end := r.Start
		if spec.Scope {
			end = max(end, r.Stop)
		}
		f.add(item{end: end, rec: r, at: recordLoc{loc, thread, c.owner, false}, ext: slices.Clone(s.WholeExt())})
	}
	return nil
}

// add queues an item. If f is quiet, it only names rows.
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
	if goid := r.Row(); goid != 0 {
		f.tracks.put(goid, r.Name())
	}
}

// end queues the scope that the end record r at loc ends. ok is false if the begin can't be seen
// yet: its chunk's pages may be written later than the end's.
func (f *Follower) end(r *format.Record, loc format.Loc, ext []byte, owner uint32) (ok bool, err error) {
	t := f.t
	begin, ok := format.BeginOf(ext)
	if !ok || begin <= 0 || begin%format.RecordSize != 0 {
		return f.reportBadEnd(textOrphanEnd, loc), nil
	}
	if t.addr.gone(begin, r.Stop) {
		return f.queueGoneEnd(r, loc, begin, ext, owner), nil
	}
	b, args, err := t.freshBegin(begin)
	if err == errGone {
		f.ring.dirty = true
		f.late++ // the next poll has its carry
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info := f.recordsAt(begin)
	if info == nil || b.Start == 0 {
		if t.state.Closed {
			return f.reportBadEnd(textOrphanEnd, loc), nil
		}
		f.late++
		return false, nil
	}
	if b.Stop == r.Start && b.Start == r.Stop {
		return true, nil // it ended in place too, see player.twice
	}
	if text := f.mismatch(r, ext, &b); text != "" {
		return f.reportBadEnd(text, loc), nil
	}
	w := recordLoc{loc: begin, owner: info.owner}
	if format.Path(info.path) == format.PathAssembly {
		w.thread = uint32(b.Stop>>40) & 0x3fffff
	}
	if f.ends(begin) {
		f.add(item{end: max(r.Start, b.Start), rec: b, at: w, ext: args, apart: &apart{*r, slices.Clone(ext)}})
	}
	return true, nil
}

// mismatch returns why the end record r is not that of b; it is empty if r is.
func (f *Follower) mismatch(r *format.Record, ext []byte, b *format.Record) string {
	if spec := b.Kind().Spec(); spec == nil || !spec.Scope || !b.Open() || b.Start != r.Stop {
		return textOrphanEnd
	}
	if _, fits := decodeEnd(r, ext, b, f.decoder.endArgs[:0]); !fits {
		return textBadEnd
	}
	return ""
}

// ends notes that the scope at begin ended; it reports whether that is news.
func (f *Follower) ends(begin format.Loc) bool {
	delete(f.open, begin)
	c := f.liveAt(begin)
	if c == nil {
		return true
	}
	news := !c.saw(begin)
	c.see(begin)
	return news
}

// reportBadEnd adds the problem of an end at loc that ends nothing. It returns true, for callers that
// would queue the scope.
func (f *Follower) reportBadEnd(text string, loc format.Loc) bool {
	f.decoder.problems.add(text, f.t.addr.offset(loc), 1)
	return true
}

// recordsAt returns the chunk of records that contains loc, nil if it is not known.
func (f *Follower) recordsAt(loc format.Loc) *chunkInfo {
	c := f.t.chunkOf(loc)
	if c == nil || c.Kind != format.ChunkRecords || loc-c.loc < format.ChunkHeaderSize {
		return nil
	}
	return c
}

func (f *Follower) liveAt(loc format.Loc) *liveChunk {
	i, ok := slices.BinarySearchFunc(f.live, f.t.chunkLoc(loc), func(c *liveChunk, loc format.Loc) int { return cmp.Compare(c.loc, loc) })
	if !ok {
		return nil
	}
	return f.live[i]
}
