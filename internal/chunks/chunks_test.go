package chunks

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// places returns a file with a header at each of the places given, by their number.
func places(n int64, headers map[int64]format.ChunkHeader) []byte {
	b := make([]byte, n*format.ChunkSize)
	for at, h := range headers {
		h.Index = uint32(at)
		format.PutChunkHeader(b[at*format.ChunkSize:], &h)
	}
	return b
}

func fileOf(r io.ReaderAt, n int64) File {
	return File{R: r, Size: n * format.ChunkSize, Chunk: format.ChunkSize}
}

// changing returns other contents of a file's places at each read; the last ones remain.
type changing struct {
	states [][]byte
	reads  int
}

func (c *changing) ReadAt(b []byte, off int64) (int, error) {
	s := c.states[min(c.reads, len(c.states)-1)]
	c.reads++
	return bytes.NewReader(s).ReadAt(b, off)
}

func TestReadFull(t *testing.T) {
	b := []byte("????")
	if n, err := ReadFull(bytes.NewReader([]byte("ab")), b, 0); n != 2 || err != nil || string(b) != "ab\x00\x00" {
		t.Errorf("%d bytes, %q, %v", n, b, err)
	}
	f := File{R: bytes.NewReader([]byte("abcd")), Size: 3}
	b = []byte("????")
	if n, err := f.Read(b, 1); n != 2 || err != nil || string(b) != "bc\x00\x00" {
		t.Errorf("beyond the size: %d bytes, %q, %v", n, b, err)
	}
}

func TestHas(t *testing.T) {
	h := format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathGo, Index: 1, Since: 7}
	f := fileOf(bytes.NewReader(places(3, map[int64]format.ChunkHeader{1: h})), 3)
	other := h
	other.Since = 8
	for _, c := range []struct {
		at   int64
		h    format.ChunkHeader
		want bool
	}{{1, h, true}, {1, other, false}, {2, h, false}} {
		if got, err := f.Has(c.at*format.ChunkSize, c.h.ID()); got != c.want || err != nil {
			t.Errorf("place %d: %v, %v, want %v", c.at, got, err, c.want)
		}
	}
}

// TestSettled checks that a ring's place that is handed out again while it is read has its final
// header; for a closed file one read is enough.
func TestSettled(t *testing.T) {
	was := places(2, map[int64]format.ChunkHeader{1: {Kind: format.ChunkRecords, Path: format.PathGo, Since: 1}})
	now := places(2, map[int64]format.ChunkHeader{1: {Kind: format.ChunkRecords, Path: format.PathGo, Since: 2}})
	for _, c := range []struct {
		name         string
		ring, closed bool
		since        int64
		reads        int
	}{
		{"a ring", true, false, 2, 3},
		{"linear", false, false, 2, 2},
		{"closed", true, true, 1, 1},
	} {
		r := &changing{states: [][]byte{was, now}}
		f := fileOf(r, 2)
		f.Ring, f.Closed = c.ring, c.closed
		h, ok, bad, err := f.Settled(format.ChunkSize)
		if !ok || bad != nil || err != nil || h.Since != c.since || r.reads != c.reads {
			t.Errorf("%s: since %d after %d readings, want %d after %d; %v, %v, %v", c.name, h.Since, r.reads, c.since, c.reads, ok, bad, err)
		}
	}
}

// TestEach checks that places that were never handed out end the search, but only behind the
// writer's own count, and not before the longest prepared window.
func TestEach(t *testing.T) {
	const size = 3 * unbornMax
	for _, c := range []struct {
		name string
		born []int64
		end  int64 // the writer's own count
		last int64 // last place examined
	}{
		{"nothing", nil, 0, unbornMax},
		{"one far behind", []int64{unbornMax - 1}, 0, 2 * unbornMax},
		{"the writer has come further", nil, 2 * unbornMax, 2*unbornMax + 1},
	} {
		f := fileOf(bytes.NewReader(nil), size)
		last := int64(-1)
		err := f.Each(0, c.end*format.ChunkSize, func(at int64) (bool, error) {
			last = at / format.ChunkSize
			return slices.Contains(c.born, last), nil
		})
		if err != nil || last != c.last {
			t.Errorf("%s: looked up to place %d, want %d; %v", c.name, last, c.last, err)
		}
	}
	stop := errors.New("stop")
	f := fileOf(bytes.NewReader(nil), size)
	if err := f.Each(0, 0, func(int64) (bool, error) { return false, stop }); err != stop {
		t.Errorf("the error of look is %v", err)
	}
}

// sparse is a reader that implements NextData.
type sparse struct{ data int64 }

func (s sparse) ReadAt(b []byte, off int64) (int, error) { return 0, io.EOF }
func (s sparse) NextData(off int64) int64                { return max(off, s.data) }

func TestNextOverHoles(t *testing.T) {
	f := fileOf(sparse{data: 5*format.ChunkSize + 100}, 10)
	if got := f.Next(0); got != 5*format.ChunkSize {
		t.Errorf("the next place is at %d, want %d", got, 5*format.ChunkSize)
	}
	f = fileOf(sparse{data: 20 * format.ChunkSize}, 10)
	if got := f.Next(0); got != f.Size {
		t.Errorf("with no data behind, the next place is at %d, want the size %d", got, f.Size)
	}
}
