package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// recording is a trace that a program recorded with a released version, with its contents:
// testdata/v1/NAME.scope.gz, NAME.txt (the dump) and NAME.expect.
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
	b := filetest.Read(t, path)
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

// TestG21Recordings checks that the recordings of each version read as they did. The traces never
// change: users have such. If one fails, and the output of text.Dump and read was not changed on
// purpose, the reader has lost a version.
func TestG21Recordings(t *testing.T) {
	versions := map[string]int{}
	for _, r := range recordings(t) {
		versions[filepath.Base(filepath.Dir(r.path))]++
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
	if want := fmt.Sprintf("v%d.%d", format.Major, format.Minor); versions[want] == 0 {
		t.Errorf("there is no recording of version %s, which is what is written now", want)
	}
	t.Logf("G21: recordings by version %v: each reads as it did, to the byte", versions)
}

// TestG21Newer checks that additions of a later minor version are skipped by length, counted and
// reported, and the rest is read as before; a later major version is refused with its own error.
func TestG21Newer(t *testing.T) {
	later := strings.NewReplacer(
		"header path", "header minor=99 path",
		`note ticks=3000 "filter"`, "note ticks=3000 \"filter\"\nblock 77 0102030405\nblock 78 00",
		"event \"f1\" g=7 start=2030 | cut:2", "kind-99 \"f1\" g=7 start=2025 | int:1 string:\"x\"\nkind-98 g=7 start=2026\nevent \"f1\" g=7 start=2030 | cut:2",
		"rss_bytes=90", "rss_bytes=90 field-200=5",
	).Replace(sound)
	count := func(src string) (n int, problems []trace.Problem, err error) {
		data := tracetest.Assemble(t, src)
		tr, err := trace.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return 0, nil, err
		}
		if err := tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return true }); err != nil {
			t.Error(err)
		}
		exercise(t, data)
		return n, tr.Problems(), nil
	}
	was, _, err := count(sound)
	if err != nil {
		t.Fatal(err)
	}
	n, problems, err := count(later)
	if err != nil || n != was {
		t.Errorf("%d events, %v; without what is new %d", n, err, was)
	}
	skipped := 0
	for _, p := range problems {
		if p.Damage() {
			t.Errorf("%+v", p)
		}
		if strings.Contains(p.Text, "a newer tool may know it") {
			skipped += int(p.Count)
		}
	}
	if skipped != 4 {
		t.Errorf("%d things are said to be skipped, want 4: %v", skipped, problems)
	}
	_, _, err = count(strings.Replace(sound, "header ", "header major=2 ", 1))
	if !errors.Is(err, format.ErrNewer) || !strings.Contains(err.Error(), "newer scopeview") || !strings.Contains(err.Error(), fmt.Sprintf("format 2.%d", format.Minor)) {
		t.Errorf("a later major version: %v", err)
	}
	t.Logf("G21: minor version 99: %d events, %d things of it skipped and counted; major version 2: %v", n, skipped, err)
}

// version1 lists what a sound recording of version 1.0 can have. It never changes, so it is not
// read from package format.
var version1 = struct{ kinds, blocks string }{
	"task taskf process event pending counter wait hold track go end",
	"name calib beat thread info frame stack count",
}

// version12 lists the additions of version 1.2.
const version12 = "gotrace switch lock wait hold"

// version14 lists the additions of version 1.4.
const version14 = "samples code"

// version15 lists the additions of version 1.5.
const version15 = "file"

// version16 matches the addition of version 1.6: waits for pages.
const version16 = "switch .*( page:[0-9]+){2}"

// TestVersionsCover checks that every recording has something of each kind in its version.
func TestVersionsCover(t *testing.T) {
	for _, r := range recordings(t) {
		version := filepath.Base(filepath.Dir(r.path))
		if version == "v1.1" {
			continue // of which everything is tested as a ring
		}
		b := filetest.Read(t, r.path+".txt")
		words := strings.Fields(version1.kinds + " " + version1.blocks)
		switch version {
		case "v1.2":
			words = strings.Fields(version12)
		case "v1.4":
			words = strings.Fields(version14)
		case "v1.5":
			words = strings.Fields(version15)
		case "v1.6":
			words = []string{version16}
		case "v1.7":
			words = []string{map[string]string{"killed": "calls", "hooks": "made"}[filepath.Base(r.path)]}
		case "v1.3":
			words = nil // its additions are the counters in chunk 0
		}
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
