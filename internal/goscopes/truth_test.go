package goscopes_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
)

// truth skips tests that take too long for ordinary runs.
func truth(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("SCOPEVIEW_TRUTH=1 runs it, as make truth does")
	}
}

// missing lists the parts of the Go execution trace that could not be read, according to the trace.
func missing(t *testing.T, tr *scopetrace.Trace) (list []string) {
	t.Helper()
	if text := tr.Lookup(gotrace.FactUnread); text != "" {
		list = append(list, text)
	}
	f, err := states.EachOf(tr, states.Handler{})
	if err != nil {
		t.Fatal(err)
	}
	return append(list, f.Problems...)
}

// TestTruthGoTests: each trace of the tests of Go's own reader has the same verdict as there, and
// the same regions, tasks and logs.
func TestTruthGoTests(t *testing.T) {
	truth(t)
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/gotests/main.go")
	if err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(goroot))
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "src/internal/trace/gotests/main.go"): source}})
	filetest.Write(t, filepath.Join(dir, "overlay.json"), overlay)
	program := filepath.Join(dir, "gotests")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "internal/trace/gotests")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program, filepath.Join(root, "src/internal/trace/testdata/tests"), dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 20 {
		t.Fatalf("Go has %d tests", len(lines))
	}
	for _, line := range lines {
		name, refused, _ := strings.Cut(line, "\t")
		t.Run(name, func(t *testing.T) {
			b := filetest.Read(t, filepath.Join(dir, name))
			tr := converted(t, b)
			if list := missing(t, tr); (len(list) > 0) != (refused == "true") {
				t.Errorf("refused by Go: %s; we say %q", refused, list)
			}
			if refused == "true" {
				return
			}
			got, _ := scopesOf(t, tr)
			early := earlyOf(t, tr)
			got = slices.DeleteFunc(got, func(k *known) bool { return early[[2]int64{k.from, k.to}] })
			same(t, got, decoded(t, b))
		})
	}
}

// earlyOf returns begin and end of the scopes that began before the trace, which the decoder does
// not have.
func earlyOf(t *testing.T, tr *scopetrace.Trace) map[[2]int64]bool {
	t.Helper()
	early, lister := map[[2]int64]bool{}, args.NewLister(tr.Name)
	for e := range tracetest.Events(t, tr, scopetrace.Options{AsRecorded: true}) {
		if e.Kind == format.KindTask && slices.ContainsFunc(lister.List(e), func(a args.Arg) bool { return a.Key == "began" }) {
			early[[2]int64{e.Start, e.Start + e.Dur}] = true
		}
	}
	return early
}

// TestTruthCuts: a Go execution trace that is cut off anywhere is reported as cut off.
func TestTruthCuts(t *testing.T) {
	truth(t)
	for _, version := range []string{"1.22", "1.23", "1.25", "1.26"} {
		b := filetest.Read(t, "testdata/go"+version+".trace")
		whole := 0
		for n := 16; n < len(b); n += 7 {
			if list := missing(t, converted(t, bytes.Clone(b[:n]))); len(list) == 0 {
				whole++
				t.Errorf("Go %s, %d bytes of %d: nothing is missing", version, n, len(b))
			}
			if whole > 5 {
				break
			}
		}
	}
}
