//go:build !scope_off

package record_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	. "github.com/scopeview/scopeview/scope"
)

// TestG5Scribbled: another process stores random bytes into the trace, or its hot file, while a
// program records. The counts of Stats are never negative, never impossible, never decrease,
// and are marked as unknown; and Stop returns.
func TestG5Scribbled(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("there is no memory here that others can write")
	}
	n := 0
	for name, kind := range map[string]BackingKind{"disk": DiskBacking, "shm": ShmBacking} {
		for what, from := range map[string]int64{"counters": format.CountersOffset, "header": 0, "records": format.ChunkSize} {
			t.Run(name+", "+what, func(t *testing.T) { n += scribbled(t, kind, what, from) })
		}
		for what, opt := range map[string]Option{"ring": WithRing(MinRing), "segments": WithSegments(MinSegment, 2)} {
			t.Run(name+", "+what, func(t *testing.T) { n += scribbledRing(t, kind, opt) })
		}
	}
	t.Logf("G5: %d times random bytes over the counters, the header and the records of a trace that is written: each number within its bounds", n)
}

// scribbled returns the number of stores.
func scribbled(t *testing.T, kind BackingKind, what string, from int64) int {
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := Start(path, WithBacking(kind), shortTicks()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Stop() })
	at := path
	if kind == ShmBacking {
		at = hotOf(t, path)
		from += format.HotSlot(1, 0)
	}
	f, err := os.OpenFile(at, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(1, uint64(from)))
	before := Stats()
	const times = 200
	for i := range times {
		b := make([]byte, 64)
		for range 8 {
			at := from + 8*r.Int64N((format.ChunkSize-format.CountersOffset)/8-8)
			if what == "header" {
				at = from + r.Int64N(format.ControlOffset-64)
			}
			for k := range b {
				b[k] = byte(r.Uint32()) & byte(0xff>>(i%2*8)) // every other time zeros
			}
			if _, err := f.WriteAt(b, at); err != nil {
				t.Fatal(err)
			}
		}
		Task("a")()
		s := Stats()
		bounded(t, s, before)
		before = s
		if what == "counters" && !s.Lost.Unknown {
			t.Fatal("the counters were changed, and Stats does not say so")
		}
	}
	stopSoon(t)
	bounded(t, Stats(), before)
	if what == "counters" {
		readScribbled(t, path)
	}
	return times
}

// readScribbled checks that readers report the losses as unknown.
func readScribbled(t *testing.T, path string) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	for why, n := range tr.Lost() {
		if n < 0 || n > 1<<50 {
			t.Errorf("the trace says that %d are lost (%v)", n, why)
		}
	}
	if until, all := tr.LossesUntil(); all || until != 0 || !tr.Miscounted() {
		t.Error("the trace's counters were changed, and its reader does not say so")
	}
}

// bounded checks numbers against their earlier values.
func bounded(t *testing.T, s, before Statistics) {
	t.Helper()
	sum, most := int64(0), int64(1<<50)
	for _, c := range [][2]int64{
		{s.Lost.Window, before.Lost.Window}, {s.Lost.Limit, before.Lost.Limit}, {s.Lost.Space, before.Lost.Space}, {s.Lost.IO, before.Lost.IO},
		{s.Lost.Busy, before.Lost.Busy}, {s.Lost.Stop, before.Lost.Stop}, {s.Lost.Stacks, before.Lost.Stacks},
	} {
		if c[0] < c[1] || c[0] < 0 || c[0] > most {
			t.Fatalf("%d are lost, and before it were %d: %+v", c[0], c[1], s.Lost)
		}
		sum += c[0]
	}
	if s.Lost.Total() != sum || s.Lost.Ends < before.Lost.Ends || s.Lost.Opens < before.Lost.Opens {
		t.Fatalf("lost %+v, and before %+v", s.Lost, before.Lost)
	}
	if s.Recorded < 0 || s.Recorded > 1e6 || s.Bytes < 0 || s.Bytes > 1<<40 || s.Stacks < 0 || s.PreparedLeast < 0 || s.Overwritten < 0 {
		t.Fatalf("%+v", s)
	}
}

// scribbledRing overwrites the chunks of a ring, which are scanned before the recorder
// overwrites them. It returns the number of stores.
func scribbledRing(t *testing.T, kind BackingKind, opt Option) int {
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := Start(path, WithBacking(kind), shortTicks(), opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Stop() })
	at, first := path, int64(format.ChunkSize)
	if kind == ShmBacking {
		at, first = hotOf(t, path), format.HotSlot(1, 1)
	}
	f, err := os.OpenFile(at, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(2, 0))
	long := strings.Repeat("x", 200)
	issued, before := int64(0), Stats()
	times := 0
	for began := time.Now(); times < 100 || before.Overwritten == 0 && time.Since(began) < 5*time.Second; times++ {
		for range 400 {
			Task("a", "arg", long)()
		}
		issued += 400
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		for chunk := first; chunk < min(st.Size(), first+128*format.ChunkSize); chunk += format.ChunkSize {
			b := make([]byte, 64)
			for k := range b {
				b[k] = byte(r.Uint32())
			}
			at := chunk + 8*r.Int64N(format.ChunkSize/8-8)
			switch times % 3 {
			case 1: // the used size: the whole chunk, or negative
				b, at = bytes.Repeat([]byte{byte(r.IntN(2) * 0xff)}, 8), chunk+format.ChunkSealedOffset
				if b[0] == 0 {
					b[2] = 1 // ChunkSize
				}
			case 2: // more records than there were, because they are short
				at = chunk + format.ChunkHeaderSize
				b = bytes.Repeat(shortRecord(), (format.ChunkSize-format.ChunkHeaderSize)/format.RecordSize)
			}
			if holds(t, f, chunk) {
				if _, err := f.WriteAt(b, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := Stats()
		bounded(t, s, before)
		if s.Overwritten < before.Overwritten || s.Overwritten+s.Recorded > issued+1000 {
			t.Fatalf("of %d scopes %d are there and %d are overwritten; before it were %d", issued, s.Recorded, s.Overwritten, before.Overwritten)
		}
		before = s
	}
	stopSoon(t)
	bounded(t, Stats(), before)
	if before.Overwritten == 0 {
		t.Error("the ring has overwritten nothing")
	}
	return times
}

// holds reports whether there are records at chunk.
func holds(t *testing.T, f *os.File, chunk int64) bool {
	t.Helper()
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, chunk); err != nil {
		return false
	}
	return format.ChunkKind(binary.LittleEndian.Uint64(b)>>32) == format.ChunkRecords
}

// shortRecord returns an ended scope with nothing but its name.
func shortRecord() []byte {
	b := binary.LittleEndian.AppendUint64(nil, 1) // Start
	b = binary.LittleEndian.AppendUint64(b, 2)
	b = binary.LittleEndian.AppendUint64(b, format.Head(1, format.KindTask, false, format.NameOther))
	return binary.LittleEndian.AppendUint64(b, 1)
}

func stopSoon(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- Stop() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("Stop does not return")
	}
}
