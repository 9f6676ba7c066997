package trace

import (
	"bytes"
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// diskPage is the smallest unit that disks write; file systems have pages of 1 KiB and more. If the
// machine stopped while a chunk was being written, pages in its middle may be missing: they are
// zero.
const diskPage = 512

var noPage [diskPage]byte

// losePages counts pages that are missing before the chunk's end, and clears what can't be read
// without them: an extension that continues in one, and everything behind one, up to the next
// record. live means that there were two reads; the first one limits what was there before the
// second.
func (c *chunkBuf) losePages(live bool) (n int64) {
	end := c.used
	if live {
		end = min(end, format.UsedBytes(c.first[:min(len(c.first), len(c.bytes))], c.head.Sealed))
	}
	behind := 0 // end of the last missing page
	for at := diskPage; at < end; at += diskPage {
		if page := c.bytes[at:min(at+diskPage, end)]; !bytes.Equal(page, noPage[:len(page)]) {
			continue
		}
		if at != behind {
			c.cutBefore(at)
		}
		if at+diskPage > end {
			continue // in the last page, holes are counted instead
		}
		n++
		behind = at + diskPage
		if behind < end {
			c.cutBehind(behind)
		}
	}
	return n
}

// startsUntil returns a time after which no record of a chunk starts. While a chunk is not final, a
// record that already has its place may, but not long after its writer has another chunk.
func (t *Trace) startsUntil(info *chunkInfo, h *format.ChunkHeader) int64 {
	if h.Final > 0 && h.Flags&format.FlagFinal != 0 {
		return h.Final
	}
	if info.next > 0 {
		return info.next + t.header.TickRate
	}
	return format.MaxTicks - 1
}

// findNext sets for each chunk of a ring when its writer got the next one.
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

// loseOthers clears pages that belong to another chunk, which was in this one's place before or
// after. After a power failure a place of a ring can have pages of both: the times in them do not
// fit the header. Extensions that continue in such a page are cleared too. It returns how many
// pages are missing now, where lost were before.
func (c *chunkBuf) loseOthers(lost int64, live bool) int64 {
	n := int64(0)
	// Data behind its end, in the same page, helps to identify that page too.
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
	// Without these pages, the records in other pages begin at other offsets.
	return c.loseOthers(max(c.losePages(live), n), live)
}

// odd counts what is neither a record nor its extension.
func odd(s *format.Walk) int64 { return s.Bad + s.Orphans + s.Holes }

// isEnd reports whether the record is an end apart, which may have begun earlier than its chunk.
func isEnd(s *format.Walk) bool {
	_, ok := s.Begin()
	return ok && s.Kind() == format.KindEnd
}

// cutBefore clears the extension that continues at a byte, if any.
func (c *chunkBuf) cutBefore(at int) {
	for s := c.scan(); s.Next() && s.Off < at; {
		if s.To > at {
			clear(c.bytes[s.Off+format.RecordSize : s.To])
		}
	}
}

// cutBehind clears the bytes from at on, up to a record that can belong to this chunk: the rest of
// an extension can look like anything.
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
