//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// segmentFiles returns the segments of the trace at path.
func segmentFiles(t *testing.T, path string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(path + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if _, _, ok := format.SegmentNumber(name); ok {
			names = append(names, name)
		}
	}
	return names
}

// headerOf reads the header of the trace's own file.
func headerOf(t *testing.T, path string) (format.Header, format.State) {
	t.Helper()
	b := filetest.Read(t, path)
	h, s, err := format.DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	return h, s
}

// recordedSegments returns the number of segments recorded in the trace.
func recordedSegments(t *testing.T, path string) int64 {
	t.Helper()
	_, s := headerOf(t, path)
	return s.Files
}

// contents is a trace and its segments, read as one.
type contents struct {
	steps int64            // records of worked, besides carried ones
	last  map[string]int64 // by row
	t     *trace.Trace
}

// worked records steps on two rows and returns the number of scopes.
func worked(perWorker int) int64 {
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			Track(fmt.Sprint("worker ", g))
			for i := range perWorker {
				Task("step", i)()
				if i%200 == 199 {
					time.Sleep(200 * time.Microsecond) // otherwise they are faster than the flusher
				}
			}
		})
	}
	wg.Wait()
	return int64(2 * (perWorker + 1))
}

func readContents(t *testing.T, path string, gaps bool) *contents {
	t.Helper()
	h := &contents{last: map[string]int64{}}
	var there map[int64]int64 // start of each chunk, by number
	tr := tracetest.OpenFile(t, path)
	h.t = tr
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if there == nil {
			there = map[int64]int64{}
			for _, c := range tr.Chunks() {
				there[int64(c.Number)] = tr.Nanos(c.Since)
			}
		}
		if since, ok := there[int64(e.Loc)/format.ChunkSize]; ok && e.Start >= since {
			h.steps++
		}
		if tr.Name(e.Name) == "step" {
			row, i := tr.Name(e.Track), e.Args[0].Int()
			if before, ok := h.last[row]; ok && i != before+1 && !gaps {
				t.Errorf("%s: step %d comes after %d", row, i, before)
			}
			if whole(tr, e) {
				h.last[row] = i
			}
		}
	}
	return h
}

// TestSegments records several times what the segments hold. They and the trace fit together: the
// last records are left, without a gap per worker, and everything is accounted for.
func TestSegments(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		const bytes, count = 1 << 20, 5
		perWorker := fewer(300_000)
		start(t, backing, WithSegments(bytes, count), WithFlushEvery(20*time.Millisecond))
		Begin("long", "argument")
		issued := worked(perWorker) + 1
		// With a slow disk there may be more segments than count, because none could be deleted,
		// and some without a file yet. Segments made after it has caught up find that they can be.
		calm, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			Track("calm")
			for end := time.Now().Add(20 * time.Second); record.Parts(bytes) > count && time.Now().Before(end); time.Sleep(time.Millisecond) {
				for range 200 {
					Task("step", calm)()
					calm++
				}
			}
		}()
		<-done
		issued += int64(calm) + 1
		finish(t)
		s := Stats()
		if s.Recorded+s.Overwritten+s.Lost.Total() != issued || s.Overwritten == 0 || s.Overwritten+s.Lost.Total() < issued/3 {
			t.Errorf("%d issued: %+v", issued, s)
		}
		files := segmentFiles(t, Path())
		if len(files) < 2 || len(files) > count {
			t.Errorf("%d segments: %q", len(files), files)
		}
		for _, name := range files {
			st, err := os.Lstat(name)
			if err != nil || st.Size() > bytes || st.Size()%format.ChunkSize != 0 || st.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", name, st, err)
			}
		}
		verify(t, Path())
		h := readContents(t, Path(), s.Lost.Total() > 0)
		if h.steps != s.Recorded {
			t.Errorf("%d recorded, the trace has %d", s.Recorded, h.steps)
		}
		last := map[string]int64{"calm": int64(calm - 1)}
		if calm == 0 {
			last = map[string]int64{"worker 0": int64(perWorker - 1), "worker 1": int64(perWorker - 1)}
		}
		for row, n := range last {
			if s.Lost.Total() == 0 && h.last[row] != n {
				t.Errorf("the last steps are %v, want %v", h.last, last)
			}
		}
		if over := h.t.State(); over.Overwritten != s.Overwritten || over.Until <= 0 || h.t.Ring() != bytes*count {
			t.Errorf("the trace says %+v, Stats %d overwritten, %d files", over, s.Overwritten, len(files))
		}
		t.Logf("%d issued: %d recorded in %d segments, %d overwritten, %d lost", issued, s.Recorded, len(files), s.Overwritten, s.Lost.Total())
	})
}

// TestSegmentsFollowed follows a trace while segments are created and deleted: every step is
// delivered once, in order, and the follower reports those that it missed.
func TestSegmentsFollowed(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		perWorker := fewer(200_000)
		start(t, backing, WithSegments(1<<20, 4), WithFlushEvery(10*time.Millisecond))
		path, onHeap := Path(), record.Current.Load().Pool().Heap()
		f, err := hot.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		follower, err := trace.NewFollower(f, f.Size, trace.FollowOptions{FromStart: true})
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan error)
		issued := int64(0)
		go func() {
			issued = worked(perWorker)
			// A flusher that gets no CPU deletes no segment.
			for begin := time.Now(); Stats().Overwritten == 0 && time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
				for range 1000 {
					Task("more")()
				}
			}
			stopped <- Stop()
		}()
		type step struct {
			goid uint64
			i    int64
		}
		seen, last := map[step]bool{}, map[uint64]int64{}
		deadline := time.Now().Add(30 * time.Second)
		for done := false; !done && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			done, err = follower.Poll(func(e *trace.Event) bool {
				tr := follower.Trace()
				if tr.Name(e.Name) != "step" || len(e.Args) == 0 {
					return true
				}
				at := step{e.Goid, e.Args[0].Int()}
				if seen[at] {
					t.Errorf("%+v is delivered twice", at)
				}
				seen[at] = true
				last[e.Goid] = max(last[e.Goid], at.i)
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		s := Stats()
		n := int64(len(seen))
		// With the heap, only a copy of a chunk may have been there to read, and later records are
		// unknown.
		if missed := follower.Missed(); n+s.Lost.Total() < issued-2 && missed == 0 && !onHeap {
			t.Errorf("%d of %d steps were delivered, %d lost, and none missed", n, issued, s.Lost.Total())
		}
		for goid, i := range last {
			if s.Lost.Total() == 0 && i != int64(perWorker-1) {
				t.Errorf("goroutine %d: the last step is %d", goid, i)
			}
		}
		if s.Overwritten == 0 {
			t.Errorf("nothing was overwritten: %+v", s)
		}
		t.Logf("%d issued, %d delivered, %d chunks missed, %d overwritten", issued, n, follower.Missed(), s.Overwritten)
	})
}

// TestSegmentsTaken: another process deletes, renames and replaces segments while they are written.
// The program continues, existing segments are read, missing ones are reported, and files that are
// not the recorder's are left alone.
func TestSegmentsTaken(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithSegments(1<<20, 6), WithFlushEvery(10*time.Millisecond))
		path := Path()
		// Two of the next names are taken: one by a link, one by a file.
		precious := filepath.Join(t.TempDir(), "precious")
		filetest.Write(t, precious, []byte("precious"))
		if err := os.Symlink(precious, format.SegmentName(path, 3)); err != nil {
			t.Skip(err)
		}
		filetest.Write(t, format.SegmentName(path, 4), []byte("mine"))
		issued := worked(fewer(100_000))
		var files []string
		until(t, "six segments", func() bool { // not all that are in memory have files yet
			issued += worked(2000)
			files = segmentFiles(t, path)
			return len(files) >= 8 // with the two foreign ones
		})
		oldest := files[1] // the heartbeats hold the first one
		for i := 2; oldest <= format.SegmentName(path, 4); i++ {
			oldest = files[i]
		}
		if err := os.Remove(oldest); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, oldest, []byte("another's"))
		newest := func() uint32 {
			files := segmentFiles(t, path)
			_, n, _ := format.SegmentNumber(files[len(files)-1])
			return n
		}
		until(t, "the deleted one to be overwritten", func() bool {
			issued += worked(2000)
			n := newest()
			return n > 6 && format.SegmentName(path, n-6) > oldest
		})
		for _, name := range []string{oldest, format.SegmentName(path, 4), precious} {
			if b, err := os.ReadFile(name); err != nil || len(b) > 10 {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		// Now one of those that exist at the end.
		files = segmentFiles(t, path)
		gone := files[len(files)-3]
		if err := os.Rename(gone, gone+".away"); err != nil {
			t.Fatal(err)
		}
		finish(t)
		s := Stats()
		if s.Recorded+s.Overwritten+s.Lost.Total() != issued {
			t.Errorf("%d issued: %+v", issued, s)
		}
		// A segment in which an idle owner still has a chunk is not overwritten: the deleted one
		// may be such a segment.
		var present int64
		for _, name := range segmentFiles(t, path) {
			if b, err := os.ReadFile(name); err == nil && len(b) > format.SegmentHeaderSize {
				present++
			}
		}
		held := recordedSegments(t, path) - 1 - present
		if held < 0 || held > 1 {
			t.Fatalf("%d segments are held, of which one was deleted", held)
		}
		check := func(missing int64) int64 {
			t.Helper()
			c := readContents(t, path, true)
			lost := int64(0)
			for _, p := range c.t.Problems() {
				if strings.Contains(p.Text, "a segment that its writer did not delete is missing") {
					lost += p.Count
				}
			}
			if lost != missing {
				t.Errorf("the trace counts %d missing segments, want %d", lost, missing)
			}
			return c.steps
		}
		if n := check(1 + held); n >= s.Recorded || n == 0 {
			t.Errorf("%d of %d records are there without a segment", n, s.Recorded)
		}
		if err := os.Rename(gone+".away", gone); err != nil {
			t.Fatal(err)
		}
		if n := check(held); held == 0 && n != s.Recorded || held > 0 && n >= s.Recorded {
			t.Errorf("%d of %d records are there, %d segments missing", n, s.Recorded, held)
		}
		if held == 0 {
			verify(t, path)
		}
	})
}

// TestSegmentsCopied: a finished segment does not change any more, and a copy of all files in
// another directory is the same trace.
func TestSegmentsCopied(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithSegments(1<<20, 8), WithFlushEvery(10*time.Millisecond))
		worked(fewer(100_000))
		finish(t)
		there := readContents(t, Path(), true)
		away := filepath.Join(t.TempDir(), "other.scope")
		for _, name := range append(segmentFiles(t, Path()), Path()) {
			b := filetest.Read(t, name)
			filetest.Write(t, away+strings.TrimPrefix(name, Path()), b)
		}
		if here := readContents(t, away, true); here.steps != there.steps || here.steps == 0 {
			t.Errorf("%d of %d records are in the copy", here.steps, there.steps)
		}
		verify(t, away)
		segment := segmentFiles(t, away)[0]
		if _, err := trace.OpenFile(segment); !errors.Is(err, format.ErrNotTrace) || !strings.Contains(err.Error(), away+"\n") && !strings.HasSuffix(err.Error(), away) {
			t.Errorf("a segment alone: %v, want which trace to give", err)
		}
	})
}

// TestSegmentsOverwrite replaces a trace: its segments are removed with it, and no others.
func TestSegmentsOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.scope")
	record := func(opts ...Option) {
		t.Helper()
		if err := Start(path, append(opts, WithOverwrite())...); err != nil {
			t.Fatal(err)
		}
		worked(fewer(20_000))
		finish(t)
	}
	record(WithSegments(1<<20, 4))
	mine := format.SegmentName(path, 77)
	filetest.Write(t, mine, []byte("mine"))
	if n := len(segmentFiles(t, path)); n < 2 {
		t.Fatalf("%d segments", n)
	}
	record()
	if files := segmentFiles(t, path); len(files) != 1 || files[0] != mine {
		t.Errorf("%q are left", files)
	}
	verify(t, path)
}

// segmentsOver in the environment names the trace to overwrite.
const segmentsOver = "SCOPEVIEW_TEST_SEGMENTS_OVER"

// TestSegmentsOverwriteFirst: a program whose first recording replaces a trace removes its segments
// too.
func TestSegmentsOverwriteFirst(t *testing.T) {
	path := os.Getenv(segmentsOver)
	child, opts := path != "", []Option{WithSegments(2<<20, 2), WithOverwrite()}
	if !child {
		faultfs.Children(t)
		path, opts = filepath.Join(t.TempDir(), "t.scope"), []Option{WithSegments(1<<20, 4)}
	}
	if err := Start(path, opts...); err != nil {
		t.Fatal(err)
	}
	worked(fewer(20_000))
	if !child { // the new trace has fewer
		until(t, "three segments", func() bool {
			worked(2000)
			return len(segmentFiles(t, path)) > 2
		})
	}
	finish(t)
	if child {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSegmentsOverwriteFirst$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), segmentsOver+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h, _ := headerOf(t, path)
	for _, name := range segmentFiles(t, path) {
		b := filetest.Read(t, name)
		if s, err := format.DecodeSegmentHeader(b[:format.SegmentHeaderSize]); err != nil || s.ID != h.ID {
			t.Errorf("%s is left of the trace that was overwritten, %v", filepath.Base(name), err)
		}
	}
	verify(t, path)
}
