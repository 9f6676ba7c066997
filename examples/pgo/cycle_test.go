//go:build !scope_off

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/symbols"
)

// TestItRecords: one run leaves one recording.
func TestItRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	var out bytes.Buffer
	if code := run([]string{"-n", "2", "-trace", dir}, &out, &out); code != 0 {
		t.Fatalf("exit %d: %s", code, &out)
	}
	if list, err := filepath.Glob(filepath.Join(dir, "*.scope")); err != nil || len(list) != 1 {
		t.Errorf("the recordings are %v, %v", list, err)
	}
}

// cycle runs commands in the directory of this package.
type cycle struct {
	*testing.T
	dir string // for what comes out
}

func (c cycle) at(name string) string { return filepath.Join(c.dir, name) }

// run runs a command and returns its output.
func (c cycle) run(args ...string) string {
	c.Helper()
	out, err := exec.CommandContext(c.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// tool runs scopeview pgo.
func (c cycle) tool(args ...string) string {
	c.Helper()
	return c.run(append([]string{c.at("scopeview"), "pgo"}, args...)...)
}

// TestTruthCycle makes a program faster with a profile from the field: build, record into a ring,
// collect, merge, check, build with the profile. Package bench measures by how much.
func TestTruthCycle(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("builds the standard library with two profiles: make truth runs it")
	}
	c := cycle{t, t.TempDir()}
	c.run("go", "build", "-o", c.at("scopeview"), "../../cmd/scopeview")
	c.run("go", "build", "-pgo=off", "-o", c.at("before"), ".")
	var says []string
	for _, field := range []string{"a", "b"} {
		says = append(says, c.run(c.at("before"), "-n", "500", "-trace", c.at(field)))
		c.tool("collect", c.at(field), "-o", c.at(field+".pgo"))
	}
	profile := c.at("default.pgo")
	c.tool("merge", c.at("a.pgo"), c.at("b.pgo"), "-o", profile)
	t.Log(c.tool("check", profile, "--fail-below", "90%"))

	show, explained := c.tool("show", profile), c.tool("explain", profile)
	t.Logf("%s\n%s", show, explained)
	for _, want := range []string{`hot +main\.totals\.add .*main\.parse\n`, `hot +main\.totals\.add .*main\.\(\*text\)\.next\n`} {
		if !regexp.MustCompile(want).MatchString(show) {
			t.Errorf("pgo show has no line like %s", want)
		}
	}
	for _, want := range []string{`main\.totals\.add .*main\.parse +inlined because of the profile`, `main\.totals\.add .*main\.\(\*text\)\.next +devirtualized to`} {
		if !regexp.MustCompile(want).MatchString(explained) {
			t.Errorf("pgo explain has no line like %s", want)
		}
	}

	c.run("go", "build", "-pgo="+profile, "-o", c.at("after"), ".")
	for name, want := range map[string]bool{"before": false, "after": true} {
		for _, call := range []string{"main.parse", "main.(*text).next"} {
			if got := inlined(t, c.at(name), "main.totals.add", call); got != want {
				t.Errorf("%s: %s in main.totals.add is inlined: %v, want %v", name, call, got, want)
			}
		}
	}
	// The result is the same for all builds.
	if says = append(says, c.run(c.at("after"), "-n", "500")); len(slices.Compact(says)) != 1 {
		t.Errorf("the builds do not compute the same: %q", says)
	}
}

// inlined reports whether an executable has code of a callee in a function.
func inlined(t *testing.T, path, function, callee string) bool {
	t.Helper()
	b, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list := b.Find(function)
	if len(list) != 1 {
		t.Fatalf("%s has %d functions %s, want one", path, len(list), function)
	}
	for pc := list[0].Entry; pc < list[0].End; pc++ {
		frames := b.Frames(pc)
		if slices.ContainsFunc(frames, func(f symbols.Frame) bool { return f.Func == callee }) {
			return true
		}
	}
	return false
}

// TestNoProfileLiesHere: go build would take it, and what is measured would be another thing.
func TestNoProfileLiesHere(t *testing.T) {
	if _, err := os.Stat("default.pgo"); err == nil {
		t.Error("there is a default.pgo in this directory")
	}
}
