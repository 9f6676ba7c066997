package trace_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// growing is a trace whose bytes are replaced by those of a later time.
type growing struct{ data []byte }

func (g *growing) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(g.data).ReadAt(b, off)
}

func (g *growing) size() (int64, error) { return int64(len(g.data)), nil }

// TestFollowerScheduler checks that a follower reads later blocks of the scheduler and of locks, in
// an existing chunk and in others; its last time is that of the heartbeat, and not that of a
// switch, which has another clock.
func TestFollowerScheduler(t *testing.T) {
	const begin = "header clock=monotonic path=go start=1000 mono=1000\nstate tick=2000\nchunk blocks\nname 2 \"mu\"\ngotrace part=0 61\n"
	steps := []string{
		"",
		"switch thread=7 base=5000 until=900000 on out:6000\nlock mutex #2 ticks=3000 addr=16 contended=1\n",
		"gotrace part=1 62\nchunk blocks\ngotrace part=2 63\nlock mutex #2 ticks=4000 addr=16 contended=2\n",
		"gotrace stream=2 part=0 64\nswitch thread=7 base=900000 until=900001\n",
	}
	g := &growing{tracetest.Assemble(t, begin)}
	f, err := trace.NewFollower(g, g.size, trace.FollowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := begin
	for i, more := range steps {
		text += more
		g.data = tracetest.Assemble(t, text)
		if _, err := f.Poll(func(*trace.Event) bool { return true }); err != nil {
			t.Fatal(err)
		}
		again := tracetest.Open(t, g.data)
		if got, want := schedOf(t, f.Trace()), schedOf(t, again); got != want {
			t.Errorf("step %d: followed:\n%s\nis there:\n%s", i, got, want)
		}
		if got, want := f.Trace().End(), []int64{1000, 2000, 3000, 3000}[i]; got != want || again.End() != want {
			t.Errorf("step %d: the last moment is %d, want %d; of what is opened now %d", i, got, want, again.End())
		}
	}
	for _, p := range f.Problems() {
		t.Errorf("%+v", p)
	}
}

// TestGoTraceChanges checks that a Go trace whose file shrinks, or is overwritten, while it is read
// ends there with an error, and returns nothing that was not in it.
func TestGoTraceChanges(t *testing.T) {
	text := "header clock=monotonic path=go start=1000 mono=1000\nstate closed=1 tick=2000\nchunk blocks sealed\ngotrace part=0 61\n" +
		"chunk blocks sealed\ngotrace part=1 " + strings.Repeat("62", 3000) + "\nstop ticks=2000\n"
	for name, change := range map[string]func(data []byte) []byte{
		"shrinks":        func(data []byte) []byte { return data[:2*4096+500] },
		"other bytes":    func(data []byte) []byte { data[2*4096+1000] ^= 1; return data },
		"another block":  func(data []byte) []byte { data[2*4096+64+4] = byte(format.BlockSwitch); return data },
		"no block":       func(data []byte) []byte { clear(data[2*4096:]); return data },
		"a longer block": func(data []byte) []byte { data[2*4096+64+2] = 0xff; return data },
	} {
		g := &growing{tracetest.Assemble(t, text)}
		tr, err := trace.Open(g, int64(len(g.data)))
		if err != nil {
			t.Fatal(err)
		}
		all := tr.GoTraces()
		if len(all) != 1 || all[0].Size != 3001 || all[0].Missing {
			t.Fatalf("%+v", all)
		}
		g.data = change(g.data)
		data, err := io.ReadAll(all[0].Reader())
		if string(data) != "a" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		// Another reader has its own position.
		if data, _ := io.ReadAll(all[0].Reader()); string(data) != "a" {
			t.Errorf("%s, again: %q", name, data)
		}
	}
}
