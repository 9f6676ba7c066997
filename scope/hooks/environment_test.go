//go:build !scope_off

package hooks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/hooks"
)

// child is an instrumented program.
func child(what string) {
	rare()
	switch what {
	case "exits":
		hooks.Exit(0)
		os.Exit(0)
	case "fails":
		hooks.Exit(3)
		os.Exit(3)
	case "panics":
		panic("on purpose")
	case "starts":
		if err := scope.Start(os.Getenv("HOOKS_OWN")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		rare()
		if err := scope.Start("again.scope"); err == nil {
			fmt.Println("two recordings at once")
		}
		if err := scope.Stop(); err != nil {
			fmt.Println(err)
		}
	}
	hooks.Exit(0) // as when main returns
}

// run runs the child, and returns what it printed to standard error, and its traces.
func run(t *testing.T, what string, env ...string) (stderr string, traces []string) {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command(os.Args[0])
	c.Env = append([]string{"HOOKS_CHILD=" + what, "SCOPEVIEW=" + dir, "HOME=" + t.TempDir(), shmtest.Variable + "=" + os.Getenv(shmtest.Variable)}, env...)
	var text strings.Builder
	c.Stderr, c.Stdout = &text, &text
	_ = c.Run() // the output and the traces show what happened
	traces, err := filepath.Glob(filepath.Join(dir, "*.scope"))
	if err != nil {
		t.Fatal(err)
	}
	return text.String(), traces
}

// TestKeep checks which traces are kept, by how the program ends.
func TestKeep(t *testing.T) {
	const failures = "SCOPEVIEW_KEEP=failures"
	for _, c := range []struct {
		what string
		env  string
		kept int
	}{
		{"returns", "", 1}, {"exits", "", 1}, {"fails", "", 1},
		{"returns", failures, 0}, {"exits", failures, 0}, {"fails", failures, 1}, {"panics", failures, 1},
	} {
		t.Run(c.what+" "+c.env, func(t *testing.T) {
			stderr, traces := run(t, c.what, c.env)
			if len(traces) != c.kept || (stderr != "") != (c.what == "panics") {
				t.Fatalf("traces %v, want %d; printed %q", traces, c.kept, stderr)
			}
			for _, path := range traces {
				tr := tracetest.OpenFile(t, path)
				if c.what == "panics" && tr.Header().Backing == format.BackingHeap {
					continue // unwritten records are lost with the heap
				}
				if tr.Closed() == (c.what == "panics") || tr.Lookup("budget") != "3.0%" || !strings.HasPrefix(tr.Lookup("gotrace"), "o") {
					t.Errorf("closed %v, budget %q, gotrace %q", tr.Closed(), tr.Lookup("budget"), tr.Lookup("gotrace"))
				}
			}
		})
	}
}

// TestOfTests: of the processes of a test, only the one started by go test records.
func TestOfTests(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{
		{"-test.paniconexit0 -test.timeout=10m0s", true}, {"-test.testlogfile=x -test.paniconexit0 -test.run=A", true},
		{"", false}, {"-test.run=A", false}, {"-test.paniconexit0 -test.fuzz=A -test.fuzzworker", false},
	} {
		if got := hooks.BegunByGo(append([]string{"x.test"}, strings.Fields(c.args)...)); got != c.want {
			t.Errorf("%q: %v, want %v", c.args, got, c.want)
		}
	}
	if stderr, traces := run(t, "fails", "SCOPEVIEW_TEST=1"); len(traces) != 0 || stderr != "" {
		t.Errorf("a process that go test has not begun: traces %v, printed %q", traces, stderr)
	}
}

// TestEnvironment sets the other variables.
func TestEnvironment(t *testing.T) {
	stderr, traces := run(t, "returns", "SCOPEVIEW_STATES=0", "SCOPEVIEW_BUDGET=12.5%", "SCOPEVIEW_FILTER=main.rare")
	if len(traces) != 1 || stderr != "" {
		t.Fatalf("traces %v, printed %q", traces, stderr)
	}
	tr := tracetest.OpenFile(t, traces[0])
	if tr.Lookup("budget") != "12.5%" || tr.Lookup("gotrace") != "" || tr.Lookup("filter") != "main.rare" {
		t.Errorf("budget %q, gotrace %q, filter %q", tr.Lookup("budget"), tr.Lookup("gotrace"), tr.Lookup("filter"))
	}
}

// TestMistakes: one line on standard error reports the mistake, and nothing is recorded.
func TestMistakes(t *testing.T) {
	for _, env := range []string{"SCOPEVIEW_BUDGET=much", "SCOPEVIEW_BUDGET=0", "SCOPEVIEW_BUDGET=101%", "SCOPEVIEW_BUDGET=NaN",
		"SCOPEVIEW_STATES=no", "SCOPEVIEW_KEEP=some", "SCOPEVIEW_RING=x"} {
		stderr, traces := run(t, "returns", env)
		if len(traces) != 0 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "scopeview: not recording: "+env+": ") {
			t.Errorf("%s: traces %v, printed %q", env, traces, stderr)
		}
	}
}

// TestProgramStarts: a recording that the program starts itself replaces the one from the
// environment, and records that.
func TestProgramStarts(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.scope")
	stderr, traces := run(t, "starts", "HOOKS_OWN="+own)
	if len(traces) != 0 || stderr != "" {
		t.Fatalf("traces %v, printed %q", traces, stderr)
	}
	tr := tracetest.OpenFile(t, own)
	if len(tr.Notes) != 1 || !strings.Contains(tr.Notes[0].Text, "the program starts its own") || tr.Lookup("budget") != "3.0%" {
		t.Errorf("notes %v, budget %q", tr.Notes, tr.Lookup("budget"))
	}
}
