package trace

import (
	"bytes"
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// diskPage is the least that disks write as a whole; file systems have pages of 1 KiB and
// more. Of a chunk that was being written when the machine stopped, pages in its middle may
// be missing: they are zero.
const diskPage = 512

var noPage [diskPage]byte

// losePages counts pages that are missing before the chunk's end, and takes away what can't
// be read without them: an extension that goes on in one, and what is behind one, up to
// where a record begins. live says that there were two readings, of which the first tells
// what was there before the second.
func (c *chunkBuf) losePages(live bool) (n int64) {
	end := c.used
	if live {
		end = min(end, format.UsedBytes(c.first[:min(len(c.first), len(c.bytes))], c.head.Sealed))
	}
	behind := 0 // the last that is missing
	for at := diskPage; at < end; at += diskPage {
		if page := c.bytes[at:min(at+diskPage, end)]; !bytes.Equal(page, noPage[:len(page)]) {
			continue
		}
		if at != behind {
			c.cutBefore(at)
		}
		if at+diskPage > end {
			continue // of the last page, holes are told of
		}
		n++
		behind = at + diskPage
		if behind < end {
			c.cutBehind(behind)
		}
	}
	return n
}

// startsUntil returns a time after which no record of a chunk starts. While a chunk is not
// final one may that has its place already, but not long after its writer has another chunk.
func (t *Trace) startsUntil(info *chunkInfo, h *format.ChunkHeader) int64 {
	if h.Final > 0 && h.Flags&format.FlagFinal != 0 {
		return h.Final
	}
	if info.next > 0 {
		return info.next + t.header.TickRate
	}
	return format.MaxTicks - 1
}

// findNext notes of each chunk of a ring since when its writer had another one.
func (t *Trace) findNext() {
	type writer struct{ path, owner uint32 }
	since := map[writer]int64{}
	for i := len(t.chunks) - 1; i >= 0 && t.header.Ring != 0; i-- {
		c := &t.chunks[i]
		if c.Kind != format.ChunkRecords {
			continue
		}
		w := writer{uint32(c.path), c.owner}
		if s := since[w]; s > c.Since {
			c.next = s
		}
		since[w] = c.Since
	}
}

// loseOthers takes away pages that are of another chunk, which was in this one's place before
// or came after. After a power failure a place of a ring can have pages of both: the times in
// them do not fit the header. What leads into such a page goes too. It returns how many pages
// are missing now, where lost were before.
func (c *chunkBuf) loseOthers(lost int64, live bool) int64 {
	n := int64(0)
	// What lies behind its end, in the same page, tells of that page too.
	end := min((c.used+diskPage-1)&^(diskPage-1), len(c.bytes))
	s := format.WalkRecords(c.bytes[:end])
	for more := true; more; {
		before, behind, was := s.Off, s.To, odd(&s)
		more = s.Plain() || s.Next()
		page := s.Off &^ (diskPage - 1)
		fits := !more || page == 0 || s.Start() <= c.until && (s.Start() >= c.head.Since || isEnd(&s))
		if fits && odd(&s) == was && more {
			continue
		}
		if before > 0 && before/diskPage != (behind-1)/diskPage {
			clear(c.bytes[before+format.RecordSize : behind])
		}
		if !fits {
			s.Off, s.To = 0, min(page+diskPage, end)
			clear(c.bytes[page:s.To])
			c.cutBehind(s.To)
			n++
		}
	}
	if n == 0 {
		return lost
	}
	// Without them what is in other pages is read from other places on.
	return c.loseOthers(max(c.losePages(live), n), live)
}

// odd counts what neither a record nor its extension is.
func odd(s *format.Walk) int64 { return s.Bad + s.Orphans + s.Holes }

// isEnd reports whether the record is an end apart, which may have begun earlier than its chunk.
func isEnd(s *format.Walk) bool {
	_, ok := s.Begin()
	return ok && s.Kind() == format.KindEnd
}

// cutBefore clears the extension that goes on at a byte, if one does.
func (c *chunkBuf) cutBefore(at int) {
	for s := c.scan(); s.Next() && s.Off < at; {
		if s.To > at {
			clear(c.bytes[s.Off+format.RecordSize : s.To])
		}
	}
}

// cutBehind clears what lies from a byte on before a record that can be one of this
// chunk: the rest of an extension can look like anything.
func (c *chunkBuf) cutBehind(at int) {
	for ; at+format.RecordSize <= c.used; at += format.RecordSize {
		b := c.bytes[at:][:format.RecordSize]
		r := format.DecodeRecord(b)
		k := r.Kind().Spec()
		if r.Start >= c.head.Since && r.Start <= c.until && k != nil && (!k.Scope || r.Open() || r.Stop >= r.Start) {
			return
		}
		if next := at + format.RecordSize; next%diskPage == 0 || binary.LittleEndian.Uint64(b) == 0 {
			return // it is not longer than that, or nothing follows
		}
		clear(b)
	}
}
