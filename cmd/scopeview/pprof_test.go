package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/symbols"
)

// TestPprofIsRead: go tool pprof reads the output of pprof, and agrees: goroutine 7 waited for the
// mutex for 250 µs, in a scope, on a row.
func TestPprofIsRead(t *testing.T) {
	scriptTrace(t, "functions")
	if r := scopeview("export", "pprof", "all.scope", "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r)
	}
	for _, c := range []struct{ args, want string }{
		{"-top -sample_index=lock", "250us   100%   100%      250us   100%  sync.(*Mutex).Lock"},
		{"-tags -sample_index=lock", "work"},
		{"-top -sample_index=lock -tagfocus track=worker", "Showing nodes accounting for 250us"},
		{"-peek main.work -sample_index=lock", "250us   100% |   sync.(*Mutex).Lock"},
	} {
		args := append([]string{"tool", "pprof"}, strings.Fields(c.args)...)
		out, err := exec.Command("go", append(args, "x.pb.gz")...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("go tool pprof %s: %v, without %q:\n%s", c.args, err, c.want, out)
		}
	}
}

// TestGoTraceComesOut: the recorded Go execution trace is written unchanged, and yields the same by
// itself.
func TestGoTraceComesOut(t *testing.T) {
	scriptTrace(t, "functions")
	if r := scopeview("export", "gotrace", "all.scope", "-o", "go.trace"); r.code != exitOK {
		t.Fatal(r)
	}
	within, alone := scopeview("profile", "all.scope", "-m", "e.lock:i.lock"), scopeview("profile", "go.trace", "-m", "e.lock:i.lock")
	cut := func(s string) string { return s[strings.Index(s, "<Total>"):] }
	if within.code != exitOK || alone.code != exitOK || !strings.Contains(alone.out, "0.000   0.000  sync.(*Mutex).Lock") {
		t.Fatalf("%v\n%v", within, alone)
	}
	if a, b := cut(within.out), cut(alone.out); a != b {
		t.Errorf("within the recording:\n%s\nalone:\n%s", a, b)
	}
	for args, want := range map[string]string{
		"export gotrace all.scope --stream 7 -o no": "--stream 7: all.scope has 1",
		"export gotrace none.scope -o no":           "none.scope has no Go execution trace",
		"profile --by sample x.pb.gz":               "no such file",
		"profile go.trace --from -1s":               "give a time from its begin",
		"profile go.trace --scope x":                "a plain Go execution trace has no scopes",
		"export pprof all.scope --folded none":      "no such metric",
	} {
		if r := scopeview(strings.Fields(args)...); r.code == exitOK || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v, want %q", args, r, want)
		}
	}
}

//go:noinline
func spin(d time.Duration) (n int) {
	for from := time.Now(); time.Since(from) < d; {
		for i := range 1000 {
			n += i * n
		}
	}
	return n
}

func recursive(depth int, d time.Duration) int {
	if depth == 0 {
		return spin(d)
	}
	return recursive(depth-1, d/2) + spin(d/2)
}

// TestFunctionsAgreesWithPprof: for a CPU profile, functions prints the same exclusive and inclusive times as
// go tool pprof, with and without inlined functions.
func TestFunctionsAgreesWithPprof(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := os.Create("cpu.pprof")
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	recursive(3, 400*time.Millisecond)
	pprof.StopCPUProfile()
	f.Close()
	for _, inline := range []string{"true", "false"} {
		args := []string{"tool", "pprof", "-top", "-unit=ms", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"}
		if inline == "false" {
			args = append(args, "-noinlines")
		}
		out, err := exec.Command("go", append(args, "cpu.pprof")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for line := range strings.Lines(string(out)) {
			if w := strings.Fields(strings.ReplaceAll(line, " (inline)", "")); len(w) == 6 && strings.HasSuffix(w[1], "%") {
				want[symbols.PrintName(w[5])] = milliseconds(w[0]) + " " + milliseconds(w[3])
			}
		}
		r := scopeview("profile", "cpu.pprof", "--format", "csv", "--inline="+inline)
		rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
		if err != nil || r.code != exitOK || len(rows) < 5 {
			t.Fatalf("%v, %v", r, err)
		}
		excl, incl := slices.Index(rows[0], "exclusive_cpu"), slices.Index(rows[0], "inclusive_cpu")
		for _, row := range rows[1:] {
			if got := inMillis(row[excl]) + " " + inMillis(row[incl]); got != want[row[0]] {
				t.Errorf("inline %s: %s has %s, and go tool pprof says %s", inline, row[0], got, want[row[0]])
			}
		}
		if len(want) != len(rows)-1 {
			t.Errorf("inline %s: %d functions, and go tool pprof has %d:\n%s", inline, len(rows)-1, len(want), out)
		}
	}
}

func milliseconds(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "ms"), ".0") }

func inMillis(ns string) string {
	n, err := strconv.Atoi(ns)
	if err != nil {
		return err.Error()
	}
	return strconv.Itoa(n / 1e6)
}
