//go:build !scope_off

package record_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// buildC builds the program in a directory with cgo, with this test's own tags, and
// returns its path. It skips the test if there is no C compiler.
func buildC(t *testing.T, dir string) string {
	t.Helper()
	faultfs.Children(t)
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Skipf("no go tool: %v", err)
	}
	if _, err := exec.LookPath(strings.TrimSpace(string(cc))); err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	program := filepath.Join(t.TempDir(), filepath.Base(dir))
	args := []string{"build", "-o", program}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "-tags" || s.Key == "-race" {
				args = append(args, s.Key+"="+s.Value)
			}
		}
	}
	build := exec.Command("go", append(args, "./"+dir)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return program
}

// TestG38Fork runs a program with C code that forks, before, during and after a
// recording. The child, which is the same program, calls every function: nothing is
// recorded, nothing breaks, and the parent's trace has exactly what the parent recorded.
func TestG38Fork(t *testing.T) {
	program := buildC(t, "testdata/forks")
	backings := []string{"disk", "shm", "heap"}
	if !record.HaveDisk {
		backings = backings[2:]
	}
	for _, backing := range backings {
		for _, when := range []string{"before", "during", "after"} {
			t.Run(backing+" "+when, func(t *testing.T) {
				dir := t.TempDir()
				out, err := exec.Command(program, dir, when, backing).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var parents int
				for line := range strings.Lines(string(out)) {
					if _, err := fmt.Sscanf(line, "parents %d", &parents); err != nil && !strings.HasPrefix(line, dir) {
						t.Logf("%s", line)
					}
				}
				traces, err := filepath.Glob(filepath.Join(dir, "*"))
				if err != nil || len(traces) != 1 {
					t.Fatalf("traces: %v, %v", traces, err)
				}
				verify(t, traces[0])
				got := map[string]int{}
				eachAnyway(t, traces[0], func(tr *trace.Trace, e *trace.Event) { got[tr.Name(e.Name)]++ })
				want := map[string]int{"parent": parents}
				switch when {
				case "during":
					want["held"] = 6
				case "after":
					want["held"] = 1
				}
				if parents == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("recorded %v, want %v", got, want)
				}
				t.Logf("G38: fork on %s, %s a recording: the parent's trace has %v", backing, when, got)
			})
		}
	}
}

// TestCallbacksRows: three threads of C code call Go one after another. Go runs them on
// one goroutine, but the name that a thread gave to its row is not passed on to the next
// thread's.
func TestCallbacksRows(t *testing.T) {
	program := buildC(t, "testdata/callbacks")
	perBacking(t, func(t *testing.T, backing Option) {
		name := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
		out, err := exec.Command(program, t.TempDir(), name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		path := strings.TrimSpace(string(out))
		verify(t, path)
		rows, goids := map[string]string{}, map[uint64]bool{}
		tr := each(t, path, func(tr *trace.Trace, e *trace.Event) {
			if e.Kind == format.KindTask {
				rows[tr.Name(e.Name)] = tr.Name(e.Track)
				goids[e.Goid] = true
			}
		})
		want := map[string]string{"a": "first", "b": "", "c": "second", "d": ""}
		if len(goids) != 1 {
			t.Logf("they ran on goroutines %v", goids)
		} else if tr.Header().Path != format.PathAssembly {
			want["b"], want["d"] = "first", "second" // other paths do not check the thread
		}
		if fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("the rows are %v, want %v", rows, want)
		}
	})
}
