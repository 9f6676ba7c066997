package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestAnonymize: a copy has the rows and numbers of its trace, and no name. internal/anonymize
// tests which contents of a trace are replaced.
func TestAnonymize(t *testing.T) {
	scriptTrace(t, "store")
	if r := scopeview("anonymize", "store.scope", "-o", "a.scope"); r.code != exitOK || r.out+r.err != "" {
		t.Fatalf("%v", r)
	}
	if r := scopeview("verify", "a.scope"); r.code != exitOK {
		t.Errorf("%v", r)
	}
	before, after := scopeview("export", "csv", "store.scope"), scopeview("export", "csv", "a.scope")
	if n, m := strings.Count(before.out, "\n"), strings.Count(after.out, "\n"); n != m || n < 5 {
		t.Errorf("%d rows, and %d", m, n)
	}
	data := filetest.Read(t, "a.scope")
	if bytes.Contains(data, []byte("store")) {
		t.Error("a name is there still")
	}
	for _, args := range []string{"b.scope --salt x", "c.scope --salt x", "d.scope --salt y"} {
		if r := scopeview(append([]string{"anonymize", "store.scope", "-o"}, strings.Fields(args)...)...); r.code != exitOK {
			t.Errorf("%v", r)
		}
	}
	b, c, d := scopeview("top", "b.scope"), scopeview("top", "c.scope"), scopeview("top", "d.scope")
	if b.out != c.out || b.out == d.out || strings.Count(b.out, "\n") != strings.Count(d.out, "\n") {
		t.Errorf("with a salt:\n%v\nagain:\n%v\nwith another:\n%v", b, c, d)
	}
	for args, want := range map[string]string{
		"anonymize store.scope -o store.scope":     "is the trace itself",
		"anonymize store.scope -o x.scope --salt=": "--salt is empty",
	} {
		if r := scopeview(strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v", args, r)
		}
	}
	if r := scopeviewOn(t.Context(), true, "anonymize", "store.scope"); r.code != exitUsage || !strings.Contains(r.err, "give -o FILE") {
		t.Errorf("on a terminal: %v", r)
	}
	if r := scopeview("anonymize", "store.scope"); !strings.HasPrefix(r.out, "SCOPEVW") {
		t.Errorf("into a pipe: %.20q, %s", r.out, r.err)
	}
	files(t, ".", "a.scope", "b.scope", "c.scope", "d.scope", "store.scope")
}

// TestAnonymizeScheduler: the Go execution trace is removed, and a message says so.
func TestAnonymizeScheduler(t *testing.T) {
	t.Chdir(t.TempDir())
	tracetest.Write(t, "x.scope", "header path=go\nstate closed=1 tick=9000\nchunk blocks sealed\nname 2 \"mu\"\ngotrace 534543524554\n"+
		"switch thread=7 base=500 until=900 on out:600\nlock mutex #2 ticks=3000 addr=0xdead0 contended=1\nstop ticks=9000\n")
	r := scopeview("anonymize", "x.scope", "-o", "a.scope")
	if r.code != exitOK || !strings.Contains(r.err, "the Go execution trace (6 B) is full of names and was left out") {
		t.Errorf("%v", r)
	}
	if r := scopeview("verify", "a.scope"); r.code != exitOK {
		t.Errorf("%v", r)
	}
	r = scopeview("dump", "a.scope")
	for _, want := range []string{"switch thread=7 base=500 until=900 on out:600\n", "lock mutex #2 ticks=3000 addr=0x", " contended=1 "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("there is no %q in %v", want, r)
		}
	}
	if strings.Contains(r.out, "gotrace") || strings.Contains(r.out, "dead0") {
		t.Errorf("%v", r)
	}
}

// TestAnonymizeHelp: the help lists what remains in the copy.
func TestAnonymizeHelp(t *testing.T) {
	r := scopeview("anonymize", "--help")
	for _, want := range []string{"Kept:", "wall", "values of counters", "heartbeats", "Go's version", "not kept"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in the help: %s", want, r.out)
		}
	}
}

// TestAnonymizeWhileWritten copies a ring that is being written.
func TestAnonymizeWhileWritten(t *testing.T) {
	_, dir, kill := remote(t)
	t.Chdir(t.TempDir())
	if r := scopeview("anonymize", dir, "-o", "a.scope"); r.code != exitOK {
		t.Fatalf("%v", r)
	}
	kill()
	if r := scopeview("anonymize", dir, "-o", "b.scope"); r.code != exitOK {
		t.Fatalf("%v", r)
	}
	files(t, ".", "a.scope", "b.scope")
	for _, name := range []string{"a.scope", "b.scope"} {
		if r := scopeview("verify", name); r.code != exitOK && name == "a.scope" { // a killed writer causes findings
			t.Errorf("%.2000v", r)
		}
		if r := scopeview("top", name); r.code != exitOK || strings.Contains(r.out, "work") {
			t.Errorf("%.2000v", r)
		}
		data := filetest.Read(t, name)
		host, _ := os.Hostname()
		for _, s := range []string{"work", "TestRemoteProgram", filepath.Base(os.Args[0]), dir, host} {
			if len(s) > 3 && bytes.Contains(data, []byte(s)) {
				t.Errorf("%s: %q is there still", name, s)
			}
		}
	}
}
