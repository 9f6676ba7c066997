package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestBuildAgain: the go command is called only if something has changed, and the build is never
// older than that of go build.
func TestBuildAgain(t *testing.T) {
	l := launching(t, smallProgram)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git: ", err)
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf("#!/bin/sh\necho $1 >> '%s'\nexec '%s' \"$@\"\n", log, real)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOFLAGS="+os.Getenv("GOFLAGS"), "GIT_CONFIG_GLOBAL="+os.DevNull)
	git := func(args ...string) {
		t.Helper()
		if r := l.process(l.env, "", "git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}, args...)...); r.code != 0 {
			t.Fatal(args, r)
		}
	}
	write := func(name, text string) {
		t.Helper()
		filetest.Write(t, filepath.Join(l.dir, name), []byte(text))
	}
	git("init", "-q")
	write(".gitignore", "small\nother\n")
	git("add", "-A")
	git("commit", "-qm", "first")
	built := func(what string, want bool, args ...string) {
		t.Helper()
		os.Remove(log)
		if r := l.tool(append([]string{"build"}, args...)...); r.code != 0 {
			t.Fatal(what, r)
		}
		b, _ := os.ReadFile(log)
		if got := strings.Contains(string(b), "build"); got != want {
			t.Errorf("%s: go build was called: %v, want %v; go was called for %q", what, got, want, b)
		}
	}
	says := func(what, want string) {
		t.Helper()
		r := l.process(l.env, "", real, "version", "-m", filepath.Join(l.dir, "small"))
		if !strings.Contains(r.out, want) {
			t.Errorf("%s: the program says %s, want %s", what, r.out, want)
		}
	}
	built("the first time", true)
	says("the first time", "vcs.modified=false")
	built("again", false)
	built("by another name", true, "-o", "other")
	built("by another name, again", false, "-o", "other")
	built("into a directory", true, "-o", t.TempDir()+"/")
	built("said what is done", true, "-x", "-o", "other")
	if err := os.Remove(filepath.Join(l.dir, "small")); err != nil {
		t.Fatal(err)
	}
	built("removed", true)
	built("there again", false)
	write("README", "a file that is no input of the build")
	built("modified", true)
	says("modified", "vcs.modified=true")
	built("modified, again", false)
	git("add", "-A")
	git("commit", "-qm", "second")
	built("committed", true)
	says("committed", "vcs.modified=false")
	git("tag", "v1.2.3")
	built("tagged", true)
	write("store/more.go", "package store\n")
	built("a file more", true)
	built("a file more, again", false)
	write("store/more.go", "package store\n\nfunc more() {}\n")
	built("changed", true)
}
