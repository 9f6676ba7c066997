package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPprofIsRead: go tool pprof reads what pprof writes, and agrees: 7 waited for the mutex
// for 250 µs, in a scope, on a row.
func TestPprofIsRead(t *testing.T) {
	scriptTrace(t, "functions")
	if r := call("pprof", "all.scope", "-o", "x.pb.gz"); r.code != exitOK {
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

// TestGoTraceComesOut: the Go execution trace that was recorded along is written as it is, and
// tells the same by itself.
func TestGoTraceComesOut(t *testing.T) {
	scriptTrace(t, "functions")
	if r := call("gotrace", "all.scope", "-o", "go.trace"); r.code != exitOK {
		t.Fatal(r)
	}
	within, alone := call("functions", "all.scope", "-m", "e.lock:i.lock"), call("functions", "go.trace", "-m", "e.lock:i.lock")
	cut := func(s string) string { return s[strings.Index(s, "<Total>"):] }
	if within.code != exitOK || alone.code != exitOK || !strings.Contains(alone.out, "0.000   0.000  sync.(*Mutex).Lock") {
		t.Fatalf("%v\n%v", within, alone)
	}
	if a, b := cut(within.out), cut(alone.out); a != b {
		t.Errorf("within the recording:\n%s\nalone:\n%s", a, b)
	}
	for args, want := range map[string]string{
		"gotrace all.scope --stream 7 -o no": "--stream 7: all.scope has 1",
		"gotrace none.scope -o no":           "none.scope has no Go execution trace",
		"samples x.pb.gz":                    "no such file",
		"functions go.trace --from -1s":      "times are from its begin",
		"functions go.trace --scope x":       "a plain Go execution trace has no scopes",
		"pprof all.scope --folded none":      "there is no such metric here",
	} {
		if r := call(strings.Fields(args)...); r.code == exitOK || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v, want %q", args, r, want)
		}
	}
}
