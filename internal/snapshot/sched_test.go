package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// sched lists a trace's data of the scheduler and of locks, as text.
func sched(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	for _, g := range tr.GoTraces() {
		data, err := io.ReadAll(g.Reader())
		if err != nil || g.Missing {
			t.Errorf("Go trace %d: missing is %v, %v", g.Stream, g.Missing, err)
		}
		if len(data) > 20 {
			data = fmt.Appendf(nil, "%d bytes, %x … %x", len(data), data[:3], data[len(data)-3:])
		}
		fmt.Fprintf(&b, "trace %d: %s\n", g.Stream, data)
	}
	err := errors.Join(tr.EachSwitches(func(s *format.Switches) bool {
		fmt.Fprintf(&b, "thread %d: %d..%d %v\n", s.Thread, s.Base, s.Until, s.List)
		return true
	}), tr.EachLockSums(func(l *format.LockSums) bool {
		fmt.Fprintf(&b, "%s at %d: %d of %d\n", tr.Name(l.Name), l.Ticks, l.Contended, l.Acquired)
		return true
	}), tr.EachSample(func(s *trace.Sample) bool {
		fmt.Fprintf(&b, "sample at %d: %s, %d frames, %d addresses\n", s.Time, s.Counter, len(tr.AppendFrames(nil, s.Stack)), len(tr.PCs(s.Stack)))
		return true
	}))
	if err != nil {
		t.Error(err)
	}
	return b.String()
}

// The scheduler's blocks have other times than the trace's: none of them makes a snapshot later, or
// is left out of one as too late.
const schedText = `
header clock=tsc path=go witness=1 start=1000 mono=1 rate=1000
state tick=5000
chunk blocks flags=final sealed
name 2 "mu"
frame 262144 "main.hot" "main.go" line=3
stack 65536 262144
code 65536 0x401020
gotrace part=0 7061
samples "task-clock" "nanoseconds" thread=7 base=6000000000 until=90000000000 lost=0 user:70000000001:0:1:65536
switch thread=7 base=6000000000 until=9000000000 first on out:7000000000
lock mutex #2 ticks=4000 addr=0x10 acquired=9 contended=2
chunk blocks
gotrace part=1 7274
switch thread=7 base=9000000000 until=90000000000 in:9000000001
lock mutex #2 ticks=5000 addr=0x10 acquired=3 contended=1
`

const schedWant = `trace 1: part
thread 7: 6000000000..9000000000 [{7000000000 1}]
thread 7: 9000000000..90000000000 [{9000000001 0}]
mu at 4000: 2 of 9
mu at 5000: 1 of 3
sample at 70000000000: task-clock, 1 frames, 1 addresses
`

func TestScheduler(t *testing.T) {
	_, once, _ := strings.Cut(schedText, "flags=final sealed\n")
	once, _, _ = strings.Cut(once, "gotrace")
	ring := strings.NewReplacer("start=1000", "start=1000 ring=8", "flags=final", "number=1 flags=final",
		once, "", "chunk blocks\n", "chunk blocks number=2\n").Replace(schedText) + "chunk blocks flags=kept\n" + once
	for name, text := range map[string]string{"a trace": schedText, "a ring": ring} {
		path, _ := snap(t, tracetest.Assemble(t, text), Options{})
		tr := sound(t, path)
		if got := sched(t, tr); got != schedWant {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, schedWant)
		}
		if tick := tr.State().Tick; tick != 5000 {
			t.Errorf("%s: its moment is %d", name, tick)
		}
	}
}

// TestLaterLock checks that a snapshot leaves out lock counts later than its moment.
func TestLaterLock(t *testing.T) {
	c := &copier{moment: 5000, cs: 4096}
	w := c.newBlocks(1)
	for _, ticks := range []int64{4999, 5000, 5001} {
		if err := w.addUntil(format.BlockLock, format.AppendLockSums(nil, &format.LockSums{Ticks: ticks})); err != nil {
			t.Fatal(err)
		}
	}
	if n := 4096 - format.ChunkHeaderSize - w.Left(); n != 2*(format.BlockHeaderSize+56) {
		t.Errorf("%d bytes", n)
	}
}

// TestBlocks checks that appended blocks are read as if they had been recorded.
func TestBlocks(t *testing.T) {
	ring := "header clock=monotonic path=go witness=1 start=1000 ring=4\nstate tick=5000\nchunk blocks flags=kept\nname 2 \"f\"\n" +
		"chunk records number=1\nevent \"f\" g=7 start=2000\nunborn 3\n"
	for _, text := range []string{closed, writing, ring} {
		was := tracetest.OpenText(t, text)
		add := func(stream uint32, parts int) func(func(format.BlockType, []byte) error) error {
			return func(add func(format.BlockType, []byte) error) error {
				for i := range parts {
					part := make([]byte, 4000)
					part[0] = byte(i + 1)
					if err := add(format.BlockGoTrace, format.AppendGoTrace(nil, stream, uint32(i), part)); err != nil {
						return err
					}
				}
				return nil
			}
		}
		path, res := snap(t, tracetest.Assemble(t, text), Options{Blocks: add(1, 3)})
		tr := sound(t, path)
		if got, want := sched(t, tr), "trace 1: 12000 bytes, 010000 … 000000\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := events(t, tr), events(t, was); strings.Join(got, ";") != strings.Join(want, ";") || tr.End() != was.End() {
			t.Errorf("%d events up to %d, there were %d up to %d", len(got), tr.End(), len(want), was.End())
		}
		// Again, on the copy.
		data, err := os.ReadFile(path)
		if err != nil || int64(len(data)) != res.Bytes {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		path, _ = snap(t, data, Options{Blocks: add(2, 1)})
		if got, want := sched(t, sound(t, path)), "trace 1: 12000 bytes, 010000 … 000000\ntrace 2: 4000 bytes, 010000 … 000000\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// An error leaves nothing.
	src, dst := filepath.Join(t.TempDir(), "x.scope"), filepath.Join(t.TempDir(), "y.scope")
	tracetest.Write(t, src, closed)
	f := filetest.Open(t, src)
	_, err := Create(dst, f, Options{Blocks: func(func(format.BlockType, []byte) error) error { return io.ErrNoProgress }})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(dst); err == nil {
		t.Error("a file was left")
	}
}
