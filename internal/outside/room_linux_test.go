package outside

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// filler fills a file system at the first write to it.
type filler struct {
	text bytes.Buffer
	fill func()
}

func (f *filler) Write(p []byte) (int, error) {
	if fill := f.fill; fill != nil {
		f.fill = nil
		fill()
	}
	return f.text.Write(p)
}

// TestNearlyFull: if the disk gets nearly full while a program runs, that is reported at once,
// the program continues, and lost samples are counted.
func TestNearlyFull(t *testing.T) {
	fs := faultfs.Tmpfs(t, 16<<20)
	free, total := fs.Free(t)
	out := &filler{fill: func() {
		if err := os.WriteFile(filepath.Join(fs.Dir, "x"), make([]byte, free-total/20), 0o600); err != nil {
			t.Error(err)
		}
	}}
	var reported []error
	o := Options{Command: []string{victim, "twice"}, Path: filepath.Join(fs.Dir, "x.scope"), Counters: []perf.Counter{{Name: "task-clock", Every: 1e6}}, Out: out, Err: io.Discard, Full: func(err error) { reported = append(reported, err) }}
	res, err := Record(context.Background(), o)
	if err != nil && strings.Contains(err.Error(), "recording from outside") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(reported) != 1 || !strings.HasSuffix(reported[0].Error(), "must stay free") || out.text.String() != "half\ndone\n" || res.Exit != 0 {
		t.Errorf("%+v, reported %v, printed %q", res, reported, out.text.String())
	}
	tr := sound(t, o.Path)
	all, _, _ := sums(t, tr, "task-clock", "main.hot")
	c := tr.Counters()
	if len(c) != 1 || c[0].Lost != res.Lost || res.Lost < 200 || all < 200e6 || !strings.Contains(tr.Lookup("counter_task-clock"), "on, but not to the end: writing the trace") {
		t.Errorf("%d ns, %+v of %+v, %s", all, res, c, tr.Lookup("counter_task-clock"))
	}
	if had := int64(res.CPU); all+res.Lost*1e6 < had*85/100 || all+res.Lost*1e6 > had*105/100 {
		t.Errorf("%d ns, and %d samples were lost, of %v", all, res.Lost, res.CPU)
	}
	// And no recording is begun.
	o.Path += "2"
	if _, err := Record(context.Background(), o); err == nil || !strings.Contains(err.Error(), "must stay free") {
		t.Errorf("on a full disk: %v", err)
	}
	if _, err := os.Stat(o.Path); err == nil {
		t.Error("a recording that did not begin left a trace")
	}
}

// TestWriteError: a write that fails is reported at once, and once.
func TestWriteError(t *testing.T) {
	w, err := newWriter(filepath.Join(t.TempDir(), "x.scope"), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var reported []error
	r := &recorder{w: w, onFull: func(err error) { reported = append(reported, err) }}
	if r.look(false); len(reported) > 0 {
		t.Errorf("reported: %v", reported)
	}
	w.file.Close()
	w.block(format.BlockNote, make([]byte, 40_000), 0)
	w.block(format.BlockNote, make([]byte, 40_000), 0) // for which the chunk has no room
	r.look(false)
	r.look(true)
	if len(reported) != 1 || !strings.HasPrefix(reported[0].Error(), "writing the trace: ") {
		t.Errorf("reported: %v", reported)
	}
}
