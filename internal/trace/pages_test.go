package trace

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestPagesOfOthers builds chunks from the pages of two chunks, as a power failure leaves a place
// of a ring, and from zero pages. Each record that is left belongs to the chunk of the header, with
// its own arguments. A complete chunk loses nothing.
func TestPagesOfOthers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 8))
	left, lost := 0, int64(0)
	for i := range 2000 {
		older, newer := pagesChunk(rnd, 10_000), pagesChunk(rnd, 1_000_000)
		here, other := newer, older
		if i%2 == 1 {
			here, other = older, newer
		}
		c := chunkBuf{head: here.head, bytes: append([]byte(nil), here.bytes...), until: here.head.Final}
		if i%4 > 1 { // its writer still had it
			c.head.Sealed = 0
		}
		for at := diskPage; at < len(c.bytes) && i >= 8; at += diskPage {
			switch page := c.bytes[at : at+diskPage]; rnd.IntN(4) {
			case 0:
				copy(page, other.bytes[at:])
			case 1:
				clear(page)
			}
		}
		c.used = format.UsedBytes(c.bytes, c.head.Sealed)
		n := c.loseOthers(c.losePages(false), false)
		lost += n
		if i < 8 && n != 0 {
			t.Errorf("a chunk that is whole has lost %d pages", n)
		}
		found := 0
		for s := c.scan(); s.Next(); found++ {
			r := s.Record()
			if r.Start < here.head.Since || r.Start > here.head.Final {
				t.Fatalf("mixture %d: at %d there is a record of tick %d, of a chunk of %d to %d", i, s.Off, r.Start, here.head.Since, here.head.Final)
			}
			ext := s.WholeExt()
			if ext != nil && int64(crc32.ChecksumIEEE(ext)) != r.CPUTicks() {
				t.Fatalf("mixture %d: the record at %d has another's arguments", i, s.Off)
			}
		}
		if i < 8 && found != here.records {
			t.Errorf("of %d records %d are left", here.records, found)
		}
		left += found
	}
	if left < 10_000 || lost < 1000 {
		t.Errorf("%d records are left, %d pages are lost: that is no trial", left, lost)
	}
}

type madeChunk struct {
	head    format.ChunkHeader
	bytes   []byte
	records int
}

// pagesChunk makes a chunk whose records have arguments of up to 600 bytes, and checksums of them.
func pagesChunk(rnd *rand.Rand, since int64) madeChunk {
	c := madeChunk{bytes: make([]byte, 16<<10)}
	at, tick := format.ChunkHeaderSize, since
	for {
		units := max(rnd.IntN(20)-10, 0)
		if rnd.IntN(20) > 0 {
			units = min(units, 3)
		}
		end := at + (1+units)*format.RecordSize
		if end > len(c.bytes)-300 {
			break
		}
		le := binary.LittleEndian
		b, ext := c.bytes[at:end], c.bytes[at+format.RecordSize:end]
		tick += 1 + rnd.Int64N(20)
		head := uint64(format.KindTask)<<40 | 7
		if units > 0 {
			head |= format.ExtBit
			le.PutUint64(ext, 7<<60|uint64(format.SlotUint)<<12|uint64(units))
			for i := 8; i < len(ext); i += 8 {
				le.PutUint64(ext[i:], rnd.Uint64()>>2|1<<39) // no time of these chunks, and no extension
			}
		}
		le.PutUint64(b, uint64(tick))
		le.PutUint64(b[8:], uint64(tick+3))
		le.PutUint64(b[16:], head)
		le.PutUint64(b[24:], uint64(crc32.ChecksumIEEE(ext))<<2|uint64(format.Exact))
		at = end
		c.records++
	}
	c.head = format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathAssembly, Since: since, Gen: 1, Number: 1, Flags: format.FlagFinal, Sealed: int64(at), Final: tick}
	format.PutChunkHeader(c.bytes, &c.head)
	return c
}
