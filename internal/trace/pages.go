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
	for at := diskPage; at+diskPage <= end; at += diskPage {
		if !bytes.Equal(c.bytes[at:at+diskPage], noPage[:]) {
			continue
		}
		if at != behind && !c.cutBefore(at) {
			continue
		}
		n++
		behind = at + diskPage
		if behind < end {
			c.cutBehind(behind)
		}
	}
	c.lost = n * diskPage / format.RecordSize
	return n
}

// cutBefore clears the extension that goes on at a byte, if one does. It returns false for
// one that goes on behind the page: that may be zero.
func (c *chunkBuf) cutBefore(at int) bool {
	for s := c.scan(); s.Next() && s.Off < at; {
		if s.To > at+diskPage {
			return false
		}
		if s.To > at {
			clear(c.bytes[s.Off+format.RecordSize : s.To])
		}
	}
	return true
}

// cutBehind clears what lies from a byte on before a record that can be one of this
// chunk: the rest of an extension can look like anything.
func (c *chunkBuf) cutBehind(at int) {
	for ; at+format.RecordSize <= c.used; at += format.RecordSize {
		b := c.bytes[at:][:format.RecordSize]
		r := format.DecodeRecord(b)
		k := r.Kind().Spec()
		if r.Start >= c.head.Since && r.Start < format.MaxTicks && k != nil && (!k.Scope || r.Open() || r.Stop >= r.Start) {
			return
		}
		if next := at + format.RecordSize; next%diskPage == 0 || binary.LittleEndian.Uint64(b) == 0 {
			return // it is not longer than that, or nothing follows
		}
		clear(b)
	}
}
