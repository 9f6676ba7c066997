package advice

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// raw writes the raw file of a trace, with a slice that grows much.
func raw(t *testing.T, dir, trace string) error {
	tracetest.WriteRaw(t, filepath.Join(dir, trace+".scope"), tracetest.Grown("int", 100, 10000, "main.fill /p/fill.go:10", "main.main /p/main.go:26"))
	return nil
}

// TestOfTrace: the file beside a trace is read only if it is a raw file.
func TestOfTrace(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, dir string) error
		found int
		err   string
	}{
		{"none", func(*testing.T, string) error { return nil }, -1, ""},
		{"one", func(t *testing.T, dir string) error { return raw(t, dir, "x") }, 1, ""},
		{"another trace's", func(t *testing.T, dir string) error { return raw(t, dir, "y") }, -1, ""},
		{"empty", func(t *testing.T, dir string) error { return os.WriteFile(filepath.Join(dir, "x.raw"), nil, 0o600) }, -1, "x.raw is empty"},
		{"a directory", func(t *testing.T, dir string) error { return os.Mkdir(filepath.Join(dir, "x.raw"), 0o700) }, -1, "not a regular file"},
		{"a link", func(t *testing.T, dir string) error {
			raw(t, dir, "y")
			return os.Symlink("y.raw", filepath.Join(dir, "x.raw"))
		}, -1, "not a regular file"},
		{"too large", func(t *testing.T, dir string) error {
			f, err := os.Create(filepath.Join(dir, "x.raw"))
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(besideMost + 1)
		}, -1, "larger than 64.0 MiB"},
		{"of two programs", func(t *testing.T, dir string) error {
			raw(t, dir, "x")
			b, err := os.ReadFile(filepath.Join(dir, "x.raw"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "x.raw"), []byte(string(b)+strings.Replace(string(b), "com/p", "com/q", 1)), 0o600)
		}, -1, "two programs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "a link" && runtime.GOOS == "windows" {
				t.Skip("making a link needs a privilege here")
			}
			dir := t.TempDir()
			if err := c.make(t, dir); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			byPath, raw, err1 := OfTrace(filepath.Join(dir, "x.scope"), DefaultParams())
			byName, err2 := OfTraceIn(root, "x.scope", DefaultParams())
			if raw != filepath.Join(dir, "x.raw") {
				t.Errorf("the raw file is %s", raw)
			}
			for _, err := range []error{err1, err2} {
				if c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
			}
			for _, r := range []*Report{byPath, byName} {
				if c.found < 0 != (r == nil) || r != nil && len(r.Findings) != c.found {
					t.Errorf("%+v, want %d findings", r, c.found)
				}
			}
		})
	}
}

// TestBest: the doctor cites the advice that saves most time, or most memory.
func TestBest(t *testing.T) {
	r := &Report{Findings: []Finding{
		{ID: "a", NS: 5, Share: 0.5, Bytes: 7}, {ID: "b", NS: -3, Share: -0.3, Bytes: 900}, {ID: "c", Share: 0.005, Bytes: 80}, {ID: "d", NS: 1, Share: 0.01}, {ID: "e", NS: 1, Share: 0.01},
	}}
	ids := ""
	for _, f := range r.Best(2, 0.01) {
		ids += f.ID
	}
	if ids != "ad" {
		t.Errorf("the best are %s, want ad", ids)
	}
	if f := r.saving(); f == nil || f.ID != "c" {
		t.Errorf("most memory saves %+v, want c: b takes longer", f)
	}
	if f := (&Report{Findings: []Finding{{NS: 1}}}).saving(); f != nil {
		t.Errorf("%+v saves no memory", f)
	}
}
