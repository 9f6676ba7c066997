package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// TestAssembleGoldens passes every golden of the reader through dump, assemble and dump: traces and
// texts are the same.
func TestAssembleGoldens(t *testing.T) {
	paths, err := filepath.Glob("../../internal/trace/testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	golden := regexp.MustCompile(`(?s)-- trace --\n(.*)-- expect --\nSUCCESS`)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	n := 0
	for _, p := range paths {
		b := filetest.Read(t, p)
		part := golden.FindSubmatch(b)
		if part == nil {
			continue // not a trace that opens
		}
		if filepath.Base(p) == "segments-apart.txtar" {
			continue // dump writes a single trace for it
		}
		n++
		data, err := text.Assemble(bytes.NewReader(part[1]))
		if err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, in("a.scope"), data)
		for _, args := range [][]string{
			{"dump", in("a.scope"), "-o", in("a.txt")}, {"assemble", in("a.txt"), "-o", in("b.scope")}, {"dump", in("b.scope"), "-o", in("b.txt")},
		} {
			if r := scopeview(args...); r.code != exitOK || r.out+r.err != "" {
				t.Fatalf("%s: %s: %v", p, args[0], r)
			}
		}
		for _, pair := range [][2]string{{"a.scope", "b.scope"}, {"a.txt", "b.txt"}} {
			a, errA := os.ReadFile(in(pair[0]))
			b, errB := os.ReadFile(in(pair[1]))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s and %s differ: %v, %v", p, pair[0], pair[1], errA, errB)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d goldens", n)
	}
}

func TestAssembleReadsStandardInput(t *testing.T) {
	for _, args := range [][]string{{"assemble"}, {"assemble", "-"}} {
		f, err := os.CreateTemp(t.TempDir(), "in")
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("header\nunborn 2\n")
		f.Seek(0, 0)
		old := os.Stdin
		os.Stdin = f
		r := scopeview(args...)
		os.Stdin = old
		f.Close()
		if want, err := text.Assemble(strings.NewReader("header\nunborn 2")); err != nil || r.out != string(want) || r.code != exitOK {
			t.Errorf("%q: %d bytes, want %d; %v", args, len(r.out), len(want), err)
		}
	}
}

// TestAssembleOnTerminal: a trace is not written to a terminal, and no file is created.
func TestAssembleOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, "x.txt", []byte("header\n"))
	r := scopeviewOn(context.Background(), true, "assemble", "x.txt")
	if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "give -o FILE") {
		t.Errorf("%v", r)
	}
	if r := scopeviewOn(context.Background(), true, "assemble", "x.txt", "-o", "x.scope"); r.code != exitOK {
		t.Errorf("%v", r)
	}
}
