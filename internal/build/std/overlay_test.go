package std

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// overlayTo is the directory to which TestOverlay writes the patches and their overlay.json:
// for make check-hooks, which runs the standard library's own tests with them.
var overlayTo = flag.String("overlay", "", "a directory: write the patched files and overlay.json there")

// TestOverlay: every hook is possible, no line of a patched file moves, and GOROOT's files
// are replaced, or new ones added.
func TestOverlay(t *testing.T) {
	goroot := gorootOf(t)
	files, linked, hooks, err := Patches(goroot, runtime.Version(), Groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		if !h.OK {
			t.Errorf("%s: %s", h.Name, h.Why)
		}
	}
	if len(linked) == 0 {
		t.Error("nothing sets the hooks")
	}
	replace := map[string]string{}
	for p, text := range files {
		path := filepath.Join(goroot, filepath.FromSlash(p))
		was, err := os.ReadFile(path)
		if added := strings.HasPrefix(filepath.Base(p), "scopeview"); added != os.IsNotExist(err) {
			t.Errorf("%s: %v", p, err)
		}
		lines := func(b []byte) int { return bytes.Count(b, []byte("\n")) }
		if err == nil && lines(was) != lines(text) {
			t.Errorf("%s has %d lines, and with the hooks %d", p, lines(was), lines(text))
		}
		if *overlayTo != "" {
			to := filepath.Join(*overlayTo, filepath.FromSlash(p))
			filetest.Write(t, to, text)
			replace[path] = to
		}
	}
	if *overlayTo != "" {
		b, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(*overlayTo, "overlay.json"), b)
	}
}

// gorootOf returns the directory of the standard library's GOROOT.
func gorootOf(t *testing.T) string {
	t.Helper()
	goroot, err := (&builder{ctx: context.Background(), tool: "go"}).env("GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	return goroot
}

// TestUnexpected: a hook with unexpected source is off, reports the reason, and leaves
// nothing behind; the others are on.
func TestUnexpected(t *testing.T) {
	from, goroot := gorootOf(t), t.TempDir()
	for _, h := range slices.Concat(table, unwindTable) {
		for _, e := range h.edits {
			from, to := filepath.Join(from, "src", e.file), filepath.Join(goroot, "src", e.file)
			b := filetest.Read(t, from)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if e.file == "sync/cond.go" {
				b = []byte("package sync\n\nfunc (c *Cond) Wait() { c.elsewhere() }\n")
			}
			filetest.Write(t, to, b)
		}
	}
	if err := os.Remove(filepath.Join(goroot, "src", "os", "proc.go")); err != nil {
		t.Fatal(err)
	}
	files, _, hooks, err := Patches(goroot, runtime.Version(), nil, func(name string) bool { return name != "go" })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"cond": `sync/cond.go: Cond.Wait: "runtime_notifyListWait(&c.notify, t)" occurs 0 times`,
		"exit": "there is no os/proc.go", "go": "not wanted",
	}
	for _, h := range hooks {
		if h.Why != want[h.Name] || h.OK != (want[h.Name] == "") {
			t.Errorf("%s: ok %v, %q; want %q", h.Name, h.OK, h.Why, want[h.Name])
		}
	}
	if _, ok := files["src/sync/cond.go"]; ok {
		t.Error("cond.go is replaced")
	}
	if _, _, hooks, _ := Patches(goroot, "go1.99.1", nil, nil); slices.ContainsFunc(hooks, func(s Status) bool { return s.OK || s.Why != "not tested with go1.99.1" }) {
		t.Errorf("with another version: %v", hooks)
	}
}

// TestUnwindMissing: the recording has whether the tracer's check is enabled, or the reason
// why not.
func TestUnwindMissing(t *testing.T) {
	from, goroot := gorootOf(t), t.TempDir()
	to := filepath.Join(goroot, "src", stacks)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	b := filetest.Read(t, filepath.Join(from, "src", stacks))
	only := func(name string) bool { return name == Unwind }
	for _, c := range []struct{ version, text, why string }{
		{runtime.Version(), string(b), ""},
		{runtime.Version(), strings.Replace(string(b), "nstk := 1", "var nstk = 1", 1), `runtime/tracestack.go: traceStack: "nstk := 1" occurs 0 times`},
		{"go1.99.1", string(b), "not tested with go1.99.1"},
	} {
		filetest.Write(t, to, []byte(c.text))
		files, linked, _, err := Patches(goroot, c.version, nil, only)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(linked), "\nvar _ = collect.SetUnwinding("+strconv.Quote(c.why)+")\n") || (len(files) > 0) != (c.why == "") {
			t.Errorf("%s, %q: %d files, and\n%s", c.version, c.why, len(files), linked)
		}
	}
}

// TestMissing: a program that counts reports its missing hooks; another one does not.
func TestMissing(t *testing.T) {
	from, goroot := gorootOf(t), t.TempDir()
	for _, h := range adviceTable {
		for _, e := range h.edits {
			b := filetest.Read(t, filepath.Join(from, "src", e.file))
			if e.file == "runtime/map.go" {
				b = []byte("package runtime\n")
			}
			to := filepath.Join(goroot, "src", e.file)
			filetest.Write(t, to, b)
		}
	}
	only := func(name string) bool { return name == "slices" || name == "maps" }
	for _, groups := range [][]string{{Containers}, nil} {
		_, linked, _, err := Patches(goroot, runtime.Version(), groups, only)
		if err != nil {
			t.Fatal(err)
		}
		if reported := strings.Contains(string(linked), `count.Missing("maps", "runtime/map.go: makemap_small: there is no such function")`); reported != (groups != nil) {
			t.Errorf("groups %v: the missing function is reported: %v\n%s", groups, reported, linked)
		}
	}
}
