package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// buildCgo builds the program of testdata/cgo and its shared library. It skips the test if there is
// no C compiler.
func buildCgo(t *testing.T) (program string) {
	t.Helper()
	out, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Skipf("no go tool: %v", err)
	}
	cc := strings.TrimSpace(string(out))
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "program")
	lib := exec.Command(cc, "-O1", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-o", filepath.Join(dir, "libshared.so"), "shared/shared.c")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=1", "CGO_LDFLAGS=-L"+dir+" -lshared -Wl,-rpath,"+dir)
	for _, cmd := range []*exec.Cmd{lib, build} {
		cmd.Dir = filepath.Join("testdata", "cgo")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	return program
}

// shares runs a command that lists CPU times, and returns the share of the total of each name, in
// percent.
func shares(t *testing.T, column string, args ...string) map[string]float64 {
	t.Helper()
	r := scopeview(append(args, "-m", "e.cpu:i.cpu", "--format", "csv")...)
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if r.code != exitOK || err != nil || len(rows) < 2 {
		t.Fatalf("%q: %v, %v", args, r, err)
	}
	number := func(row []string, column string) float64 {
		ns, err := strconv.ParseFloat(row[slices.Index(rows[0], column)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return ns
	}
	ns, total := map[string]float64{}, 0.0
	for _, row := range rows[1:] {
		ns[row[0]] = number(row, column)
		total += number(row, "exclusive_cpu")
	}
	for name := range ns {
		ns[name] *= 100 / total
	}
	return ns
}

// TestCgo: recorded from outside, C functions have their own time, in the executable and in a
// library, and the Go functions that called them are their callers. Go's own samples do not contain
// C functions: there the callers have the time.
func TestCgo(t *testing.T) {
	program := buildCgo(t)
	t.Chdir(t.TempDir())
	r := scopeview("record", "-o", "x.scope", "--counter", "task-clock:1ms", "--", program)
	if strings.Contains(r.err, "recording from outside") {
		t.Skip(r.err)
	}
	if r.code != exitOK {
		t.Fatal(r)
	}
	near := func(what string, got, low, high float64) {
		t.Helper()
		if got < low || got > high {
			t.Errorf("%s has %.1f%% of the CPU time, which is not between %v and %v", what, got, low, high)
		}
	}
	own, all := shares(t, "exclusive_cpu", "profile", "x.scope"), shares(t, "inclusive_cpu", "profile", "x.scope")
	for f, caller := range map[string]string{"own_hot": "main.callOwn", "shared_hot": "main.callShared"} {
		near(f, own[f], 35, 55)
		near(caller, all[caller]-all[f], -1, 5) // it has the time of its C function, with the kernel's below it, and of the call
	}
	// It calls both. The rest of the program, such as its start, takes longer where page faults do.
	near("main.main", all["main.main"]-all["own_hot"]-all["shared_hot"], -0.1, 10)
	objects := shares(t, "exclusive_cpu", "profile --by object", "x.scope")
	// Both are rounded to a tenth of a percent.
	near("the library", objects[filepath.Join(filepath.Dir(program), "libshared.so")]-own["shared_hot"], -0.15, 0.15)
	near("the program", objects["program"]-own["own_hot"], 0, 10)
	if r := scopeview("callers", "x.scope", "main.callOwn", "-m", "i.cpu"); r.code != exitOK || !strings.Contains(r.out, "main.main") || !strings.Contains(r.out, "_Cfunc_own_hot") {
		t.Error(r)
	}

	if out, err := exec.Command(program, "go.trace").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inside := shares(t, "inclusive_cpu", "profile", "go.trace")
	// With some 80 samples, the standard error of one half is 5.6 %; the tolerance is four times
	// that.
	near("main.callOwn, as Go has it,", inside["main.callOwn"], 25, 75)
	near("main.callShared, as Go has it,", inside["main.callShared"], 25, 75)
	if _, ok := inside["own_hot"]; ok {
		t.Error("Go knows a C function: the text above, and docs/analyzer.md, say that it does not")
	}
}
