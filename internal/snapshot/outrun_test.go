package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/tracetest"
)

// ahead is a model whose writer goes around its ring, some times, when the
// copier has settled the snapshot's moment and is about to look for its chunks.
type ahead struct {
	*model
	times, looks int
}

func (a *ahead) Stat() (fs.FileInfo, error) {
	if a.looks++; a.looks%4 == 2 && a.times > 0 { // a copier looks four times
		a.times--
		for until := a.number + 2*uint32(a.ring); a.number < until; {
			a.run(1000)
		}
	}
	return a.model.Stat()
}

// TestOutrun: a writer that goes around its ring while a snapshot of it begins
// leaves nothing of its moment. Then another moment is taken.
func TestOutrun(t *testing.T) {
	for times, empty := range []bool{false, false, false, false, true} {
		m := newModel(1, 24, false, 0)
		m.run(60_000)
		path := filepath.Join(t.TempDir(), "x.scope")
		res, err := create(path, &ahead{model: m, times: times}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := read(t, path, true)
		if (c.records == 0) != empty {
			t.Errorf("outrun %d times: %d records, %+v", times, c.records, res)
		}
		if sum := c.records + c.state.Lost + c.state.Overwritten; sum > m.issued {
			t.Errorf("outrun %d times: %d records + %d lost + %d overwritten, and issued were %d", times, c.records, c.state.Lost, c.state.Overwritten, m.issued)
		}
	}
}

// TestRefreshFirst: what a writer has in memory and not yet in its file is part of
// a snapshot of now.
func TestRefreshFirst(t *testing.T) {
	const begun = "header clock=monotonic path=go backing=heap witness=1 start=1000\nstate tick=2000\n"
	const recorded = begun + "chunk blocks\nname 2 \"load\"\nchunk records\nevent \"load\" g=7 start=1500\n"
	src := filepath.Join(t.TempDir(), "src.scope")
	tracetest.Write(t, src, begun)
	f, err := os.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "dst.scope")
	refresh := func() error {
		tracetest.Write(t, src, recorded)
		return nil
	}
	if _, err := Create(path, f, Options{Refresh: refresh}); err != nil {
		t.Fatal(err)
	}
	if c := read(t, path, false); c.records != 1 || !c.names[format.FirstName] {
		t.Errorf("%d records, names %v", c.records, c.names)
	}
}
