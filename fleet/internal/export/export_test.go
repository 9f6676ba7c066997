package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/trace"
)

// bulkTrace writes a trace of known content.
func bulkTrace(t testing.TB, b bulk.Trace) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	size, err := b.Write(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// exported exports a trace, and returns the directory.
func exported(t *testing.T, path, dir string, o Options) (string, Result) {
	t.Helper()
	out, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Trace(context.Background(), path, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// column reads a column of all files of a table; a null is nil.
func column(t *testing.T, dir, table, name string) (all []parquet.Value) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, table, "*", "*", "*", "*", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("table %s: %v, %v", table, files, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		p, err := parquet.OpenFile(f, st.Size())
		if err != nil {
			t.Fatal(err)
		}
		leaf, ok := p.Schema().Lookup(name)
		if !ok {
			t.Fatalf("table %s has no column %s", table, name)
		}
		for _, g := range p.RowGroups() {
			pages := g.ColumnChunks()[leaf.ColumnIndex].Pages()
			for {
				page, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				values := make([]parquet.Value, page.NumValues())
				if n, err := page.Values().ReadValues(values); n != len(values) {
					t.Fatalf("%d of %d values: %v", n, len(values), err)
				}
				for _, v := range values {
					all = append(all, v.Clone())
				}
			}
			pages.Close()
		}
	}
	return all
}

// row has the values of a scope that a test compares.
type row struct {
	start, took, goid, cpu int64
	name, quality          string
}

func rowsOf(t *testing.T, dir string) (rows []row) {
	start, took, goid, cpu := column(t, dir, "scopes", "start_time"), column(t, dir, "scopes", "duration_ns"), column(t, dir, "scopes", "goroutine"), column(t, dir, "scopes", "cpu_ns")
	name, quality := column(t, dir, "scopes", "name"), column(t, dir, "scopes", "cpu_quality")
	for i := range start {
		r := row{start[i].Int64(), took[i].Int64(), goid[i].Int64(), cpu[i].Int64(), name[i].String(), quality[i].String()}
		if cpu[i].IsNull() {
			r.cpu = -1
		}
		rows = append(rows, r)
	}
	return rows
}

func (r row) compare(o row) int {
	return slices.Compare([]int64{r.start, r.took, r.goid, r.cpu}, []int64{o.start, o.took, o.goid, o.cpu})*4 + strings.Compare(r.name, o.name)*2 + strings.Compare(r.quality, o.quality)
}

// TestScopes: the table has each scope, as the reader has it, and in each row group they are by
// name and then by time.
func TestScopes(t *testing.T) {
	for _, shape := range []bulk.Shape{bulk.Irregular, bulk.Long, bulk.Ring, bulk.Killed} {
		t.Run(string(shape), func(t *testing.T) {
			path := bulkTrace(t, bulk.Trace{Shape: shape, Scopes: 700_000 / 4, Seed: 3})
			tr, err := trace.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			var want []row
			base := tr.Start().UnixNano()
			err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
				if e.Kind != format.KindTask {
					return true
				}
				q, cpu := e.Quality, e.CPU
				if e.Open {
					q = format.Unknown
				}
				if q == format.Unknown {
					cpu = -1
				}
				want = append(want, row{base + e.Start, e.Dur, int64(e.Goid), cpu, tr.Name(e.Name), strings.ReplaceAll(q.String(), " ", "_")})
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			dir, result := exported(t, path, t.TempDir(), Options{})
			got := rowsOf(t, dir)
			if int64(len(want)) != result.Scopes {
				t.Errorf("%d scopes, want %d", result.Scopes, len(want))
			}
			slices.SortFunc(got, row.compare)
			slices.SortFunc(want, row.compare)
			if !slices.Equal(got, want) {
				t.Errorf("%d rows differ from %d scopes", len(got), len(want))
			}
			ended, counted := int64(0), int64(0)
			for _, open := range column(t, dir, "scopes", "is_open") {
				ended += 1 - flag(open.Boolean())
			}
			for _, n := range column(t, dir, "durations", "n") {
				counted += n.Int64()
			}
			if counted != ended {
				t.Errorf("the histograms count %d of %d scopes that have ended", counted, ended)
			}
		})
	}
}

// contents are the files below a directory, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		sum := sha256.Sum256(b)
		rel, _ := filepath.Rel(dir, p)
		m[rel] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAgain: what is exported twice is there once, and equal files come of equal traces.
func TestAgain(t *testing.T) {
	path := bulkTrace(t, bulk.Trace{Shape: bulk.Args, Scopes: 30_000, Seed: 3})
	dir, first := exported(t, path, t.TempDir(), Options{Service: "a/../b'=", Host: ".."})
	before := contents(t, dir)
	_, again := exported(t, path, dir, Options{Service: "a/../b'=", Host: ".."})
	if first.Already || !again.Already {
		t.Errorf("%+v, %+v", first, again)
	}
	other, _ := exported(t, path, t.TempDir(), Options{Service: "a/../b'=", Host: ".."})
	if now := contents(t, dir); !maps.Equal(before, now) || !maps.Equal(before, contents(t, other)) {
		t.Errorf("%v\n%v", before, now)
	}
	for p := range before {
		if parts := strings.Split(filepath.ToSlash(p), "/"); len(parts) != 6 || parts[1] != "service=a%2F..%2Fb%27%3D" || parts[3] != "host=.." {
			t.Errorf("%s", p)
		}
	}
	// An export that was interrupted has no row in the table runs: it is done again.
	if err := os.RemoveAll(filepath.Join(dir, "runs")); err != nil {
		t.Fatal(err)
	}
	exported(t, path, dir, Options{Service: "a/../b'=", Host: ".."})
	if now := contents(t, dir); !maps.Equal(before, now) {
		t.Errorf("%v\n%v", before, now)
	}
}

// TestInterrupted: nothing is left of an export that is interrupted.
func TestInterrupted(t *testing.T) {
	path := bulkTrace(t, bulk.Trace{Shape: bulk.Args, Scopes: 30_000, Seed: 3})
	out, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	_, err = Trace(ctx, path, out, Options{Progress: func(int64) { stop() }})
	if err == nil {
		t.Fatal("no error")
	}
	if m := contents(t, out.String()); len(m) != 0 {
		t.Errorf("%v", m)
	}
}
