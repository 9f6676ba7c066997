package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// readPage reads a file that must be a complete page.
func readPage(t *testing.T, path string) string {
	t.Helper()
	b := filetest.Read(t, path)
	s := string(b)
	if !strings.HasPrefix(s, "<!doctype html>") || !strings.HasSuffix(s, "</html>\n") || strings.Count(s, `<script id="data"`) != 1 {
		t.Errorf("%s is no page: %.100q … %q", path, s, s[max(len(s)-100, 0):])
	}
	return s
}

func TestHTML(t *testing.T) {
	scriptTrace(t, "store")
	if r := scopeview("html", "store.scope", "-o", "x.html"); r.String() != "" {
		t.Errorf("%v", r)
	}
	all := readPage(t, "x.html")
	if r := scopeview("html", "store.scope"); r.out != all || r.err != "" {
		t.Errorf("to standard output: %d bytes, want %d; %s", len(r.out), len(all), r.err)
	}
	if r := scopeview("html", "store.scope", "-o", "y.html", "--to", "1ms", "--name", "nothing"); r.String() != "" || len(readPage(t, "y.html")) >= len(all) {
		t.Errorf("a selection: %v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := scopeviewOn(ctx, false, "html", "store.scope", "-o", "z.html"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") {
		t.Errorf("interrupted: %v", r)
	}
	if r := scopeviewOn(context.Background(), true, "html", "store.scope"); r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "-o FILE.html") {
		t.Errorf("on a terminal: %v", r)
	}
	files(t, ".", "store.scope", "x.html", "y.html")
}

func TestHTMLOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the browser is opened by another program here")
	}
	scriptTrace(t, "store")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if r := scopeview("html", "store.scope", "-o", "x.html", "--open"); r.code != exitFailed || r.err != "scopeview: x.html was written, but can't open a browser: xdg-open is not installed; open it yourself\n" {
		t.Errorf("without a browser: %v", r)
	}
	readPage(t, "x.html")
	seen := filepath.Join(bin, "seen")
	program := func(script string) {
		if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program("echo \"$1\" > " + seen + "\n")
	if r := scopeview("html", "store.scope", "-o", "x.html", "--open"); r.String() != "" {
		t.Errorf("%v", r)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(seen); err != nil || string(b) != filepath.Join(dir, "x.html")+"\n" {
		t.Errorf("the browser got %q, %v", b, err)
	}
	program("exit 3\n")
	if r := scopeview("html", "store.scope", "-o", "x.html", "--open"); r.code != exitFailed || !strings.Contains(r.err, "no browser could be opened: xdg-open: exit status 3; open it yourself") {
		t.Errorf("a browser that fails: %v", r)
	}
}
