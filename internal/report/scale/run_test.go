package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain runs the test binary as the measured command.
func TestMain(m *testing.M) {
	switch os.Getenv("SCALE_CHILD") {
	case "":
		os.Exit(m.Run())
	case "note": // write the environment to a file
		dir := os.Args[2]
		text := fmt.Sprintf("%d %s %v", runtime.GOMAXPROCS(0), os.Args[1], os.Getenv("SCOPEVIEW") == dir)
		if err := os.WriteFile(filepath.Join(dir, "note"), []byte(text), 0o600); err != nil {
			os.Exit(1)
		}
	case "work":
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
	case "fail":
		fmt.Fprintln(os.Stderr, "no such file, and so I can't go on")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

func command(t *testing.T, kind string, args ...string) []string {
	t.Setenv("SCALE_CHILD", kind)
	return append([]string{os.Args[0]}, args...)
}

func TestMeasureAlternatesAndHandsOver(t *testing.T) {
	var order []int
	runs, err := measure(t.Context(), Options{
		Procs: []int{1, 2, 3}, Runs: 2, Command: command(t, "note", "-w={p}", "{trace}"),
		Names: func(dir string) (map[string]Name, error) {
			b, err := os.ReadFile(filepath.Join(dir, "note"))
			return map[string]Name{string(b): {1, 1, 1}}, err
		},
		Progress: func(run, of, procs int) {
			if order = append(order, procs); run != len(order) || of != 6 {
				t.Errorf("run %d of %d after %v", run, of, order)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []int{1, 2, 3, 3, 2, 1}
	if !reflect.DeepEqual(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
	for i, r := range runs {
		if _, ok := r.Names[fmt.Sprintf("%d -w=%d true", want[i], want[i])]; !ok || r.Procs != want[i] || r.Wall <= 0 {
			t.Errorf("run %d: %+v", i, r)
		}
	}
}

func TestMeasureCountsTimes(t *testing.T) {
	runs, err := measure(t.Context(), Options{Procs: []int{1, 2}, Runs: 1, Command: command(t, "work")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Wall < 20e6 || r.User+r.System <= 0 || r.Names != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestMeasureReportsWhyACommandFailed(t *testing.T) {
	_, err := measure(t.Context(), Options{Procs: []int{2}, Runs: 1, Command: command(t, "fail", "now")})
	if err == nil || !strings.Contains(err.Error(), "now with GOMAXPROCS=2: exit status 3; it said:\nno such file") {
		t.Errorf("got %v", err)
	}
	if _, err = measure(t.Context(), Options{Procs: []int{2}, Runs: 1, Command: []string{filepath.Join(t.TempDir(), "none")}}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := measure(ctx, Options{Procs: []int{1}, Runs: 1, Command: command(t, "hang")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSummarize(t *testing.T) {
	var runs []run
	for _, s := range law(1e9, 0.1, 0.02, 1, 2, 3, 4, 5, 6) {
		n := int64(s.N)
		for _, off := range []int64{0, 7, -5} {
			runs = append(runs, run{
				Procs: s.N, Wall: int64(s.Time) + off, User: 800 * n, System: 200 * n,
				Names: map[string]Name{"inflated": {10, 10, 1000 * n}, "same": {4, 3, 300}, "unknown": {10, 4, 400}},
			})
		}
	}
	r := summarize(runs, 4)
	if len(r.Points) != 6 || r.Refused != "" || r.Fit == nil || r.Peak == nil {
		t.Fatalf("%+v", r)
	}
	if p := r.Points[5]; p.Runs != 3 || p.Most-p.Least != 12 || p.Wall-p.Least != 5 || !p.Beyond || p.Inflation != 6 || p.CPU != 6000 {
		t.Errorf("%+v", p)
	}
	if p := r.Points[3]; p.Beyond {
		t.Errorf("4 of 4 are not beyond: %+v", p)
	}
	want := []inflation{
		{"inflated", []int64{100, 200, 300, 400, 500, 600}, 6},
		{"same", []int64{100, 100, 100, 100, 100, 100}, 1},
		{"unknown", []int64{-1, -1, -1, -1, -1, -1}, 0},
	}
	if !reflect.DeepEqual(r.Names, want) {
		t.Errorf("names %+v", r.Names)
	}
	for i := range runs {
		runs[i].Wall = 1e9 + int64(i/3%2)*2e9 // alternating
	}
	if r := summarize(runs, 4); r.Fit == nil || r.Fit.Error < maxError || r.Dominant != "" || r.Peak != nil {
		t.Errorf("times that follow no law: %+v", r)
	}
	if r := summarize(runs[:6], 4); r.Fit != nil || r.Peak != nil || r.Dominant != "" || !strings.Contains(r.Refused, "2 numbers of processors are too few") {
		t.Errorf("two points: %+v", r)
	}
}
