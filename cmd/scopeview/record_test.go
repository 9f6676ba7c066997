//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

// TestRecord: one command records an unprepared program, the next one shows where its time went;
// the exit code is the program's.
func TestRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCOPEVIEW_TEST_SPIN", "1")
	r := scopeview("record", "-o", "x.scope", "--counter", "task-clock:1ms", "--", self, "-test.run=^TestSpin$")
	if strings.Contains(r.err, "recording from outside") {
		t.Skip(r.err)
	}
	if r.code != exitOK || !strings.Contains(r.out, "PASS") || !strings.Contains(r.err, "in x.scope") {
		t.Fatal(r)
	}
	r = scopeview("profile", "x.scope", "-n", "1")
	if r.code != exitOK || !strings.Contains(r.out, "cmd/scopeview.spin") {
		t.Error(r)
	}
	if r := scopeview("source", "x.scope", "cmd/scopeview.spin", "-m", "e.cpu"); r.code != exitOK || !strings.Contains(r.out, "n += i * n") || !strings.Contains(r.out, "##") {
		t.Error(r)
	}
	if r := scopeview("profile", "--by", "sample", "x.scope", "-n", "1"); r.code != exitOK || !strings.Contains(r.out, "more samples") {
		t.Error(r)
	}
	if r := scopeview("record", "-o", "y.scope", "--", self, "-test.run=NONE", "-test.nosuchflag"); r.code != 2 {
		t.Errorf("the program ended with 2, and record with %v", r)
	}
	for args, want := range map[string]string{
		"record":                                "record needs a COMMAND",
		"record --counter cycles:0 -- x":        `"cycles:0": the interval 0 is invalid`,
		"record --counter nothing -- x":         `"nothing": unknown counter; known are task-clock, `,
		"record -o x.scope -- " + self:          "creating the trace: open x.scope: file exists",
		"record -o z.scope -- /no/such/program": "starting /no/such/program",
	} {
		if r := scopeview(strings.Fields(args)...); r.code == exitOK || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v", args, r)
		}
	}
}

// TestSpin is the program that TestRecord records.
func TestSpin(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TEST_SPIN") == "" {
		t.Skip("it is recorded by TestRecord")
	}
	spin(300e6)
}
