package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// shapedTrace writes a trace of that shape to x.scope, in its own directory, which becomes the
// working directory.
func shapedTrace(t *testing.T, shape bulk.Shape, scopes int64) []byte {
	t.Helper()
	t.Chdir(t.TempDir())
	data, err := (bulk.Trace{Shape: shape, Scopes: scopes, Seed: 3}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, "x.scope", data)
	return data
}

// TestPacked: every command prints the same for a packed trace as for the trace, and unpack
// restores the trace.
func TestPacked(t *testing.T) {
	for _, shape := range []bulk.Shape{bulk.Irregular, bulk.Args, bulk.Long, bulk.Ring, bulk.Killed, bulk.Cut} {
		data := shapedTrace(t, shape, 6_000)
		if r := scopeview("pack", "x.scope"); r.code != exitOK || r.err != "" || !strings.Contains(r.out, "x.scopez: ") || !strings.Contains(r.out, "bytes a scope") {
			t.Fatalf("%s: %v", shape, r)
		}
		if err := errors.Join(os.Mkdir("packed", 0o700), os.Rename("x.scopez", "packed/x.scope")); err != nil {
			t.Fatal(err)
		}
		both := func(args ...string) (want, got result) {
			want = scopeview(append(args, "x.scope")...)
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir("packed")
			got = scopeview(append(args, "x.scope")...)
			t.Chdir(dir)
			return want, got
		}
		for _, command := range []string{
			"info", "top", "top --json", "export csv", "export csv --raw", "dump", "verify", "waits", "states", "doctor", "tail", "export chrome", "export perfetto", "html", "export pprof", "anonymize --salt x",
		} {
			if want, got := both(strings.Fields(command)...); got != want {
				t.Errorf("%s, %s: %.300v, of the trace %.300v", shape, command, got, want)
			}
		}
		if r := scopeview("unpack", "packed/x.scope", "-o", "y.scope"); r.code != exitOK || r.err != "" || !strings.HasPrefix(r.out, "y.scope: ") {
			t.Errorf("%s: %v", shape, r)
		}
		if b, err := os.ReadFile("y.scope"); err != nil || !bytes.Equal(b, data) {
			t.Errorf("%s: what is unpacked differs; %v", shape, err)
		}
		if r := scopeview("unpack", "packed/x.scope", "-o", "-"); r.code != exitOK || r.out != string(data) {
			t.Errorf("%s: what is unpacked to standard output differs; %d, %s", shape, r.code, r.err)
		}
		files(t, ".", "packed", "x.scope", "y.scope")
	}
}

// TestPackRefuses: no file is overwritten unless it is named, and failures leave no file.
func TestPackRefuses(t *testing.T) {
	shapedTrace(t, bulk.Regular, 5000)
	if r := scopeview("pack", "."); r.code != exitOK {
		t.Fatal(r)
	}
	for args, want := range map[string]result{
		"pack x.scope":                  {code: exitFailed, err: "x.scopez exists"},
		"pack x.scopez":                 {code: exitUsage, err: "is the trace itself"},
		"pack x.scope -o x.scope":       {code: exitUsage, err: "is the trace itself"},
		"pack x.scope -o -":             {code: exitUsage, err: "give its name"},
		"pack gone.scope":               {code: exitFailed, err: "no such file"},
		"pack x.scope -o no/dir.scopez": {code: exitFailed, err: "no such file"},
		"unpack x.scopez":               {code: exitFailed, err: "x.scope exists"},
		"unpack x.scope":                {code: exitFailed, err: "x.scope is not packed"},
	} {
		if r := scopeview(strings.Fields(args)...); r.code != want.code || !strings.Contains(r.err, want.err) || r.out != "" {
			t.Errorf("%s: %v", args, r)
		}
	}
	files(t, ".", "x.scope", "x.scopez")
	if x := isPacked("x.scope"); x || !isPacked("x.scopez") || isPacked("gone.scope") {
		t.Errorf("what is packed is not known: %t", x)
	}
	b := filetest.Read(t, "x.scopez")
	b[8] = 9
	filetest.Write(t, "newer.scopez", b)
	if r := scopeview("top", "newer.scopez"); r.code != exitFailed || !strings.Contains(r.err, "packed format 9.0") || !strings.Contains(r.err, "go install") {
		t.Errorf("of a newer version: %v", r)
	}
}

// TestPackedCut: the remaining part of a packed trace that is cut off is read, and the missing part
// is reported.
func TestPackedCut(t *testing.T) {
	data := shapedTrace(t, bulk.Irregular, 150_000)
	if r := scopeview("pack", "x.scope"); r.code != exitOK {
		t.Fatal(r)
	}
	b := filetest.Read(t, "x.scopez")
	filetest.Write(t, "cut.scopez", b[:len(b)-1])
	const damaged = "the packed file is cut off or damaged where it was"
	for _, command := range []string{"info", "top", "export csv", "verify"} {
		if r := scopeview(command, "cut.scopez"); r.code != exitFailed || !strings.Contains(r.out+r.err, damaged) {
			t.Errorf("%s: %d, %.2000s", command, r.code, r.err)
		}
	}
	if r := scopeview("unpack", "cut.scopez"); r.code != exitFailed || !strings.Contains(r.err, "chunks can't be unpacked") {
		t.Errorf("%v", r)
	}
	got, err := os.ReadFile("cut.scope")
	if err != nil || len(got) != len(data) {
		t.Fatalf("%d bytes were unpacked, %v", len(got), err)
	}
	differ := 0
	for at := 0; at < len(data); at += format.ChunkSize {
		if !bytes.Equal(got[at:at+format.ChunkSize], data[at:at+format.ChunkSize]) {
			differ++
		}
	}
	if differ != 10 {
		t.Errorf("%d chunks are lost", differ)
	}
}

// TestPackRunning packs the trace of a running program.
func TestPackRunning(t *testing.T) {
	_, dir, _ := remote(t)
	to := filepath.Join(t.TempDir(), "now.scopez")
	if r := scopeview("pack", dir, "-o", to); r.code != exitOK || r.err != "" {
		t.Fatal(r)
	}
	if r := scopeview("verify", to); r.code != exitOK {
		t.Errorf("%v", r)
	}
	if r := scopeview("info", to); r.code != exitOK || !strings.Contains(r.out, " task;") {
		t.Errorf("%v", r)
	}
	files(t, filepath.Dir(to), "now.scopez")
}
