package timeline

import (
	"bytes"
	"context"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// file is a trace that is being written.
type file struct{ data []byte }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func (f *file) write(t *testing.T, script string) {
	t.Helper()
	f.data = tracetest.Assemble(t, "header clock=monotonic start=1000 mono=1000\n"+script)
}

// TestPoll: a loaded index continues with the events of a Follower.
func TestPoll(t *testing.T) {
	const blocks = "chunk blocks\nname 2 \"main\"\nname 3 \"work\"\ncalib ticks=1000 mono=1000 wall=0\n"
	const first = "chunk records\ntask \"main\" g=1 start=2000 open\ntask \"work\" g=1 start=2100 stop=2200\n"
	f := &file{}
	f.write(t, "state tick=3000\n"+blocks+first+"task \"work\" g=1 start=2300 open\nhole\n")
	follower, err := trace.NewFollower(f, func() (int64, error) { return int64(len(f.data)), nil }, trace.FollowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Between the follower's begin and the loading one more scope ends.
	f.write(t, "state tick=4000\n"+blocks+first+"task \"work\" g=1 start=2300 stop=3500\ntask \"work\" g=1 start=3600 open\n")
	tr, err := trace.Open(f, int64(len(f.data)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Load(context.Background(), tr, LoadOptions{Follow: follower})
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, items, open int, wantDone bool) {
		t.Helper()
		_, done, err := x.Poll(follower)
		if err != nil || done != wantDone {
			t.Fatalf("%s: done %v, %v", when, done, err)
		}
		if got := len(pack(t, &Container{Tile: x.Tile(0, 1e6, 0)}).items()); got != items || x.Items() != int64(items) || len(x.Open()) != open {
			t.Errorf("%s: %d items, counted %d, %d open; want %d, %d open", when, got, x.Items(), len(x.Open()), items, open)
		}
	}
	check("at first", 4, 2, false)
	cursor := x.Cursor()
	check("again", 4, 2, false)
	if x.Cursor() != cursor {
		t.Error("nothing came, and the cursor moved")
	}
	f.write(t, "state tick=5000 closed=1\n"+blocks+"stop ticks=5000\nchunk records\ntask \"main\" g=1 start=2000 stop=4900\ntask \"work\" g=1 start=2100 stop=2200\n"+
		"task \"work\" g=1 start=2300 stop=3500\ntask \"work\" g=1 start=3600 stop=3700\ntask \"work\" g=1 start=4000 stop=4100\n")
	check("closed", 5, 0, true)
	tile, _, ok := x.Since(cursor)
	if !ok || tile.Items != 3 {
		t.Errorf("since then %v, %v; want three scopes", tile, ok)
	}
	m := x.Meta(follower.Trace(), MetaOptions{Path: "dir/x.scope", Tool: "test"})
	if m.Scopes != 5 || m.Writer != WriterClosed || m.Title != "x" || m.End != 4000 || len(m.Banner) != 1 {
		t.Errorf("meta %+v", m)
	}
	for _, l := range x.rows[0].lanes {
		if l.rare != nil && len(l.rare.open) > 0 {
			t.Errorf("open: %+v", l.rare.open[0])
		}
	}
}
