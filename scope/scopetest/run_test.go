//go:build !scope_off

package scopetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// child runs this test binary, or the given command, as a package whose tests end in the given
// way.
func child(t *testing.T, end string, command ...string) (out string, code int) {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "SCOPETEST_CHILD="+end)
	b, err := c.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(b), c.ProcessState.ExitCode()
}

// traces returns the traces that a child has left.
func traces(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^github\.com\+scopeview\+scopeview\+scope\+scopetest-\d{8}T\d{6}\.\d{3}Z-\d+\.scope$`)
	for _, path := range list {
		if !name.MatchString(filepath.Base(path)) {
			t.Errorf("a trace is called %s", filepath.Base(path))
		}
	}
	return list
}

// textOf returns the rows and scopes of a trace, sorted. whole is false if the process ended before
// the last of them were written.
func textOf(t *testing.T, path string) (text string, whole bool) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	lister := args.NewLister(tr.Name)
	var lines []string
	spans := map[[8]byte]string{}
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		line := e.Kind.String() + " " + tr.Name(e.Name)
		l, _ := e.Link()
		spans[l.Span] = tr.Name(e.Name)
		if l.Parent != [8]byte{} {
			line += " of " + spans[l.Parent]
		}
		switch {
		case e.Kind == format.KindTask && e.Open:
			line += " open"
		case e.Kind == format.KindTask:
			for _, a := range lister.List(e) {
				if a.Key == "result" {
					line += " " + string(a.Value.Str)
				}
			}
		case e.Kind != format.KindTrack:
			continue
		}
		if e.Track != e.Name {
			line += " on " + tr.Name(e.Track)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), tr.Closed() || tr.Header().Backing != format.BackingHeap
}

// part is the scope that a test of TestChild begins; rows are the rows of all.
const part = "\ntask part of TestChild/skips on TestChild/skips"
const rows = "\ntrack TestChild\ntrack TestChild/ends\ntrack TestChild/passes\ntrack TestChild/skips"

// TestMainKeeps checks which traces remain, by how the tests end, with the flags and without.
func TestMainKeeps(t *testing.T) {
	const others = "\ntask TestChild/passes of TestChild pass\ntask TestChild/skips of TestChild skip\ntask parallel pause on TestChild/passes" + part + rows
	for _, c := range []struct {
		end   string
		flags []string
		code  int
		want  string // "": no trace
	}{
		{"pass", nil, 0, ""},
		{"fail", nil, 1, ""},
		{"pass", []string{"-scope=DIR"}, 0, ""},
		{"pass", []string{"-scope=DIR", "-scope-keep"}, 0, "task TestChild pass\ntask TestChild/ends of TestChild pass" + others},
		{"fail", []string{"-scope=DIR"}, 1, "task TestChild fail\ntask TestChild/ends of TestChild fail" + others},
		{"panic", []string{"-scope=DIR"}, 2, "task TestChild fail\ntask TestChild/ends of TestChild fail\ntask TestChild/passes of TestChild open\ntask TestChild/skips of TestChild skip\ntask parallel pause open on TestChild/passes" + part + rows},
		{"exit", []string{"-scope=DIR"}, 3, "task TestChild open\ntask TestChild/ends of TestChild open\ntask TestChild/passes of TestChild open\ntask TestChild/skips of TestChild skip\ntask parallel pause open on TestChild/passes" + part + rows},
	} {
		t.Run(c.end+" "+strings.Join(c.flags, " "), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "traces")
			command := []string{os.Args[0], "-test.run=^TestChild$"}
			for _, f := range c.flags {
				command = append(command, strings.ReplaceAll(f, "DIR", dir))
			}
			out, code := child(t, c.end, command...)
			if code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
			list := traces(t, dir)
			switch {
			case c.want == "":
				if len(list) != 0 {
					t.Errorf("traces %v, want none", list)
				}
			case len(list) != 1:
				t.Fatalf("traces %v, want one:\n%s", list, out)
			default:
				if got, whole := textOf(t, list[0]); got != c.want && whole {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				if said := strings.Contains(out, "scopetest: "+list[0]+"\n"); said != (c.end == "pass" || c.end == "fail") {
					t.Errorf("it says:\n%s", out)
				}
			}
		})
	}
}

// TestHooked: tests that the standard library's hooks record are not recorded twice.
func TestHooked(t *testing.T) {
	record.TestsHooked.Store(true)
	defer record.TestsHooked.Store(false)
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path)
	t.Run("sub", func(t *testing.T) {
		if ctx := Run(t); ctx != t.Context() {
			t.Error("the context is not the test's")
		}
		Parallel(t)
	})
	end()
	if got, _ := textOf(t, path); got != "" {
		t.Errorf("got\n%s", got)
	}
}

// TestProfile: go test gets the profile and the trace, although the recording takes them too.
func TestProfile(t *testing.T) {
	dir := t.TempDir()
	cpu, tr := filepath.Join(dir, "cpu"), filepath.Join(dir, "trace")
	out, code := child(t, "pass", os.Args[0], "-test.run=^TestChild$", "-scope="+dir+"/x", "-test.cpuprofile="+cpu, "-test.trace="+tr)
	if code != 0 || strings.Contains(out, "can't start") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	for _, path := range []string{cpu, tr} {
		if st, err := os.Stat(path); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestNotRecording: if the directory can't be created, the tests run, and a message is printed.
func TestNotRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	filetest.Write(t, file, nil)
	out, code := child(t, "fail", os.Args[0], "-test.run=^TestChild$", "-scope="+file)
	if code != 1 || !strings.Contains(out, "scopetest: not recording: ") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestGoTest: the go command passes the flags on if they follow the packages.
func TestGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("it links")
	}
	dir := t.TempDir()
	out, code := child(t, "fail", "go", "test", ".", "-run=^TestChild$", "-scope", dir)
	if list := traces(t, dir); code != 1 || len(list) != 1 {
		t.Errorf("exit code %d, traces %v:\n%s", code, list, out)
	}
}

func TestEscaped(t *testing.T) {
	for path, want := range map[string]string{
		"example.com/a-b/c": "example.com+a-b+c", "command-line-arguments": "command-line-arguments", "a b\\c%é": "a_b_c__",
	} {
		if got := escaped(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}
