//go:build !scope_off

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

const canary = "canary-"

// hotOf returns the path of a trace's hot file, if it has one.
func hotOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, format.StateOffset+format.StateSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	h, _, err := format.DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(hot.Dir, format.HotName(h.ID))
}

// canaries returns those found anywhere in the bytes of a file and, if it is a trace, of its
// segments.
func canaries(t *testing.T, path string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	segments := segmentFiles(t, path)
	for _, path := range append(segments, path) {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && len(segments) > 0 {
			continue // the oldest one was just deleted
		}
		if err != nil {
			t.Fatal(err)
		}
		for {
			i := bytes.Index(b, []byte(canary))
			if i < 0 {
				break
			}
			b = b[i:]
			found[string(b[:min(len(b), len(canary)+8)])] = true
			b = b[len(canary):]
		}
	}
	return found
}

// canariesShown returns those that a reader shows.
func canariesShown(t *testing.T, path string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	eachAnyway(t, path, func(_ *trace.Trace, e *trace.Event) {
		for _, a := range e.Args {
			if a.Type == format.SlotString {
				seen[string(a.Str)] = true
			}
		}
	})
	return seen
}

// shown checks that the canaries in a trace's bytes are those that a reader shows: nothing
// overwritten or behind a chunk's end.
func shown(t *testing.T, what, path string) int {
	t.Helper()
	seen := canariesShown(t, path)
	stale, first := 0, ""
	for c := range canaries(t, path) {
		if !seen[c] {
			stale, first = stale+1, c
		}
	}
	if stale > 0 || len(seen) == 0 {
		t.Errorf("%s has %d arguments that no reader shows, such as %q, and %d that it shows", what, stale, first, len(seen))
	}
	return len(seen)
}

// TestG31 records unique arguments, several times what a ring holds. What was overwritten is in
// no file any more, and what is there is what a reader shows; also in a snapshot taken meanwhile.
// When none of them is shown any more, none is anywhere.
func TestG31(t *testing.T) {
	size := int64(4 << 20)
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		size = 16 << 20
	}
	rings, overwritten, kept, snapped := 0, 0, 0, 0
	one := func(t *testing.T, backing, ring Option) {
		start(t, backing, ring, shortTicks())
		hot := hotOf(t, Path())
		if _, err := os.Stat(hot); (err == nil) != (record.Current.Load().Hot() != nil) {
			t.Errorf("the hot file is looked for at %s: %v", hot, err)
		}
		left := func() map[string]bool {
			found := canaries(t, Path())
			if _, err := os.Stat(hot); err == nil {
				for c := range canaries(t, hot) {
					found[c] = true
				}
			}
			return found
		}
		n := 0
		record := func(bytes int64, args bool) {
			each := int64(32)
			if args {
				each = 64
			}
			for i := range int(bytes / each) {
				if i%(atOnce/2) == 0 {
					breathe(t)
				}
				if args {
					Task("step", fmt.Sprintf(canary+"%08d", n))()
					n++
				} else {
					Task("step")()
				}
			}
		}
		record(3*size, true)
		dir := t.TempDir()
		for i := range 2 {
			path := filepath.Join(dir, fmt.Sprint(i))
			var made atomic.Bool
			var err error
			go func() {
				err = Snapshot(path)
				made.Store(true)
			}()
			for !made.Load() {
				record(4096, true)
			}
			if err != nil {
				t.Fatal(err)
			}
			snapped += shown(t, "a snapshot", path)
		}
		if len(left()) == 0 {
			t.Error("nothing is in the files while it is recorded, so that nothing is proved")
		}
		record(3*size, false)
		until(t, "the overwritten ones gone", func() bool {
			breathe(t)
			rest := left()
			if len(rest) == 0 {
				return true
			}
			// An idle owner keeps its chunk and, with segments, the whole segment: a reader shows
			// that.
			if len(segmentFiles(t, Path())) == 0 && int64(len(rest))*64 > size/4 {
				return false
			}
			seen := canariesShown(t, Path())
			for c := range rest {
				if !seen[c] {
					return false
				}
			}
			return true
		})
		issued := n
		record(size/3, true)
		finish(t)
		verify(t, Path())
		kept += shown(t, "the trace", Path())
		if s := Stats(); s.Overwritten < int64(issued) {
			t.Errorf("%d were overwritten, want at least %d", s.Overwritten, issued)
		}
		rings, overwritten = rings+1, overwritten+issued
	}
	perBacking(t, func(t *testing.T, backing Option) {
		t.Run("ring", func(t *testing.T) { one(t, backing, WithRing(size)) })
		t.Run("segments", func(t *testing.T) { one(t, backing, WithSegments(size/4, 4)) })
	})
	t.Logf("G31: %d rings, half of them of segments: %d arguments overwritten, 0 of them left in a file or a hot file; %d in the trace and %d in snapshots, each shown by the reader", rings, overwritten, kept, snapped)
}

// TestG31Names: a name stays in the trace, by design, but only in the blocks of names.
func TestG31Names(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		for i := range 100 {
			Task(fmt.Sprintf(canary+"%08d", i))()
		}
		finish(t)
		b := filetest.Read(t, Path())
		if got := bytes.Count(b, []byte(canary)); got != 100 {
			t.Errorf("100 names are in the file %d times", got)
		}
	})
}
