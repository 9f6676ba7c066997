package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// startedAt writes a trace that was started at a second.
func startedAt(t *testing.T, path string, second int) {
	t.Helper()
	tracetest.Write(t, path, fmt.Sprintf("header start=1000 wall=%d\n", int64(second)*1e9))
}

func TestFindNewest(t *testing.T) {
	dir := t.TempDir()
	find := func(want string) {
		t.Helper()
		got, err := findTrace(dir)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("found %q, %v; want %s", got, err, want)
		}
	}
	if _, err := findTrace(dir); err == nil {
		t.Error("found a trace where none is")
	}
	// Other files are ordered by modification time, while there is no trace.
	for i, name := range []string{"new.scope", "old.scope"} {
		path := filepath.Join(dir, name)
		filetest.Write(t, path, []byte("text"))
		at := time.Unix(int64(1e9-1000*i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	find("new.scope")
	// The start of the recording decides, not the time of copying.
	startedAt(t, filepath.Join(dir, "b.scope"), 200)
	startedAt(t, filepath.Join(dir, "a.scope"), 300)
	startedAt(t, filepath.Join(dir, "c.scope"), 100)
	startedAt(t, filepath.Join(dir, "d.other"), 400)
	if err := os.Mkdir(filepath.Join(dir, "z.scope"), 0o700); err != nil {
		t.Fatal(err)
	}
	find("a.scope")
	// Of traces with the same start, first the one that grows, then a joined one, then the last.
	writer, err := os.Open(filepath.Join(dir, "a.scope"))
	if err != nil {
		t.Fatal(err)
	}
	locks := runtime.GOOS == "linux" || runtime.GOOS == "darwin"
	if locks && !sys.TryLock(writer) {
		t.Fatal("no lock")
	}
	tracetest.Write(t, filepath.Join(dir, "a-snapshot.scope"), "header start=1000 wall=300000000000\nstate closed=1\n")
	tracetest.Write(t, filepath.Join(dir, "a-joined.scope"), "header start=1000 wall=300000000000\nstate closed=1\nchunk blocks sealed\ninfo \"joined\" \"go.trace\"\n")
	find("a.scope")
	writer.Close()
	if locks { // the writer was killed
		find("a-joined.scope")
	}
	tracetest.Write(t, filepath.Join(dir, "a.scope"), "header start=1000 wall=300000000000\nstate closed=1\n")
	find("a-joined.scope")
	if err := os.Remove(filepath.Join(dir, "a-joined.scope")); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int64{"a.scope": 1e9, "a-snapshot.scope": 2e9} {
		if err := os.Chtimes(filepath.Join(dir, name), time.Unix(at, 0), time.Unix(at, 0)); err != nil {
			t.Fatal(err)
		}
	}
	find("a-snapshot.scope")
}

func TestFindByProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := findTrace("1"); err == nil || !strings.Contains(err.Error(), "Linux only") {
			t.Errorf("error %v", err)
		}
		return
	}
	dir := t.TempDir()
	t.Chdir(dir)
	pid := strconv.Itoa(os.Getpid())
	if path, err := findTrace(pid); err == nil || !strings.Contains(err.Error(), "writes no trace") {
		t.Errorf("found %q, %v", path, err)
	}
	path := filepath.Join(dir, "mine.scope")
	startedAt(t, path, 100)
	startedAt(t, filepath.Join(dir, "later.scope"), 200)
	filetest.Open(t, path)
	if got, err := findTrace(pid); err != nil || got != path {
		t.Errorf("found %q, %v; want %s", got, err, path)
	}
	// A removed trace can still be read.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	got, err := findTrace(pid)
	if err != nil || !strings.HasPrefix(got, "/proc/"+pid+"/fd/") {
		t.Errorf("found %q, %v", got, err)
	}
	if r := scopeview("info", pid); r.code != exitOK {
		t.Errorf("info %s: %v", pid, r)
	}
	// A file of that name takes precedence.
	startedAt(t, pid, 50)
	if got, err := findTrace(pid); err != nil || got != pid {
		t.Errorf("found %q, %v; want the file %s", got, err, pid)
	}
}
