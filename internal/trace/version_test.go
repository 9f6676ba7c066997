package trace_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// recording is a trace that a program made with a released version, beside what
// is in it: testdata/v1/NAME.scope.gz, NAME.txt (the dump) and NAME.expect.
type recording struct {
	path string // without the endings
	data []byte
}

func recordings(t testing.TB) []recording {
	t.Helper()
	paths, err := filepath.Glob("testdata/v*/*.scope.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var list []recording
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if st, err := f.Stat(); err != nil || st.Size() > 70<<10 {
			t.Errorf("%s has %d bytes, %v; a recording is to be small", p, st.Size(), err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		list = append(list, recording{strings.TrimSuffix(p, ".scope.gz"), data})
	}
	return list
}

// same compares got with the file at path.
func same(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(b), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s, line %d: got\n%s\nwant\n%s", path, i+1, line, strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
	if got != string(b) {
		t.Errorf("%s has more lines than there are", path)
	}
}

// TestVersions: what was recorded with each version reads as it did. The traces
// never change: people have such. If one fails and how text.Dump and read print
// was not changed on purpose, the reader has lost a version.
func TestVersions(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(filepath.Base(r.path), func(t *testing.T) {
			var dump strings.Builder
			if err := text.Dump(&dump, bytes.NewReader(r.data), int64(len(r.data))); err != nil {
				t.Fatal(err)
			}
			same(t, r.path+".txt", dump.String())
			if again, err := text.Assemble(strings.NewReader(dump.String())); err != nil || !bytes.Equal(again, r.data) {
				t.Errorf("the dump does not give the trace again: %v", err)
			}
			got, err := read(r.data)
			if err != nil {
				t.Fatal(err)
			}
			same(t, r.path+".expect", got)
			findings, err := trace.Verify(bytes.NewReader(r.data), int64(len(r.data)))
			if err != nil || len(findings) > 0 {
				t.Errorf("Verify: %v, %v", findings, err)
			}
			exercise(t, r.data)
		})
	}
}

// version1 is what a trace of version 1.0 can have, as far as a sound recording
// does. It never changes, so it is not read from package format.
var version1 = struct{ kinds, blocks string }{
	"task taskf process event pending counter wait hold track go end",
	"name calib beat thread info frame stack count",
}

// Every recording has something of all of it.
func TestVersion1Covers(t *testing.T) {
	for _, r := range recordings(t) {
		if filepath.Base(filepath.Dir(r.path)) != "v1" {
			continue
		}
		b, err := os.ReadFile(r.path + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(version1.kinds + " " + version1.blocks)
		if name := filepath.Base(r.path); name == "closed" || name == "killed" {
			words = append(words, "anchor") // of the assembly path
		}
		for _, w := range words {
			if !regexp.MustCompile(`(?m)^` + w + ` `).Match(b) {
				t.Errorf("%s has no %s", r.path, w)
			}
		}
	}
}
