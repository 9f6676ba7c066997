package snapshot

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// ahead is a model whose writer goes around its ring, some times, when the copier has determined
// the snapshot's moment and is about to find its chunks.
type ahead struct {
	*model
	times, looks int
}

func (a *ahead) Stat() (fs.FileInfo, error) {
	if a.looks++; a.looks%4 == 2 && a.times > 0 { // a copier calls Stat four times
		a.times--
		for until := a.number + 2*uint32(a.ring); a.number < until; {
			a.run(1000)
		}
	}
	return a.model.Stat()
}

// TestOutrun checks that another moment is taken if the writer goes around its ring while a
// snapshot begins, so that nothing of its moment is left.
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

// TestRefreshFirst checks that the writer's memory that is not yet in its file is part of a present
// snapshot.
func TestRefreshFirst(t *testing.T) {
	const begun = "header clock=monotonic path=go backing=heap witness=1 start=1000\nstate tick=2000\n"
	const recorded = begun + "chunk blocks\nname 2 \"load\"\nchunk records\nevent \"load\" g=7 start=1500\n"
	src := filepath.Join(t.TempDir(), "src.scope")
	tracetest.Write(t, src, begun)
	f := filetest.Open(t, src)
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

// TestCopiedOutOfOrder checks a file that is a copy and has a chunk but not yet one that was handed
// out before it, here the second of three. The snapshot has that one too, and nothing later.
func TestCopiedOutOfOrder(t *testing.T) {
	for name, text := range map[string]string{
		"all": "header clock=monotonic path=go backing=heap witness=1 start=1000\nstate tick=2000\nchunk blocks\nname 2 \"load\"\n" +
			"chunk records owner=0 since=1400\nevent \"load\" g=7 start=1500\nchunk records owner=1 since=1550\nevent \"load\" g=7 start=1600\n" +
			"chunk records owner=0 since=1650\nevent \"load\" g=7 start=1700\nchunk records owner=1 since=1750\nevent \"load\" g=7 start=1800\n",
		"ring": "header clock=monotonic path=go backing=heap witness=1 start=1000 ring=6\nstate tick=2000\nchunk blocks flags=kept\nname 2 \"load\"\n" +
			"chunk records owner=0 since=1400 number=1\nevent \"load\" g=7 start=1500\nchunk records owner=1 since=1550 number=2\nevent \"load\" g=7 start=1600\n" +
			"chunk records owner=0 since=1650 number=3\nevent \"load\" g=7 start=1700\nchunk records owner=1 since=1750 number=4\nevent \"load\" g=7 start=1800\n",
	} {
		t.Run(name, func(t *testing.T) {
			whole := tracetest.Assemble(t, text)
			const chunk = 4096
			src := filepath.Join(t.TempDir(), "src.scope")
			rounds := 0
			refresh := func() error {
				now := bytes.Clone(whole)
				if rounds++; rounds == 1 {
					clear(now[3*chunk : 4*chunk]) // the second
					clear(now[5*chunk:])          // the fourth
				}
				return os.WriteFile(src, now, 0o600)
			}
			filetest.Write(t, src, whole[:2*chunk])
			f, err := os.Open(src)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			path := filepath.Join(t.TempDir(), "dst.scope")
			if _, err := Create(path, f, Options{Refresh: refresh}); err != nil {
				t.Fatal(err)
			}
			if c := read(t, path, name == "ring"); c.records != 3 {
				t.Errorf("%d records, want those of the first three chunks", c.records)
			}
		})
	}
}
