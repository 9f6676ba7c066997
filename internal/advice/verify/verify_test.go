package verify

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// grows is a program with growing slices, one of them in a field.
const grows = `package main

import "fmt"

type object struct{ list []int }

func grown(n int) []int {
	var v []int
	for i := range n {
		v = append(v, i)
	}
	return v
}

func main() {
	o := &object{}
	sum := 0
	for range 4 {
		m := map[int]int{}
		for i := range 30_000 {
			m[i] = 1
		}
		sum += len(grown(1_000_000)) + len(m)
		o.list = append(o.list, sum)
	}
	fmt.Println(sum, len(o.list))
}
`

// module writes a program, and returns its directory.
func module(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs ", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/grows\n\ngo 1.25\n", "main.go": grows} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	return dir
}

// counted returns the report of two runs of the program in a directory.
func counted(dir string) *advice.Report {
	main := filepath.Join(dir, "main.go")
	capacity := func(n int64) advice.Fix { return advice.Fix{What: "capacity", N: n} }
	return &advice.Report{Runs: 2, Findings: []advice.Finding{
		{ID: "slice-too-small", Site: "main.grown " + main + ":10", Type: "int", NS: 80e6, Fix: capacity(900_000)},
		{ID: "map-too-small", Site: "main.main " + main + ":21", Type: "map[int]int", NS: 4e6, Fix: capacity(30_000)},
		{ID: "slice-too-small", Site: "main.grown " + main + ":10", Type: "int", NS: 20e6, Bytes: 64e6, Fix: capacity(1_000_000)},
		{ID: "slice-too-small", Site: "main.main " + main + ":24", Type: "int", Fix: capacity(4)},
		{ID: "list-to-slice", Site: "main.main " + main + ":24"},
	}}
}

// TestRun: possible changes are made and measured, and others have a reason.
func TestRun(t *testing.T) {
	dir := module(t)
	progress := 0
	r, err := Run(t.Context(), Options{Dir: dir, Report: counted(dir), Runs: 4, Progress: func(run, of int) {
		if progress++; run != progress || of != 4*5 {
			t.Errorf("run %d of %d, want %d of 20", run, of, progress)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 4 || r.Wall == 0 || len(r.Tries) != 4 || r.All == nil || progress != 20 {
		t.Fatalf("%+v, %d runs", r, progress)
	}
	main := filepath.Join(dir, "main.go")
	for i, want := range []struct {
		change, reason string
		estimate       int64
	}{
		{main + ":8: var v []int = make([]int, 0, 1000000)", "", 50e6},
		{main + ":19: m := make(map[int]int, 30000)", "", 2e6},
		{"", "o.list grows on line 24", 0},
		{"", "this advice can't be applied automatically", 0},
	} {
		x := r.Tries[i]
		if strings.Join(x.Changes, "") != want.change || !strings.HasPrefix(x.Reason, want.reason) || (x.Reason == "") != (want.reason == "") || x.Estimate != want.estimate {
			t.Errorf("try %d: %+v, want %+v", i, x, want)
		}
		if (x.CPU != nil) != (want.reason == "") || x.CPU != nil && x.Output != runs.Same {
			t.Errorf("try %d: measured is %v, output %q", i, x.CPU, x.Output)
		}
	}
	if x := r.Tries[0].Wall; x.NS <= 0 || x.Low > x.NS || x.NS > x.High || x.Confidence < 0.95 {
		t.Errorf("arrays that grow to a million elements are not slower: %+v", x)
	}
	if r.All.Wall.NS <= 0 || len(r.All.Changes) != 2 || r.All.Output != runs.Same {
		t.Errorf("all at once: %+v", r.All)
	}
	if text, err := os.ReadFile(main); err != nil || string(text) != grows {
		t.Errorf("the user's file was changed: %v\n%s", err, text)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, counted(dir), dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nmain.go:10: slice-too-small\nmain.go:10: slice-too-small\n    main.go:8: var v []int = make([]int, 0, 1000000)\n    estimated: 50.0ms less, and 30.5 MiB of memory, which is not measured\n    CPU time: ",
		"not tried: o.list grows", "all of these changes at once:\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	t.Logf("\n%s", &b)
}

// TestRunEndsWithItsBudget: runs end when there are enough for an interval.
func TestRunEndsWithItsBudget(t *testing.T) {
	dir := module(t)
	report := counted(dir)
	report.Findings = report.Findings[:1]
	r, err := Run(t.Context(), Options{Dir: dir, Report: report, Runs: 1000, Budget: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 4 || r.All != nil {
		t.Errorf("%d runs, all %+v", r.Runs, r.All)
	}
}

// TestRunRefuses: unmeasured changes have a reason.
func TestRunRefuses(t *testing.T) {
	dir := module(t)
	all := counted(dir)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Report: all}, "0 runs are too few"},
		{Options{Report: all, Runs: 1, Flags: []string{"-overlay=x.json"}}, "which go build takes once"},
		{Options{Report: all, Runs: 1, Package: "./none"}, "building ./none unchanged"},
		{Options{Report: all, Runs: 1, Flags: []string{"-unknown"}}, "building . unchanged"},
	} {
		c.o.Dir = dir
		if _, err := Run(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	trimmed, gone := all.Findings[0], all.Findings[0]
	trimmed.Site = "main.grown example.com/grows/main.go:10"
	gone.Site = "main.grown " + filepath.Join(dir, "gone.go") + ":10"
	r, err := Run(t.Context(), Options{Dir: dir, Report: &advice.Report{Findings: []advice.Finding{trimmed, gone}}, Runs: 1})
	if err != nil || len(r.Tries) != 2 || r.Runs != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []string{"-trimpath", "reading the source"} {
		if !strings.Contains(r.Tries[i].Reason, want) {
			t.Errorf("%q, want %q", r.Tries[i].Reason, want)
		}
	}
}
