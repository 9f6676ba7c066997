package trace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// exercise calls every reading function on data. They must not panic or hang, nor take more memory
// than reading may, and must keep the promises of Events.
func exercise(t *testing.T, data []byte) {
	t.Helper()
	size := int64(len(data))
	r := bytes.NewReader(data)
	n, opens := 0, false
	tracetest.Frugal(t, "Open and all methods of a Trace", size, func() {
		tr, err := trace.Open(r, size)
		if opens = err == nil; opens {
			n = events(t, tr, size)
			for _, f := range accessors {
				f(t, tr, size)
			}
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	tracetest.Frugal(t, "Verify", size, func() {
		if _, err := trace.Verify(r, size); (err == nil) != opens {
			t.Errorf("Open has an error: %v; that of Verify is %v", !opens, err)
		}
	})
	if !opens {
		return
	}
	tracetest.FrugalTimes(t, "Dump", size, 32, func() { // it assembles every chunk again
		if err := text.Dump(io.Discard, r, size); err != nil {
			t.Errorf("Dump: %v", err)
		}
	})
	tracetest.FrugalTimes(t, "a Follower, and a Trace beside it", size, 2, func() { follow(t, r, size, n) })
}

// events reads all events and returns their number.
func events(t *testing.T, tr *trace.Trace, size int64) (n int) {
	var last int64
	var line []byte
	end := size
	if tr.Ring() > 0 {
		end = int64(tr.Header().ChunkSize) << 24 // by number
	}
	err := tr.Events(trace.Options{Anchors: true}, func(e *trace.Event) bool {
		n++
		if n > 1 && e.Start < last {
			t.Errorf("an event at %d after one at %d", e.Start, last)
		}
		last = e.Start
		switch {
		case e.Dur < 0, e.CPU < -1, e.Depth < 0, e.Loc < format.ChunkHeaderSize || int64(e.Loc) > end-format.RecordSize, len(e.Args) > format.MaxSlots:
			t.Errorf("event %+v", e)
		case e.Kind.Spec() == nil:
			t.Errorf("event of kind %v", e.Kind)
		}
		line = appendEvent(line[:0], tr, e)
		return true
	})
	if err != nil {
		t.Errorf("Events: %v", err)
	}
	if int64(n) > size/format.RecordSize {
		t.Errorf("%d events in %d bytes", n, size)
	}
	return n
}

// follow polls a trace that does not change.
func follow(t *testing.T, r io.ReaderAt, size int64, n int) {
	f, err := trace.NewFollower(r, func() (int64, error) { return size, nil }, trace.FollowOptions{FromStart: true})
	if err != nil {
		t.Errorf("NewFollower: %v", err)
		return
	}
	got := 0
	for range 3 {
		if _, err := f.Poll(func(*trace.Event) bool { got++; return true }); err != nil {
			t.Errorf("Poll: %v", err)
		}
	}
	if err := f.Open(func(*trace.Event) bool { got++; return true }); err != nil {
		t.Errorf("Open: %v", err)
	}
	if got > n {
		t.Errorf("followed %d events, there are %d", got, n)
	}
	f.Problems()
	f.Trace().Chunks() // its Events would need an Open of its own
	if again, err := trace.Open(r, size); err != nil {
		t.Error(err)
	} else if err := f.Events(again, trace.Options{From: 1, To: 1 << 40}, func(*trace.Event) bool { return true }); err != nil {
		t.Errorf("Follower.Events: %v", err)
	}
	if n := f.Missed(); n < 0 {
		t.Errorf("missed %d chunks of a trace that nobody wrote", n)
	}
}

func FuzzTrace(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.bytes(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<20 {
			exercise(t, data)
			agree(t, data)
		}
	})
}

// small returns small traces with a little of everything: one is a ring, and one is a ring that is
// being written.
func small(t *testing.T) (list [][]byte) {
	src := strings.NewReplacer("chunk records owner=1 ", "chunk records owner=1 since=2000 ").Replace(sound)
	live := strings.NewReplacer("closed=1", "closed=0", "stop ticks=9000\n", "").Replace(soundRing)
	for _, src := range []string{src, soundRing, live} {
		list = append(list, tracetest.Assemble(t, src))
	}
	return list
}

// full reports whether everything is to be tried, however long it takes.
func full() bool { return os.Getenv("SCOPEVIEW_FAULT") == "full" }

// every is the step between the places that are tried: 1 in full, else what fits the time.
func every(usual, short int) int {
	switch {
	case full():
		return 1
	case testing.Short(), trace.RaceEnabled:
		return short
	}
	return usual
}

// TestG23Truncated checks that a trace that ends at any byte opens, or gives an error.
func TestG23Truncated(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	n := 0
	for i, data := range small(t) {
		for size := 0; size <= len(data); size += every([]int{1, 3, 7}[i], 127) {
			if !full() && size%4096 > 900 && size%4096 < 4000 {
				continue // only zeros are cut there
			}
			exercise(t, data[:size])
			if n++; t.Failed() {
				t.Fatalf("cut off after %d bytes", size)
			}
		}
	}
	t.Logf("G23: a trace, a ring and one that is being written, cut off at %d places: no panic, memory and time within bounds", n)
}

// TestG23Flipped checks that a trace with any bit flipped opens, or gives an error; also if the
// checksums were corrected.
func TestG23Flipped(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	n := 0
	for i, data := range small(t) {
		for bit := 0; bit < 8*len(data); bit += every([]int{7, 17, 37}[i], 401) {
			if at := bit / 8; !full() && at%4096 > 900 && at%4096 < 4000 {
				continue // like the zeros before
			}
			for _, repaired := range []bool{false, true} {
				flipped := data
				data[bit/8] ^= 1 << (bit % 8)
				if repaired {
					flipped = repair(data)
				}
				if repaired && bytes.Equal(flipped, data) {
					// There is no checksum over it.
				} else if n++; bit%8 == bit/8%8 || repaired {
					exercise(t, flipped)
				} else if tr, err := trace.Open(bytes.NewReader(data), int64(len(data))); err == nil {
					events(t, tr, int64(len(data)))
				}
				agree(t, flipped)
				data[bit/8] ^= 1 << (bit % 8)
				if t.Failed() {
					t.Fatalf("bit %d of byte %d flipped, checksums made right: %v", bit%8, bit/8, repaired)
				}
			}
		}
	}
	t.Logf("G23: a trace, a ring and one that is being written, with a bit flipped, %d times: no panic, memory and time within bounds", n)
}

// repair returns data with all checksums corrected.
func repair(data []byte) []byte {
	b := bytes.Clone(data)
	le := binary.LittleEndian
	table := crc32.MakeTable(crc32.Castagnoli)
	le.PutUint32(b[format.HeaderSize:], crc32.Checksum(b[:format.HeaderSize], table))
	for chunk := 4096; chunk < len(b); chunk += 4096 {
		if format.ChunkKind(b[chunk+4]) != format.ChunkBlocks {
			continue
		}
		for at, end := chunk+format.ChunkHeaderSize, chunk+4096; at+format.BlockHeaderSize <= end; {
			h := b[at:end]
			n := int64(le.Uint32(h))
			if le.Uint64(h) == 0 || n > int64(len(h)-format.BlockHeaderSize) {
				break
			}
			p := h[format.BlockHeaderSize : format.BlockHeaderSize+n]
			le.PutUint32(h[8:], crc32.Update(crc32.Checksum(h[:8], table), table, p))
			at += format.BlockHeaderSize + int(n+7)&^7
		}
	}
	return b
}

// TestG24Bombs checks that a trace that claims to hold more than it does, or is as expensive as
// possible, costs a reader no more than reading may. The error for an unreadable one has the
// offset.
func TestG24Bombs(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	size := 1 << 18
	if full() {
		size = 4 << 20
	}
	refused := 0
	bombs := tracetest.Bombs(size)
	for _, b := range bombs {
		exercise(t, b.Data)
		if t.Failed() {
			t.Fatal(b.Name)
		}
		if _, err := trace.Open(bytes.NewReader(b.Data), int64(len(b.Data))); err != nil {
			var corrupt *trace.CorruptError
			if refused++; !errors.As(err, &corrupt) || corrupt.Offset < 0 || corrupt.Offset > int64(len(b.Data)) {
				t.Errorf("%s: %v", b.Name, err)
			}
		}
	}
	t.Logf("G24: %d files of %d KiB: %d are refused with where they are corrupt, the others read, all within 8 × file + 1 MiB and a second of CPU per MiB", len(bombs), size>>10, refused)
}

// FuzzText changes a trace's text instead of its bytes, so that checksums are right and the data
// behind them is reached too.
func FuzzText(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.trace)
	}
	f.Add(sound)
	f.Add(soundRing)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<13 {
			return
		}
		data, err := text.Assemble(strings.NewReader(src))
		if err == nil && len(data) < 1<<20 {
			exercise(t, data)
			agree(t, data)
		}
	})
}
