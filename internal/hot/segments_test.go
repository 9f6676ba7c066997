//go:build linux

package hot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const (
	parts     = 4
	inEach    = 3
	ringChunk = parts * inEach
)

// segmented returns a trace in segments, and its own file with chunk 0 and one kept chunk.
func segmented(t *testing.T, files uint64, closed bool) (path string, base *os.File, h format.Header) {
	t.Helper()
	h = someHeader
	h.Backing, h.Ring, h.Segments, h.Limit = format.BackingDisk, ringChunk, parts, 1<<20
	path = filepath.Join(t.TempDir(), "x.scope")
	base, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	b := make([]byte, 2*chunk)
	format.AppendHeader(b[:0], &h)
	le := binary.LittleEndian
	le.PutUint64(b[format.StateOffset+format.StateFiles:], files)
	if closed {
		le.PutUint64(b[format.StateOffset+format.StateClosed:], 1)
	}
	copy(b[chunk:], filled(ringChunk+1, 'k'))
	if _, err := base.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return path, base, h
}

// segmentAt writes a segment whose chunks are filled with a letter.
func segmentAt(t *testing.T, name string, h format.SegmentHeader, chunks int, letter byte) {
	t.Helper()
	b := make([]byte, (1+chunks)*chunk)
	format.AppendSegmentHeader(b[:0], &h)
	for i := range chunks {
		copy(b[(1+i)*chunk:], filled(h.Place()+int64(i), letter))
	}
	filetest.Write(t, name, b)
}

// letters reads the ring's places and returns the letter that each is filled with.
func letters(t *testing.T, f *File) string {
	t.Helper()
	size, err := f.Size()
	if err != nil || size != (ringChunk+2)*chunk {
		t.Fatalf("%d bytes, want %d: %v", size, (ringChunk+2)*chunk, err)
	}
	all := make([]byte, size)
	if n, err := f.ReadAt(all, 0); n != len(all) || err != nil {
		t.Fatalf("%d of %d bytes: %v", n, len(all), err)
	}
	h, s, err := format.DecodeHeader(all)
	if err != nil || h.Segments != 0 || h.Ring != ringChunk || s.Files != 0 {
		t.Errorf("the header is %+v, the state %+v, %v", h, s, err)
	}
	var text []byte
	for place := range ringChunk + 1 {
		b := all[(place+1)*chunk : (place+2)*chunk]
		switch want := filled(int64(place+1), b[chunk-1]); {
		case firstNonzero(b) < 0:
			text = append(text, '-')
		case bytes.Equal(b, want):
			text = append(text, b[chunk-1])
		default:
			t.Errorf("place %d is of several", place+1)
		}
	}
	// Any part of it is the same.
	for range 50 {
		from := rand.IntN(len(all))
		part := make([]byte, rand.IntN(len(all)-from))
		if n, err := f.ReadAt(part, int64(from)); n != len(part) || err != nil || !bytes.Equal(part, all[from:from+n]) {
			t.Fatalf("%d of %d bytes from %d on are others: %v", n, len(part), from, err)
		}
	}
	return string(text)
}

func firstNonzero(b []byte) int { return bytes.IndexFunc(b, func(r rune) bool { return r != 0 }) }

// TestSegments reads a trace in segments next to files that only look like segments.
func TestSegments(t *testing.T) {
	path, _, h := segmented(t, 3, false)
	seg := func(number, slot uint32) format.SegmentHeader {
		return format.SegmentHeader{Number: number, ID: h.ID, Part: slot, Chunks: inEach}
	}
	segmentAt(t, format.SegmentName(path, 7), seg(7, 2), inEach, 'c')
	segmentAt(t, format.SegmentName(path, 9), seg(9, 0), inEach, 'a')
	segmentAt(t, format.SegmentName(path, 12), seg(12, 3), 1, 'd') // it is being written
	// Files that are not segments of the trace.
	other := seg(13, 1)
	other.ID[3] = 99
	segmentAt(t, format.SegmentName(path, 13), other, inEach, 'x')
	segmentAt(t, format.SegmentName(path, 999999), other, inEach, 'x')
	segmentAt(t, format.SegmentName(path, 14), seg(15, 1), inEach, 'x') // another's number
	segmentAt(t, format.SegmentName(path, 16), seg(16, parts), inEach, 'x')
	large := seg(17, 1)
	large.Chunks = 1 << 31
	segmentAt(t, format.SegmentName(path, 17), large, inEach, 'x')
	segmentAt(t, path+".18", seg(18, 1), inEach, 'x')
	segmentAt(t, path+".0000000019", seg(19, 1), inEach, 'x')
	segmentAt(t, path+".000000", seg(0, 1), inEach, 'x')
	segmentAt(t, path+".000020.gz", seg(20, 1), inEach, 'x')
	segmentAt(t, format.SegmentName(path, 5), seg(5, 2), inEach, 'x') // older, with a slot that another has
	for name, b := range map[string][]byte{format.SegmentName(path, 21): nil, format.SegmentName(path, 22): []byte("no"), format.SegmentName(path, 23): make([]byte, 100)} {
		filetest.Write(t, name, b)
	}
	elsewhere := filepath.Join(t.TempDir(), "y.000024")
	segmentAt(t, elsewhere, seg(24, 1), inEach, 'x')
	if err := os.Symlink(elsewhere, format.SegmentName(path, 24)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(format.SegmentName(path, 25), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(format.SegmentName(path, 26), 0o700); err != nil {
		t.Fatal(err)
	}
	segmentAt(t, format.SegmentName(path, 27), seg(27, 1), inEach, 'x')
	if os.Getuid() == 0 {
		if err := os.Chown(format.SegmentName(path, 27), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Remove(format.SegmentName(path, 27)); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := letters(t, f), "aaa---cccd--k"; got != want {
		t.Errorf("the places have %q, want %q", got, want)
	}
	if n := f.MissingSegments(); n != 0 {
		t.Errorf("%d segments are missing", n)
	}
}

// TestSegmentsComeAndGo: the writer deletes a segment and creates another in its slot.
func TestSegmentsComeAndGo(t *testing.T) {
	path, base, h := segmented(t, 1, false)
	seg := func(number, slot uint32) format.SegmentHeader {
		return format.SegmentHeader{Number: number, ID: h.ID, Part: slot, Chunks: inEach}
	}
	segmentAt(t, format.SegmentName(path, 1), seg(1, 0), inEach, 'a')
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	step := func(what, want string, missing int64) {
		t.Helper()
		if got := letters(t, f); got != want {
			t.Errorf("%s: the places have %q, want %q", what, got, want)
		}
		if n := f.MissingSegments(); n != missing {
			t.Errorf("%s: %d segments are missing, want %d", what, n, missing)
		}
	}
	step("one", "aaa---------k", 0)
	segmentAt(t, format.SegmentName(path, 2), seg(2, 1), inEach, 'b')
	step("a second one", "aaabbb------k", 0)
	if err := os.Remove(format.SegmentName(path, 1)); err != nil {
		t.Fatal(err)
	}
	// Without a scan: overwritten data is not read.
	b := make([]byte, chunk)
	if n, err := f.ReadAt(b, chunk); n != chunk || err != nil || firstNonzero(b) >= 0 {
		t.Errorf("of a file that was deleted %d bytes are read: %v", n, err)
	}
	segmentAt(t, format.SegmentName(path, 3), seg(3, 0), inEach, 'c')
	step("another in its place", "cccbbb------k", 0)
	if err := os.Remove(format.SegmentName(path, 2)); err != nil {
		t.Fatal(err)
	}
	step("one less", "ccc---------k", 0)
	word := binary.LittleEndian.AppendUint64(nil, 3)
	if _, err := base.WriteAt(word, format.StateOffset+format.StateFiles); err != nil {
		t.Fatal(err)
	}
	step("there should be three", "ccc---------k", 2)
	word[0] = 1
	if _, err := base.WriteAt(word, format.StateOffset+format.StateClosed); err != nil {
		t.Fatal(err)
	}
	step("closed", "ccc---------k", 2)
	// The trace is closed: files that were found stay while it is open here.
	if err := os.Remove(format.SegmentName(path, 3)); err != nil {
		t.Fatal(err)
	}
	step("closed, and deleted", "ccc---------k", 2)
}

// TestSegmentAlone: a segment is not a trace, and the error names its trace.
func TestSegmentAlone(t *testing.T) {
	path, _, h := segmented(t, 1, true)
	name := format.SegmentName(path, 1)
	segmentAt(t, name, format.SegmentHeader{Number: 1, ID: h.ID, Chunks: inEach}, inEach, 'a')
	if _, err := Open(name); !errors.Is(err, format.ErrNotTrace) || !strings.HasSuffix(err.Error(), "give the trace, "+path) {
		t.Errorf("%v, want which file to give", err)
	}
	if err := os.Rename(name, path+".old"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path + ".old"); !errors.Is(err, format.ErrNotTrace) || !strings.Contains(err.Error(), "segment") {
		t.Errorf("%v, want that it is a segment", err)
	}
}

// TestAdoptSegments: chunks in memory are written to their segments, and a segment that does not
// exist yet is created, under an unused name. A deleted one is still missing.
func TestAdoptSegments(t *testing.T) {
	inDir(t)
	UseSegments()
	w := newWriter(t, 8, func(h *format.Header) { h.Ring, h.Segments = ringChunk, parts })
	w.state(format.StateFiles, 2) // one was deleted
	path := w.trace.Name()
	segmentAt(t, format.SegmentName(path, 4), format.SegmentHeader{Number: 4, ID: w.head.ID, Part: 1, Chunks: inEach}, 1, 'b')
	for slot, place := range []int64{4, 5, 7, ringChunk + 1} { // 7 is of a segment that has no file yet
		w.attach(slot+1, place)
		w.put(place, filled(place, 'n'), 0)
	}
	f := joined(t, w, Joined)
	if got, want := letters(t, f), "---nn-n-----n"; got != want {
		t.Errorf("joined the places have %q, want %q", got, want)
	}
	w.kill()
	other := format.SegmentName(path, 5)
	filetest.Write(t, other, []byte("somebody's"))
	adopt(t, Adopted{Traces: 1, Chunks: 4, Removed: 1})
	if b, err := os.ReadFile(other); err != nil || string(b) != "somebody's" {
		t.Errorf("%s has %q, %v", other, b, err)
	}
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got, want := letters(t, g), "---nn-n-----n"; got != want {
		t.Errorf("the places have %q, want %q", got, want)
	}
	if n := g.MissingSegments(); n != 1 {
		t.Errorf("%d segments are missing, want 1", n)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 2*chunk {
		t.Errorf("the trace's own file: %v, %v", st, err)
	}
}

// TestSegmentMadeMeanwhile: a chunk that was in memory is read from a segment that was created
// after a reader had listed them.
func TestSegmentMadeMeanwhile(t *testing.T) {
	inDir(t)
	w := newWriter(t, 8, func(h *format.Header) { h.Ring, h.Segments = ringChunk, parts })
	path := w.trace.Name()
	f := joined(t, w, Joined)
	for i, step := range []struct {
		number, part uint32
		letter       byte
		deletes      uint32
	}{
		{number: 1, part: 1, letter: 'a'},
		{number: 2, part: 0, letter: 'b'},
		{number: 3, part: 1, letter: 'c', deletes: 1},
		{number: 5, part: 2, letter: 'd'},             // another file has the name of number 4
		{number: 9, part: 3, letter: 'e', deletes: 5}, // those between came and went
	} {
		h := format.SegmentHeader{Number: step.number, ID: w.head.ID, Part: step.part, Chunks: inEach}
		if i == 3 {
			filetest.Write(t, format.SegmentName(path, 4), nil)
		}
		if step.deletes > 0 {
			if err := os.Remove(format.SegmentName(path, step.deletes)); err != nil {
				t.Fatal(err)
			}
		}
		place, got := h.Place(), make([]byte, chunk)
		w.attach(1, place)
		w.put(place, filled(place, step.letter), 0)
		for range 2 {
			if _, err := f.ReadAt(got, place*chunk); err != nil || !bytes.Equal(got, filled(place, step.letter)) {
				t.Errorf("segment %d: it has %q..., %v, want %q", step.number, got[chunk-2:], err, step.letter)
			}
			if w.slots[1] != 0 {
				segmentAt(t, format.SegmentName(path, step.number), h, 1, step.letter)
				w.let(place)
			}
		}
	}
}
