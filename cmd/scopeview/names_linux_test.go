package main

import (
	"encoding/csv"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/long"
)

// kinds are the functions of testdata/names: how many sixteenths of the CPU time each has,
// inclusive, and its callers.
var kinds = map[string]struct {
	parts   float64
	callers string
}{
	"main.main":                  {15, ""}, // except the goroutine's
	"main.spend":                 {16, ""},
	"main.generic[...]":          {2, "main.main"}, // two instances
	"main.(*list[...]).method":   {2, "main.main"},
	"main.call":                  {5, ""},
	"main.(*counter).add":        {2, "main.call main.main"}, // a method value, and an expression
	"main.counter.get":           {2, "main.call"},           // method values, one of an interface
	"main.closures":              {2, "main.main"},
	"main.closures.func1":        {2, "main.call"},
	"main.closures.func1.1":      {1, "main.call"},
	"main.goroutine.func1":       {1, ""},
	"main.deferred":              {1, "main.main"},
	"main.deferred.func1":        {1, "main.deferred"},
	"main.ranged":                {2, "main.main"},
	"main.ranged.sequence.func1": {2, "main.ranged"},
	"main.ranged-range1":         {2, "main.ranged.sequence.func1"}, // the loop's body
	"main.direct":                {1, "main.direct"},                // it calls itself: the innermost call counts
	"main.even":                  {1, "main.odd"},
	"main.odd":                   {1, "main.even"},
}

// TestNames: generic functions, closures, method values, bodies of loops and goroutines have
// readable names, the same from outside and in Go's own samples. Each has its known time and its
// real callers, without the functions that the compiler inserted in between. The time of recursive
// functions counts once.
func TestNames(t *testing.T) {
	long.Skip(t, "samples a program until the shares of its functions are known")
	program := filepath.Join(t.TempDir(), "names")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("testdata", "names")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(t.TempDir())
	if out, err := exec.Command(program, "go.trace", "cpu.pprof").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sources := map[string]float64{"go.trace": 100, "cpu.pprof": 100} // the minimum number of samples
	if r := scopeview("record", "-o", "x.scope", "--counter", "task-clock:1ms", "--", program); r.code == exitOK {
		sources["x.scope"] = 700
	} else if !strings.Contains(r.err, "recording from outside") {
		t.Fatal(r)
	}
	for source, samples := range sources {
		got := shares(t, "inclusive_cpu", "profile", source, "--imputed=false")
		// A function that only calls others may by chance be sampled once.
		maps.DeleteFunc(got, func(name string, share float64) bool { return !strings.HasPrefix(name, "main.") || share < 1 })
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(kinds)); !slices.Equal(a, b) {
			t.Errorf("%s: the functions are\n%q, want\n%q", source, a, b)
			continue
		}
		for name, want := range kinds {
			p := want.parts / 16
			if d := 100 * (4*math.Sqrt(p*(1-p)/samples) + 0.03); math.Abs(got[name]-100*p) > d {
				t.Errorf("%s: %s has %.1f%%, and not %.1f%% ± %.1f%%", source, name, got[name], 100*p, d)
			}
			if want.callers != "" {
				if list := callersOf(t, source, name); list != want.callers {
					t.Errorf("%s: %s is called by %s, want %s", source, name, list, want.callers)
				}
			}
		}
	}
}

// callersOf returns the callers from which a function has its CPU time, in alphabetical order.
// Waits don't count: if a goroutine is preempted in a function without a frame, Go's trace skips
// its caller.
func callersOf(t *testing.T, source, function string) string {
	t.Helper()
	r := scopeview("callers", source, function, "--imputed=false", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if r.code != exitOK || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	at := slices.Index(rows[0], "attributed_cpu")
	var list []string
	for _, row := range rows {
		if row[0] == "caller" && row[at] != "0" {
			list = append(list, row[1])
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
