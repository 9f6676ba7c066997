package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSnapshot copies a trace without a writer; TestFromOutside one that is being written.
func TestSnapshot(t *testing.T) {
	scriptTrace(t, "store")
	r := scopeview("snapshot", "store.scope")
	if r.code != exitOK || !regexp.MustCompile(`^store-snapshot-\d{8}T\d{6}\.\d{3}Z\.scope\n$`).MatchString(r.out) || r.err != "" {
		t.Fatalf("%v", r)
	}
	name := strings.TrimSpace(r.out)
	if r := scopeview("verify", name); r.code != exitOK {
		t.Errorf("%v", r)
	}
	if a, b := scopeview("top", "store.scope"), scopeview("top", name); a.out != b.out || a.code != b.code {
		t.Errorf("of the trace:\n%v\nof the snapshot:\n%v", a, b)
	}
	for args, want := range map[string]string{
		"snapshot store.scope -o " + name:      "file exists",
		"snapshot store.scope -o store.scope":  "give another name with -o",
		"snapshot store.scope -o no/dir.scope": "nothing was written; give another file with -o",
		"snapshot gone.scope":                  "no such file",
	} {
		if r := scopeview(strings.Fields(args)...); r.code != exitFailed || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v", args, r)
		}
	}
	if r := scopeview("snapshot", "store.scope", "-o", "-"); r.code != exitUsage {
		t.Errorf("-o -: %v", r)
	}
	files(t, ".", "store.scope", name)
}

// TestSnapshotOfAddress: a download from a program's server becomes a snapshot in the working
// directory.
func TestSnapshotOfAddress(t *testing.T) {
	data, mux, url := served(t)
	mux.HandleFunc("GET /debug/scope/download", func(w http.ResponseWriter, r *http.Request) { w.Write(data) })
	t.Chdir(t.TempDir())
	r := scopeview("snapshot", url+"/debug/scope/")
	if r.code != exitOK {
		t.Fatalf("%v", r)
	}
	files(t, ".", strings.TrimSpace(r.out))
	if r := scopeview("verify", strings.TrimSpace(r.out)); r.code != exitOK {
		t.Errorf("%v", r)
	}
	left(t)
}

// TestFromOutside performs the requests of ctl on a program, and copies its trace, while it lives
// and after its death.
func TestFromOutside(t *testing.T) {
	_, dir, kill := remote(t)
	rings, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil || len(rings) != 1 {
		t.Fatalf("%q, %v", rings, err)
	}
	ring := rings[0]
	here := t.TempDir()
	t.Chdir(here)
	good := func(want string, args ...string) {
		t.Helper()
		if r := scopeview(args...); r.code != exitOK || !strings.Contains(r.out, want) {
			t.Errorf("%q: %v", args, r)
		}
	}
	looked := func(name string) {
		t.Helper()
		good("sound", "verify", name)
		good("work", "top", name)
		st, err := os.Stat(name)
		if err != nil || st.Mode() != 0o600 {
			t.Errorf("%v, %v", st, err)
		}
	}
	good("now.scope", "snapshot", dir, "-o", "now.scope")
	looked("now.scope")
	good("switched off", "ctl", dir, "off")
	good("switched on", "ctl", ring, "on")
	good("filter", "ctl", ring, "filter", "work,store")
	good(filepath.Join(here, "asked.scope"), "ctl", ring, "snapshot", "asked.scope")
	looked("asked.scope")
	if r := scopeview("ctl", ring, "snapshot", "asked.scope"); r.code != exitFailed || !strings.Contains(r.err, "exist") || !strings.Contains(r.err, "asked.scope") {
		t.Errorf("over a file: %v", r)
	}
	if r := scopeview("ctl", ring, "filter", "a,,b"); r.code != exitFailed || !strings.Contains(r.err, "a pattern is empty") {
		t.Errorf("a filter that is none: %v", r)
	}
	good(dir, "ctl", ring, "snapshot")
	kill()
	if r := scopeview("ctl", ring, "on"); r.code != exitFailed || !strings.Contains(r.err, "has ended") {
		t.Errorf("%v", r)
	}
	good(dir, "snapshot", ring)
	good("dead.scope", "snapshot", ring, "-o", "dead.scope")
	looked("dead.scope")
}
