package trace_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// shrinking is a file that is cut off after so many reads.
type shrinking struct {
	*os.File
	after int64
	to    int64
	reads atomic.Int64
}

func (s *shrinking) ReadAt(b []byte, off int64) (int, error) {
	if s.reads.Add(1) == s.after {
		if err := s.Truncate(s.to); err != nil {
			return 0, err
		}
	}
	return s.File.ReadAt(b, off)
}

// TestG25Reader checks a file that is cut off between any two reads: a read returns the bytes that
// exist, or an error, and raises no signal, because nothing is mapped.
func TestG25Reader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	cuts, failed := 0, 0
	for _, data := range append(small(t), tracetest.Bulk(3, true)) {
		size := int64(len(data))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []int64{0, 100, 4096, 4096 + 70, size / 2, size - 1} {
			if trace.RaceEnabled && to != size/2 {
				continue
			}
			for after, done := int64(1), false; !done; after++ {
				if _, err := f.WriteAt(data, 0); err != nil {
					t.Fatal(err)
				}
				r := &shrinking{File: f, after: after, to: to}
				if readThrough(r, size) != nil {
					failed++
				}
				cuts++
				done = r.reads.Load() < after
			}
		}
		f.Close()
	}
	t.Logf("G25: a file cut off between two readings, %d times: %d errors, no signal on %s", cuts, failed, runtime.GOOS)
}

// readThrough reads a whole trace in every way.
func readThrough(r io.ReaderAt, size int64) error {
	tr, err := trace.Open(r, size)
	if err != nil {
		return err
	}
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool { return true })
	for _, f := range []func() error{
		func() error { return tr.EachBeat(func(*trace.Beat) bool { return true }) },
		func() error { _, err := trace.Verify(r, size); return err },
		func() error { return text.Dump(io.Discard, r, size) },
		func() error {
			f, err := trace.NewFollower(r, func() (int64, error) { return size, nil }, trace.FollowOptions{FromStart: true})
			if err != nil {
				return err
			}
			_, err = f.Poll(func(*trace.Event) bool { return true })
			return err
		},
	} {
		if e := f(); err == nil {
			err = e
		}
	}
	return err
}
