//go:build !scope_off

package main

import (
	"fmt"
	"go/build"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// callers are the functions that look words up, by source. The package's name
// is another one in a test.
var callers = [sources]string{identifiers: ").ofIdentifier", comments: ").ofComment", texts: ").ofText"}

// callerOf returns the source of a lookup from a stack; -1 if there is none.
func callerOf(s *trace.Stack) source {
	for _, f := range s.Frames {
		for from, name := range callers {
			if strings.HasSuffix(f.Function, name) {
				return source(from)
			}
		}
	}
	return -1
}

// recorded runs the program on a part of Go's own files.
func recorded(t *testing.T, path string) *total {
	t.Helper()
	limit := 300
	if testing.Short() {
		limit = 30
	}
	all, err := record(path, filepath.Join(build.Default.GOROOT, "src", "go"), 2, limit)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCountsAreExact: what the trace has of each caller is what a plain counter
// beside each call has.
func TestCountsAreExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lookups.scope")
	all := recorded(t, path)
	tr := tracetest.OpenFile(t, path)
	if lost := tr.Lost(); len(lost) > 0 {
		t.Fatalf("records were lost: %v", lost)
	}
	var got [sources]count
	tr.EachStack(func(s *trace.Stack) bool {
		switch from := callerOf(s); {
		case from < 0:
			t.Errorf("%d calls come from %+v", s.Calls, s.Frames)
		case tr.Name(s.Name) == "stem.hit":
			got[from].hits += s.Calls
		case tr.Name(s.Name) == "stem.miss":
			got[from].misses += s.Calls
		}
		return true
	})
	if got != all.counts {
		t.Errorf("counted %v, want %v", got, all.counts)
	}
	for i, c := range got {
		if c.hits == 0 || c.misses == 0 {
			t.Errorf("nothing to compare: %v has %+v", source(i), c)
		}
	}
}

func TestNoRecording(t *testing.T) {
	if _, err := record("nowhere/x.scope", ".", 1, 0); err == nil || !strings.Contains(err.Error(), "recording can't start") {
		t.Errorf("error %v", err)
	}
}

// TestPprofNamesTheHottestCaller: scopeview stacks --format pprof, opened with go tool
// pprof, agrees with the plain counters.
func TestPprofNamesTheHottestCaller(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil || testing.Short() {
		t.Skip("builds the tool")
	}
	dir := t.TempDir()
	path, prof := filepath.Join(dir, "lookups.scope"), filepath.Join(dir, "lookups.pb.gz")
	all := recorded(t, path)
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command(goTool, args...)
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &errs)
		}
		return string(out)
	}
	run("run", "../../cmd/scopeview", "stacks", path, "--skip", "1", "--format", "pprof", "-o", prof)
	hottest := 0
	for i, c := range all.counts {
		if h := all.counts[hottest]; c.hits+c.misses > h.hits+h.misses {
			hottest = i
		}
	}
	// Without stem, which all lookups go through, its callers are the leaves.
	out := run("tool", "pprof", "-top", prof)
	_, table, _ := strings.Cut(out, "cum%\n")
	first, _, _ := strings.Cut(table, "\n")
	want := fmt.Sprint(all.counts[hottest].hits + all.counts[hottest].misses)
	if f := strings.Fields(first); len(f) < 6 || f[0] != want || !strings.HasSuffix(f[5], callers[hottest]) {
		t.Errorf("first is %q, want %s with %s calls:\n%s", first, callers[hottest], want, out)
	}
}
