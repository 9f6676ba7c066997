package ab

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// program is a module whose program does what its first argument names. It recognizes its build by
// its directory. The compiler inlines mix only with a profile.
const program = `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func mix(x uint64) uint64 {
	for i := range uint64(8) {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		x += i*x>>3 ^ i*x>>5 ^ i*x>>9 ^ i*x>>11
		x ^= x<<1 + x<<3 + x<<5 + x<<7 + x<<9 + x<<11
	}
	return x
}

func main() {
	build := filepath.Base(filepath.Dir(os.Args[0]))
	switch os.Args[1] {
	case "same":
		fmt.Println("checksum", mix(1))
	case "burn":
		for end := time.Now().Add(40 * time.Millisecond); build == "B" && time.Now().Before(end); {
		}
	case "differ":
		fmt.Println(build)
	case "vary":
		fmt.Println(os.Getpid())
	case "fail":
		if build == "B" {
			fmt.Fprintln(os.Stderr, "B has no heart to go on")
			os.Exit(3)
		}
	case "hang":
		time.Sleep(time.Hour)
	}
}
`

const test = `package main

import (
	"os"
	"testing"
)

func TestHere(t *testing.T) {
	if _, err := os.Stat("main.go"); err != nil {
		t.Fatal(err)
	}
}
`

// module writes the program and its profiles, and returns their directory.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/program\n\ngo 1.26\n", "main.go": program, "main_test.go": test, "lib/lib.go": "package lib\n", "tagged.go": "//go:build tagged\n\npackage main\n\nvar _ = missing\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		filetest.Write(t, path, []byte(text))
	}
	lines := strings.Split(program, "\n")
	at := func(text string) int {
		return 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) })
	}
	// The package's path is main in the program, but the module's path in its tests.
	for name, packages := range map[string][]string{"default.pgo": {"main", "example.com/program"}, "other.pgo": {"example.com/elsewhere"}} {
		p := pgo.New(pgo.Samples)
		for _, pkg := range packages {
			leaf := pgo.Location{{Func: pkg + ".mix", File: "main.go", Start: at("func mix"), Line: at("x ^= x << 13")}}
			from := pgo.Location{{Func: pkg + ".main", File: "main.go", Start: at("func main"), Line: at("mix(1)")}}
			if err := p.Add(leaf, from, false, 1000); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// emptied sets a directory for temporary files, and checks at the end that none is left in it.
func emptied(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(dir, "scopeview-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	})
}

func TestOf(t *testing.T) {
	dir := module(t)
	other := filepath.Join(dir, "other.pgo")
	for _, c := range []struct {
		name   string
		o      Options
		rounds int
		check  func(*Result) bool
	}{
		{"the package's own profile", Options{Against: Off, Runs: 1, Args: []string{"same"}}, 2, func(r *Result) bool {
			return r.Changed == 1 && r.Output == runs.Same && r.CPU.Verdict == unknown && r.Builds[1].Profile == filepath.Join(dir, "default.pgo")
		}},
		{"what burns CPU time is caught", Options{Against: Off, Runs: 4, Args: []string{"burn"}}, 5, func(r *Result) bool {
			return r.CPU.Verdict == more && r.CPU.Low > 0 && r.Wall.A > 0
		}},
		{"outputs that differ", Options{Against: other, Runs: 2, Args: []string{"differ"}}, 3, func(r *Result) bool { return r.Output == runs.Differ }},
		{"outputs that vary", Options{Against: Off, Runs: 2, Args: []string{"vary"}}, 3, func(r *Result) bool { return r.Output == runs.Varies }},
		{"another program's profile", Options{Against: Off, Profile: other, Runs: 1, Args: []string{"same"}}, 0, func(r *Result) bool {
			return r.Identical && r.CPU == nil && r.Builds[1].Packages > 1
		}},
		{"tests", Options{Test: true, Against: Off, Runs: 1, Args: []string{"-test.run=Here"}}, 2, func(r *Result) bool {
			return r.Changed == 1 && r.Builds[0].Compiled == nil && r.CPU.B > 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			emptied(t)
			c.o.Package, c.o.Dir = ".", dir
			done := 0
			r, err := Of(t.Context(), c.o, func(run, of int) {
				if done++; run != done || of != 2*c.rounds {
					t.Errorf("run %d of %d, want %d of %d", run, of, done, 2*c.rounds)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(r) || done != 2*c.rounds || r.Builds[0].Size == 0 {
				text, err := json.Marshal(r)
				t.Errorf("%s, %v, after %d runs", text, err, done)
			}
		})
	}
}

func TestOfSaysWhatIsWrong(t *testing.T) {
	dir := module(t)
	filetest.Write(t, filepath.Join(dir, "text.pgo"), []byte("no profile\n"))
	if err := os.MkdirAll(filepath.Join(dir, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "broken", "main.go"), []byte("package main\n\nfunc main() { nowhere() }\n"))
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Package: ".", Runs: 1, Args: []string{"fail"}}, "a run of build B failed: exit status 3; it said:\nB has no heart to go on"},
		{Options{Package: "."}, "0 runs are too few"},
		{Options{Package: "./lib", Runs: 1}, "package ./lib is lib, not a program"},
		{Options{Package: "./...", Runs: 1}, "./... is 3 packages; name one"},
		{Options{Package: "./none", Runs: 1}, "finding package ./none: go list: exit status 1"},
		{Options{Package: "./broken", Runs: 1}, "package ./broken has no profile of its own: "},
		{Options{Package: "./broken", Runs: 1, Profile: filepath.Join(dir, "other.pgo")}, "main.go:3:15: undefined: nowhere"},
		{Options{Package: ".", Runs: 1, Flags: []string{"-tags=tagged"}}, "undefined: missing"},
		{Options{Package: ".", Runs: 1, Profile: filepath.Join(dir, "none.pgo")}, "the profile of build B: "},
		{Options{Package: ".", Runs: 1, Profile: filepath.Join(dir, "text.pgo")}, "text.pgo"},
	} {
		emptied(t)
		c.o.Dir, c.o.Against = dir, Off
		if _, err := Of(t.Context(), c.o, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.o, err, c.want)
		}
	}
}

func TestOfEndsWithItsContext(t *testing.T) {
	dir := module(t)
	emptied(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Of(ctx, Options{Package: ".", Dir: dir, Against: Off, Runs: 1, Args: []string{"hang"}}, func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err = Of(ctx, Options{Package: ".", Dir: dir, Against: Off, Runs: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
