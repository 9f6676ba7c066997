package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestMain(m *testing.M) { os.Exit(shmtest.Run(m.Run)) }

// sparse opens a trace of size bytes, a ring of so many chunks or none, that has chunks at those
// places, and holes between.
func sparse(t *testing.T, ctx context.Context, size int64, ring uint32, chunks ...int64) *trace.Reading {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: 1,
		Clock: format.ClockMonotonic, Path: format.PathPure, Backing: format.BackingDisk, StartTicks: 1, StartMono: 1, StartWall: 1, TickRate: 1e9, Ring: ring,
	}
	if _, err := f.WriteAt(format.AppendHeader(nil, &h), 0); err != nil {
		t.Fatal(err)
	}
	for _, at := range chunks {
		b := make([]byte, format.ChunkHeaderSize)
		format.PutChunkHeader(b, &format.ChunkHeader{Kind: format.ChunkBlocks, Index: uint32(at), Since: 1, Gen: 1})
		if _, err := f.WriteAt(b, at*format.ChunkSize); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(size); err != nil {
		t.Skip("files can't be that large here: ", err)
	}
	j, err := hot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &trace.Reading{File: j, Until: ctx}
}

// TestHoles checks that skipped holes give the same text as if they had been read.
func TestHoles(t *testing.T) {
	const cs = format.ChunkSize
	for _, x := range []struct {
		size int64
		ring uint32
	}{{200 * cs, 0}, {200*cs + 100, 0}, {101 * cs, 0}, {200 * cs, 150}} {
		size := x.size
		r := sparse(t, t.Context(), size, x.ring, 1, 2, 10, 50, 51, 100)
		var texts [2]bytes.Buffer
		var found [2][]trace.Finding
		for i, r := range []io.ReaderAt{r, struct{ io.ReaderAt }{r}} {
			var err error
			if found[i], err = trace.Verify(r, size); err != nil {
				t.Fatal(err)
			}
			if err := Dump(&texts[i], r, size); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(found[0], found[1]) {
			t.Errorf("of %d bytes: %v, and where nothing is skipped %v", size, found[0], found[1])
		}
		if texts[0].String() != texts[1].String() {
			t.Errorf("of %d bytes:\n%s\nand where nothing is skipped:\n%s", size, &texts[0], &texts[1])
		}
		if data, err := Assemble(&texts[0]); err != nil || int64(len(data)) != size {
			t.Errorf("assembled again it has %d bytes, of %d: %v", len(data), size, err)
		}
	}
}

// TestCancel checks that, where holes can't be found, reading 300 GiB of zeros ends with the
// context.
func TestCancel(t *testing.T) {
	const size = 300 << 30
	for name, read := range map[string]func(r io.ReaderAt) error{
		"verify": func(r io.ReaderAt) error { _, err := trace.Verify(r, size); return err },
		"dump":   func(r io.ReaderAt) error { return Dump(io.Discard, r, size) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r := sparse(t, ctx, size, 0, 1)
		begun := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- read(&zeros{r, 64 << 20, sync.OnceFunc(func() { close(begun) })})
		}()
		<-begun
		cancel()
		begin := time.Now()
		err := <-done
		if took := time.Since(begin); !errors.Is(err, context.Canceled) || took > 5*time.Second {
			t.Errorf("%s: %v, %v after it was cancelled", name, err, took)
		}
	}
}

// zeros is a file whose holes can't be found; it calls begun when a reader has passed its
// beginning.
type zeros struct {
	io.ReaderAt
	inside int64
	begun  func()
}

func (z *zeros) ReadAt(b []byte, off int64) (int, error) {
	if off >= z.inside {
		z.begun()
	}
	return z.ReaderAt.ReadAt(b, off)
}
