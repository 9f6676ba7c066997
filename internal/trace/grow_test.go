package trace_test

import (
	"io"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/trace"
)

// outgrowing is a trace that grows by more with every read than was read.
type outgrowing struct {
	mu   sync.Mutex
	all  []byte
	size int
}

func (g *outgrowing) ReadAt(b []byte, off int64) (n int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if off < int64(g.size) {
		n = copy(b, g.all[off:g.size])
	}
	if n < len(b) {
		err = io.EOF
	}
	g.size = min(g.size+len(b)+format.ChunkSize, len(g.all))
	return n, err
}

// TestGrowsFaster checks that a trace that grows faster than it is read is read up to its end at
// the time it was opened.
func TestGrowsFaster(t *testing.T) {
	all, err := bulk.Trace{Shape: bulk.Killed, Scopes: 100_000, Seed: 3}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, chunks := range []int{4, 5, 8, 20} {
		size := chunks * format.ChunkSize
		want, err := counted(&outgrowing{all: all[:size], size: size}, size)
		if err != nil {
			t.Fatal(err)
		}
		g := &outgrowing{all: all, size: size}
		got, err := counted(g, size)
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 || got != want {
			t.Errorf("of %d bytes %d events are read, while it grows to %d bytes %d", size, want, g.size, got)
		}
		if g.size == size {
			t.Errorf("it did not grow from %d bytes", size)
		}
	}
}

// counted returns the number of events of a trace.
func counted(r io.ReaderAt, size int) (n int, err error) {
	tr, err := trace.Open(r, int64(size))
	if err != nil {
		return 0, err
	}
	defer tr.Close()
	err = tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return true })
	return n, err
}
