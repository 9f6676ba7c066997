package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// contents is the contents of a snapshot, read without the reader.
type contents struct {
	state   format.State
	numbers map[uint32]bool
	recs    map[int64]format.Record // by loc
	exts    map[int64][]byte
	ends    map[int64]format.Record // by the loc of their begin
	names   map[uint16]bool
	carries map[int64]format.Carry
	records int64
	holes   int
	latest  int64 // of all times
}

func read(t *testing.T, path string, ring bool) *contents {
	t.Helper()
	data := filetest.Read(t, path)
	h, s, err := format.DecodeHeader(data)
	if err != nil {
		t.Fatal(err)
	}
	c := &contents{state: s, numbers: map[uint32]bool{}, recs: map[int64]format.Record{}, exts: map[int64][]byte{},
		ends: map[int64]format.Record{}, names: map[uint16]bool{}, carries: map[int64]format.Carry{}}
	cs := int(h.ChunkSize)
	if len(data)%cs != 0 || s.End != int64(len(data)) {
		t.Errorf("%d bytes, end %d", len(data), s.End)
	}
	stops := 0
	file := chunks.Of(bytes.NewReader(data), int64(len(data)), &h, &s)
	for off := cs; off < len(data); off += cs {
		b := make([]byte, cs)
		k, ok, bad, err := file.ReadChunk(b, int64(off))
		if bad != nil || err != nil || stops > 0 {
			t.Fatalf("at %d: %v, %v, after %d stop blocks", off, bad, err, stops)
		}
		if !ok {
			zero(t, b, off, "no chunk")
			continue
		}
		if k.Flags&format.FlagFinal == 0 || k.Sealed < format.ChunkHeaderSize {
			t.Fatalf("at %d: flags %x, sealed %d", off, k.Flags, k.Sealed)
		}
		zero(t, b[k.Sealed:], off+int(k.Sealed), "a chunk's end")
		loc := int64(off)
		if ring && k.Flags&format.FlagKept == 0 {
			if c.numbers[k.Number] {
				t.Errorf("two chunks have the number %d", k.Number)
			}
			c.numbers[k.Number] = true
			loc = int64(k.Number) * int64(cs)
		}
		if k.Kind == format.ChunkBlocks {
			stops += c.blocks(t, &k)
			continue
		}
		c.records += count(&k)
		w := k.Records()
		for w.Next() {
			for _, j := range w.Skipped {
				c.holes++
				zero(t, b[j.From:j.To], off+j.From, "a place without a record")
			}
			r := w.Record()
			c.latest = max(c.latest, latest(&r))
			c.recs[loc+int64(w.Off)] = r
			c.exts[loc+int64(w.Off)] = w.Ext()
			if begin, ok := w.Begin(); ok && r.Kind() == format.KindEnd {
				c.ends[int64(begin)] = r
			}
		}
		if len(w.Skipped) > 0 {
			t.Errorf("at %d: the chunk ends with places without a record", off)
		}
	}
	if stops != 1 {
		t.Errorf("%d stop blocks", stops)
	}
	return c
}

func (c *contents) blocks(t *testing.T, k *chunks.Chunk) (stops int) {
	w := k.Blocks()
	for w.Next() {
		p := w.Payload
		if w.Err != nil || stops > 0 {
			t.Fatalf("a block: %v, after %d stops", w.Err, stops)
		}
		if _, to, ok := times(w.Type, p); ok {
			c.latest = max(c.latest, to)
		}
		switch w.Type {
		case format.BlockName:
			id, _, _ := format.DecodeName(p)
			c.names[id] = true
		case format.BlockCarry:
			if k.Flags&format.FlagKept != 0 {
				t.Error("a carry is kept")
			}
			carry, err := format.DecodeCarry(p)
			if err != nil {
				t.Fatal(err)
			}
			c.carries[int64(carry.Loc)] = carry
		case format.BlockStop:
			stops++
		}
	}
	if w.To != int(k.Sealed) {
		t.Fatalf("blocks end at %d of %d bytes", w.To, k.Sealed)
	}
	return stops
}

func zero(t *testing.T, b []byte, off int, what string) {
	t.Helper()
	for i, x := range b {
		if x != 0 {
			t.Fatalf("at %d, %d bytes behind %s, there is something", off+i, i, what)
		}
	}
}

// TestChanging copies a trace that changes between the words that are read.
func TestChanging(t *testing.T) {
	holes, missed, wraps := 0, 0, 0
	seeds := uint64(3)
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		seeds = 8
	}
	for _, test := range []struct{ ring, speed int }{{0, 0}, {0, 5}, {0, 30}, {24, 0}, {24, 1}, {24, 5}, {60, 3}, {60, 20}, {100, 8}, {12, 60}, {40, 100}} {
		for _, goes := range []bool{false, true} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("ring%d/speed%d/goes=%v/%d", test.ring, test.speed, goes, seed), func(t *testing.T) {
					m := newModel(seed, test.ring, goes, test.speed)
					m.run(20_000 + test.ring*900 + int(seed)*3000)
					before := *m
					before.truth = maps.Clone(m.truth)
					was := map[int64]modelScope{}
					for loc, s := range m.truth {
						was[loc] = *s
					}
					path := filepath.Join(t.TempDir(), "x.scope")
					res, then, there := createFrom(t, path, m)
					c := read(t, path, test.ring > 0)
					around := test.ring > 0 && m.number > before.number+uint32(test.ring)
					check(t, c, m, was, around)
					if len(c.numbers) > test.ring {
						t.Errorf("%d chunks have numbers, of a ring of %d", len(c.numbers), test.ring)
					}
					if around { // then the sum is that of a later moment
						then = m.issued
					}
					sum := c.records + c.state.Lost + c.state.Overwritten
					if sum < before.issued || sum > then {
						t.Errorf("%d records + %d lost + %d overwritten are %d; issued were %d before and %d then; %+v", c.records, c.state.Lost, c.state.Overwritten, sum, before.issued, then, res)
					}
					if gaps := c.gaps(there); test.ring == 0 && res.Missed > 0 || gaps > res.Missed {
						t.Errorf("%+v; %d numbers are missing", res, gaps)
					}
					if c.latest > c.state.Tick {
						t.Errorf("the moment is %d, there is something of %d", c.state.Tick, c.latest)
					}
					holes += c.holes
					missed += res.Missed
					if around {
						wraps++
					}
				})
			}
		}
	}
	t.Logf("%d holes, %d chunks missed, %d times around", holes, missed, wraps)
}

// createFrom makes a snapshot of the model. then is how many records were issued when the last live
// chunk was read, there the chunks that were to be copied.
func createFrom(t *testing.T, path string, m *model) (res Result, then int64, there map[uint32]bool) {
	t.Helper()
	c, err := newCopier(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.retryUntil = time.Now().Add(1 * time.Millisecond)
	if c.dst, err = os.Create(path); err != nil {
		t.Fatal(err)
	}
	defer c.dst.Close()
	for i, step := range c.steps() {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if i == 2 { // the index
			there = map[uint32]bool{}
			for n, k := range m.byNumber {
				there[n] = !k.gone && n <= uint32(c.newest) && k.since <= c.cut
			}
		}
		if i == 6 { // step 6 reads the number of lost records
			then = m.issued
		}
	}
	return c.result(path), then, there
}

// gaps returns how many chunks up to the last are missing.
func (c *contents) gaps(there map[uint32]bool) (n int) {
	for number := range slices.Max(append(slices.Collect(maps.Keys(c.numbers)), 0)) {
		if there[number] && !c.numbers[number] {
			n++
		}
	}
	return n
}

// check compares a snapshot with what the model wrote; was is what it had written before.
func check(t *testing.T, c *contents, m *model, was map[int64]modelScope, around bool) {
	t.Helper()
	for loc, r := range c.recs {
		if !c.names[r.Name()] && r.Name() >= format.FirstName {
			t.Errorf("name %d is not there", r.Name())
		}
		switch r.Kind() {
		case format.KindAnchor:
			continue
		case format.KindEnd:
			begin := int64(binary.LittleEndian.Uint64(c.exts[loc][8:]))
			if _, ok := c.recs[begin]; !ok && (m.ring == 0 || c.numbers[uint32(begin/modelChunkSize)]) {
				t.Errorf("the end at %d has no begin at %d", loc, begin)
			}
			continue
		}
		s := m.truth[loc]
		if s == nil || r.Start != s.start || r.Head != s.head {
			t.Fatalf("at %d: %+v, the truth is %+v", loc, r, s)
		}
		if !r.Open() && r.Kind() == format.KindTask && (s.apart || r.Stop != s.stop || r.CPU != s.cpu) {
			t.Fatalf("at %d: %+v, the truth is %+v", loc, r, s)
		}
		if r.Ext() {
			slots, err := format.DecodeExt(nil, c.exts[loc])
			if err != nil || len(slots) != 5 || slots[4].Value != slots[0].Value || slots[0].Value == 0 {
				t.Errorf("at %d: slots %v, %v", loc, slots, err)
			}
		}
	}
	for loc, s := range was {
		r, ok := c.recs[loc]
		if !ok && !s.chunk.gone {
			t.Errorf("the record at %d was there before and is still there, and was not copied", loc)
		}
		if e := s.endIn; ok && s.stop != 0 && r.Open() && (e == nil || !e.gone) {
			if e, ok := c.ends[loc]; !ok || e.Start != s.stop || e.CPU != s.cpu {
				t.Errorf("the scope at %d had ended at %d, and is open; %+v", loc, s.stop, e)
			}
		}
		if k, carried := c.carries[loc]; !ok && s.stop == 0 && c.ends[loc].Start == 0 && (!carried || k.Record.Start != s.start) {
			if now := m.truth[loc]; now.stop == 0 && !around {
				t.Errorf("the scope at %d was open all the time and nothing records it", loc)
			}
		}
	}
}
