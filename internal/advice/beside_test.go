package advice

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// grown is a raw file of a slice that grows, counted for 100 ms.
const grown = "scopeview-advice\t1\tprogram=example.com/p\tgo=go1.26.8\tbuild=\tcpus=2\tns=100000000\tlooked_ns=100000000\n" +
	"slice\tint\tmade=40 exact=40 grown=1198 copied_bytes=264652456 grown_bytes=264652456 cap_bytes=70123520 len_bytes=63203464 max_elem_bytes=8 max_len=219136 min_len=175105 max_cap=219136 h_len=65:18,66:22 h_cap=66:40\tmain.fill /p/fill.go:10\tmain.main /p/main.go:26\n" +
	"end\t1\n"

// TestOfTrace: what lies beside a trace is read if it is a raw file, and only that.
func TestOfTrace(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(dir string) error
		found int
		err   string
	}{
		{"none", func(string) error { return nil }, -1, ""},
		{"one", func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.raw"), []byte(grown), 0o600) }, 1, ""},
		{"another trace's", func(dir string) error { return os.WriteFile(filepath.Join(dir, "y.raw"), []byte(grown), 0o600) }, -1, ""},
		{"empty", func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.raw"), nil, 0o600) }, -1, "x.raw is empty"},
		{"a directory", func(dir string) error { return os.Mkdir(filepath.Join(dir, "x.raw"), 0o700) }, -1, "no regular file"},
		{"a link", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "y.raw"), []byte(grown), 0o600); err != nil {
				return err
			}
			return os.Symlink("y.raw", filepath.Join(dir, "x.raw"))
		}, -1, "no regular file"},
		{"too large", func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "x.raw"))
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(besideMost + 1)
		}, -1, "more than 67.1 MB"},
		{"of two programs", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "x.raw"), []byte(grown+strings.Replace(grown, "com/p", "com/q", 1)), 0o600)
		}, -1, "two programs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "a link" && runtime.GOOS == "windows" {
				t.Skip("making a link needs a privilege here")
			}
			dir := t.TempDir()
			if err := c.make(dir); err != nil {
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

// TestBest: what the doctor cites gains a share of the time, or most memory.
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
	if f := r.Saving(); f == nil || f.ID != "c" {
		t.Errorf("most memory saves %+v, want c: b takes longer", f)
	}
	if f := (&Report{Findings: []Finding{{NS: 1}}}).Saving(); f != nil {
		t.Errorf("%+v saves no memory", f)
	}
}
