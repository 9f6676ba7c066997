//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	. "github.com/scopeview/scopeview/scope"
)

// ls lists a directory, subdirectories included.
func ls(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != dir {
			p, err = filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(p))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOneAtATime(t *testing.T) {
	if err := Stop(); !errors.Is(err, ErrStopped) {
		t.Errorf("Stop without Start: %v, want ErrStopped", err)
	}
	start(t)
	path := Path()
	other := filepath.Join(t.TempDir(), "other.scope")
	err := Start(other)
	if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), other) {
		t.Errorf("the second Start: %v, want ErrRunning and the path", err)
	}
	if _, err := os.Stat(other); err == nil || Path() != path {
		t.Errorf("the second Start left a file (%v), Path is %s", err, Path())
	}
	if s := Stats(); !s.Running || s.Path != path {
		t.Errorf("Stats while running: %+v", s)
	}
	stop(t)
	if err := Stop(); !errors.Is(err, ErrStopped) {
		t.Errorf("the second Stop: %v, want ErrStopped", err)
	}
	if s := Stats(); s.Running || s.Path != path || s.LastError != nil {
		t.Errorf("Stats after Stop: %+v", s)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != Stats().Bytes {
		t.Errorf("%d bytes, by Stats %d: %v", st.Size(), Stats().Bytes, err)
	}
}

// TestOptions passes invalid values to each option: an error names it, and
// there is no file and no recording.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []Option
	}{
		{"WithFlushEvery", []Option{WithFlushEvery(9 * time.Millisecond)}},
		{"WithFlushEvery", []Option{WithFlushEvery(-1)}},
		{"WithHeartbeat", []Option{WithHeartbeat(0)}},
		{"WithLimit", []Option{WithLimit(1<<20 - 1)}},
		{"WithLimit", []Option{WithLimit(0)}},
		{"WithLimit", []Option{WithLimit(-2)}},
		{"WithCPU", []Option{WithCPU(CPUAlways + 1)}},
		{"WithCPU", []Option{WithCPU(-1)}},
		{"WithBacking", []Option{WithBacking(ShmBacking + 1)}},
		{"WithBacking", []Option{WithBacking(-1)}},
		{"WithRing", []Option{WithRing(1 << 20)}},
		{"WithRing", []Option{WithRing(1 << 40)}},
		{"WithRing", []Option{WithRing(-1)}},
		{"WithRing", []Option{WithRing(8 << 20), WithLimit(8 << 20)}},
		{"WithTrigger", []Option{WithTrigger("a", time.Second, t.TempDir())}}, // without a ring
		{"WithTrigger", []Option{WithRing(8 << 20), WithTrigger("a", time.Microsecond, t.TempDir())}},
		{"WithTrigger", []Option{WithRing(8 << 20), WithTrigger("a,,b", time.Second, t.TempDir())}},
		{"WithTrigger", []Option{WithRing(8 << 20), WithTrigger("a", time.Second, "")}},
		{"WithSegments", []Option{WithSegments(1<<20-1, 4)}},
		{"WithSegments", []Option{WithSegments(-1, 4)}},
		{"WithSegments", []Option{WithSegments(1<<20, 1)}},
		{"WithSegments", []Option{WithSegments(1<<20, 0)}},
		{"WithSegments", []Option{WithSegments(1<<20, 1001)}},
		{"WithSegments", []Option{WithSegments(1<<40, 2)}},
		{"WithSegments", []Option{WithSegments(1<<30, 65)}},
		{"WithSegments", []Option{WithSegments(1<<20, 4), WithRing(8 << 20)}},
		{"WithSegments", []Option{WithSegments(1<<20, 4), WithLimit(8 << 20)}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "t.scope")
		err := Start(path, c.opts...)
		if !errors.Is(err, ErrOption) || !strings.Contains(fmt.Sprint(err), c.name) || !strings.Contains(fmt.Sprint(err), path) {
			t.Errorf("%s: %v, want ErrOption, the option and the path", c.name, err)
		}
		if Enabled() || len(ls(t, dir)) != 0 {
			t.Errorf("%s: recording %t, left %q", c.name, Enabled(), ls(t, dir))
		}
		Task("a")() // a no-op
	}
	if err := Start(""); !errors.Is(err, ErrOption) {
		t.Errorf("an empty path: %v, want ErrOption", err)
	}
	if !record.HaveDisk {
		if err := Start(t.TempDir(), WithBacking(DiskBacking)); !errors.Is(err, ErrOption) {
			t.Errorf("a backing that this build has not: %v, want ErrOption", err)
		}
	}
	// The smallest valid values, all at once, and no option at all.
	start(t, nil, WithFlushEvery(10*time.Millisecond), WithHeartbeat(10*time.Millisecond), WithLimit(1<<20),
		WithCPU(CPUOff), WithFilter("*"), WithOverwrite(), nil)
	Task("a")()
	if r := stop(t); len(r.events) != 1 || r.Header().Limit != 1<<20 {
		t.Errorf("recorded %q with the limit %d", r.lines(), r.Header().Limit)
	}
}

// TestPaths starts with every kind of valid path.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	made := regexp.MustCompile(`^[^/]+-\d{8}T\d{6}Z-` + fmt.Sprint(os.Getpid()) + `-[0-9a-f]{8}\.scope$`)
	for _, c := range []struct {
		path string
		want func(path string) bool // relative to dir
	}{
		{"file.scope", func(p string) bool { return p == "file.scope" }},
		{"without extension", func(p string) bool { return p == "without extension" }},
		{".", made.MatchString},
		{"./", made.MatchString},
		{"new/", func(p string) bool { d, f := filepath.Split(p); return d == "new/" && made.MatchString(f) }},
		{"new/", func(p string) bool { d, f := filepath.Split(p); return d == "new/" && made.MatchString(f) }},
		{"a/b/c/", func(p string) bool { d, f := filepath.Split(p); return d == "a/b/c/" && made.MatchString(f) }},
	} {
		if err := Start(dir + "/" + c.path); err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		Task("a")()
		stop(t)
		rel, err := filepath.Rel(dir, Path())
		if err != nil || !c.want(rel) {
			t.Errorf("%s: the trace is %s (%v)", c.path, rel, err)
		}
	}
}

// TestBadPaths starts with invalid paths: the error names the path and the
// cause, and nothing is left.
func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "file"), []byte("text"))
	for _, c := range []struct {
		path string
		want error
	}{
		{"none/t.scope", fs.ErrNotExist},
		{"file", ErrExists},
		{"file/t.scope", nil},
		{"file/", nil},
		{"null\x00byte", nil},
		{strings.Repeat("n", 300), nil},
	} {
		path := dir + "/" + c.path
		err := Start(path)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), strings.TrimRight(c.path, "/")) {
			t.Errorf("%q: %v, want %v and the path", c.path, err, c.want)
		}
		if Enabled() {
			t.Fatalf("%q: recording", c.path)
		}
	}
	if got := ls(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left %q", got)
	}
}

// TestOverwrite checks what may be replaced, with the option and without.
func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.scope")
	if err := Start(path); err != nil {
		t.Fatal(err)
	}
	Task("old")()
	stop(t)
	old := filetest.Read(t, path)
	if err := Start(path); !errors.Is(err, ErrExists) {
		t.Errorf("a finished trace, without WithOverwrite: %v, want ErrExists", err)
	}
	if err := Start(path, WithOverwrite()); err != nil {
		t.Fatalf("a finished trace: %v", err)
	}
	Task("new")()
	if got := stop(t).lines(); !slices.Equal(got, []string{`task "new"`}) {
		t.Errorf("the new trace has %q", got)
	}
	for _, c := range []struct {
		name    string
		content []byte
	}{
		{"empty", nil},
		{"foreign", []byte("a letter to my aunt\n")},
		{"cut in its header", old[:50]},
		{"a trace with a bad header", slices.Concat(old[:12], []byte{1, 2, 3, 4}, old[16:])},
		{"newer", slices.Concat(old[:8], []byte{200, 0}, old[10:])},
	} {
		p := filepath.Join(dir, c.name)
		filetest.Write(t, p, c.content)
		if err := Start(p, WithOverwrite()); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v, want ErrExists", c.name, err)
		}
		if b, err := os.ReadFile(p); err != nil || string(b) != string(c.content) {
			t.Errorf("%s: it was changed (%v)", c.name, err)
		}
	}
	killed := filepath.Join(dir, "killed") // never closed, and not being written
	filetest.Write(t, killed, slices.Concat(old[:128], make([]byte, 8), old[136:]))
	if err := Start(killed, WithOverwrite()); err != nil {
		t.Errorf("a killed trace: %v", err)
	} else {
		stop(t)
	}
}
