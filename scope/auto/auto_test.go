//go:build !scope_off

package auto

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestMain makes the test binary the recorded program: it imports this package,
// and records two scopes.
func TestMain(m *testing.M) {
	switch os.Getenv("AUTO_CHILD") {
	case "":
		os.Exit(shmtest.Run(m.Run))
	case "parent":
		work()
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "AUTO_CHILD=leaf")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			os.Exit(1)
		}
	case "leaf":
		work()
	}
	os.Exit(0) // without Stop
}

func work() {
	scope.Task("kept")()
	scope.Task("left.out")()
}

// run runs the child with environment variables and returns what it printed to
// standard error.
func run(t *testing.T, kind string, env ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append([]string{"AUTO_CHILD=" + kind, "HOME=" + t.TempDir(), shmtest.Variable + "=" + os.Getenv(shmtest.Variable)}, env...)
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return stderr.String()
}

// names returns the names of a trace's tasks.
func names(t *testing.T, path string) string {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	if tr.Header().Backing == format.BackingHeap {
		t.Skip("the heap backing loses what was not written when the program ended")
	}
	var list []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask {
			list = append(list, tr.Name(e.Name))
		}
	}
	return strings.Join(list, " ")
}

func traces(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.scope"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOffWithoutTheVariable(t *testing.T) {
	if s := run(t, "leaf"); s != "" {
		t.Errorf("printed %q", s)
	}
}

func TestDirectoryAndFilter(t *testing.T) {
	dir := t.TempDir()
	if s := run(t, "leaf", "SCOPEVIEW="+dir, "SCOPEVIEW_FILTER=-left.*", "SCOPEVIEW_LIMIT=8M"); s != "" {
		t.Errorf("printed %q", s)
	}
	list := traces(t, dir)
	if len(list) != 1 {
		t.Fatalf("left %q, want one trace", list)
	}
	if got := names(t, list[0]); got != "kept" {
		t.Errorf("recorded %q, want what the filter keeps", got)
	}
	tr := tracetest.OpenFile(t, list[0])
	if got := tr.Header().Limit; got != 8<<20 {
		t.Errorf("the limit is %d, want 8 MiB", got)
	}
}

// TestChildGetsAFileOfItsOwn passes the same file to parent and child.
func TestChildGetsAFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	if s := run(t, "parent", "SCOPEVIEW="+filepath.Join(dir, "a.scope")); s != "" {
		t.Errorf("printed %q", s)
	}
	list := traces(t, dir)
	if len(list) != 2 {
		t.Fatalf("left %q, want one trace each", list)
	}
	for _, path := range list {
		if got := names(t, path); got != "kept left.out" {
			t.Errorf("%s has %q", path, got)
		}
	}
}

func TestWhatCannotStartIsOneLine(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, want string
		env        []string
	}{
		{"no such directory", "no such file", []string{"SCOPEVIEW=" + filepath.Join(dir, "none", "a.scope")}},
		{"limit", "SCOPEVIEW_LIMIT=12X", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_LIMIT=12X"}},
		{"ring", "SCOPEVIEW_RING=12X", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_RING=12X"}},
		{"ring too small", "from 4 MiB", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_RING=1M"}},
		{"both", "not both", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_RING=8M", "SCOPEVIEW_LIMIT=8M"}},
		{"limit too small", "the least is", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_LIMIT=1K"}},
		{"filter", "filter", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_FILTER=a,,b"}},
		{"long filter", "at most 4000", []string{"SCOPEVIEW=" + dir, "SCOPEVIEW_FILTER=" + strings.Repeat("*a,", 20000) + "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, "leaf", c.env...)
			if !strings.HasPrefix(s, "scopeview: not recording: ") || !strings.Contains(s, c.want) || strings.Count(s, "\n") != 1 {
				t.Errorf("printed %q, want one line with %q", s, c.want)
			}
		})
	}
	if list := traces(t, dir); len(list) != 0 {
		t.Errorf("left %q", list)
	}
}

// TestSize checks in the header whether the last bytes are kept, or the first.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		name        string
		env         []string
		ring, limit int64
	}{
		{"nothing said", nil, 256 << 20, 0},
		{"a ring", []string{"SCOPEVIEW_RING=8M"}, 8 << 20, 0},
		{"a limit", []string{"SCOPEVIEW_LIMIT=8M"}, 0, 8 << 20},
		{"no limit", []string{"SCOPEVIEW_LIMIT=none"}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if s := run(t, "leaf", append(c.env, "SCOPEVIEW="+dir)...); s != "" {
				t.Errorf("printed %q", s)
			}
			tr := tracetest.OpenFile(t, traces(t, dir)[0])
			if h := tr.Header(); int64(h.Ring)*int64(h.ChunkSize) != c.ring || h.Limit != c.limit {
				t.Errorf("a ring of %d chunks, limit %d; want %d and %d bytes", h.Ring, h.Limit, c.ring, c.limit)
			}
		})
	}
}

// TestUnknownVariables: a mistyped variable is reported, and the recording runs.
func TestUnknownVariables(t *testing.T) {
	dir := t.TempDir()
	got := run(t, "leaf", "SCOPEVIEW="+dir, "SCOPEVIEW_RNG=8M", "SCOPEVIEW_LIMIT=8M", "SCOPEVIEW_CACHE=x", "SCOPEVIEW_FLITER=*")
	if want := "scopeview: unknown environment variables, ignored: SCOPEVIEW_FLITER, SCOPEVIEW_RNG\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if list := traces(t, dir); len(list) != 1 {
		t.Errorf("left %q, want one trace", list)
	}
	if got := run(t, "leaf", "SCOPEVIEW_RNG=8M"); got != "" {
		t.Errorf("printed %q, and nothing is to be recorded", got)
	}
}

// TestBackingAndCPU: variables set the backing and the CPU mode.
func TestBackingAndCPU(t *testing.T) {
	err := scope.Start(filepath.Join(t.TempDir(), "a.scope"), scope.WithBacking(scope.DiskBacking))
	onlyHeap := errors.Is(err, scope.ErrOption) // as with the race detector and scope_pure
	_ = scope.Stop()
	for name, want := range map[string]format.Backing{"disk": format.BackingDisk, "heap": format.BackingHeap} {
		dir := t.TempDir()
		s := run(t, "leaf", "SCOPEVIEW="+dir, "SCOPEVIEW_BACKING="+name, "SCOPEVIEW_CPU=off", "SCOPEVIEW_SAMPLED=1")
		if name == "disk" && onlyHeap {
			if !strings.Contains(s, "uses the heap") {
				t.Errorf("printed %q", s)
			}
			continue
		}
		if s != "" {
			t.Errorf("printed %q", s)
		}
		tr := tracetest.OpenFile(t, traces(t, dir)[0])
		if got := tr.Header().Backing; got != want {
			t.Errorf("%s: the backing is %v", name, got)
		}
	}
	for _, wrong := range []string{"SCOPEVIEW_BACKING=dsik", "SCOPEVIEW_CPU=on", "SCOPEVIEW_SAMPLED=yes"} {
		if got := run(t, "leaf", "SCOPEVIEW="+t.TempDir(), wrong); !strings.HasPrefix(got, "scopeview: not recording: "+wrong+": write ") {
			t.Errorf("%s: printed %q", wrong, got)
		}
	}
}
