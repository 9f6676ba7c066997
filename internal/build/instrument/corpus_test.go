package instrument_test

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// program creates a module with the corpus.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if at, err := filepath.EvalSymlinks(dir); err == nil {
		dir = at
	}
	filetest.Write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/corpus\n\ngo 1.26\n"))
	for _, name := range []string{"main.go", "vars.go"} {
		filetest.Write(t, filepath.Join(dir, name), filetest.Read(t, filepath.Join("testdata", "corpus", name)))
	}
	return dir
}

// everything records the smallest functions too, to cover each shape.
func everything(in *instrument.Input) { in.Small = true }

// withArgs records parameters too.
func withArgs(in *instrument.Input) { in.Small, in.Args = true, true }

// TestCorpus: an edited program prints the same, with the same lines, and ends the same.
func TestCorpus(t *testing.T) {
	dir := program(t)
	bin := t.TempDir()
	for _, c := range []struct {
		name  string
		set   func(*instrument.Input)
		flags []string
		exact bool // names of literals are unchanged: those in inlined functions have others
	}{
		{"default", nil, nil, false},
		{"everything", everything, nil, false},
		{"args", withArgs, nil, false},
		{"trimpath", everything, []string{"-trimpath"}, false},
		{"without inlining", everything, []string{"-gcflags=-l -N"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, edited := filepath.Join(bin, "plain"), filepath.Join(bin, "edited")
			goBuild(t, dir, plain, c.flags...)
			file, _ := overlay(t, dir, "example.com/corpus", c.set)
			goBuild(t, dir, edited, append(c.flags, "-overlay="+file)...)
			want := run(t, dir, nil, plain)
			log := filepath.Join(t.TempDir(), "log")
			for _, env := range [][]string{nil, {"HOOKS_LOG=" + log}} {
				got := run(t, dir, env, edited)
				if got.code != want.code {
					t.Errorf("it exits with %d, and with %d unchanged", got.code, want.code)
				}
				for _, s := range []*string{&got.out, &got.err, &want.out, &want.err} {
					if *s = steady(*s); !c.exact {
						*s = literals.ReplaceAllString(*s, "main.literal")
					}
				}
				same(t, "standard output", got.out, want.out)
				same(t, "standard error", got.err, want.err)
			}
			names(t, string(filetest.Read(t, log)), c.exact)
		})
	}
}

// literals matches names of function literals, inlined or not.
var literals = regexp.MustCompile(`main\.\S+\.func\d\S*`)

// names compares the names of sites with the runtime's.
func names(t *testing.T, log string, exact bool) {
	t.Helper()
	n := 0
	for line := range strings.Lines(log) {
		f := strings.Split(line, "\t")
		if n++; f[0] != format.ShortFunction(f[1]) && (exact || !strings.Contains(f[0], ".func")) && !go127(f[0]) {
			t.Errorf("site %s is in %s", f[0], f[1])
		}
	}
	if n < 20 {
		t.Errorf("%d functions were entered", n)
	}
}

// go127 reports whether Go 1.27 has another name for a function: it is in a loop over a
// function, or numbered after one.
func go127(site string) bool {
	return !strings.HasPrefix(runtime.Version(), "go1.26") && strings.HasPrefix(site, "main.rangeFunc.func")
}

// same compares texts by lines.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s, line %d:\n%s\nwant\n%s", what, i+1, strings.Join(g[max(0, i-3):i+1], "\n"), w[i])
			return
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s has %d lines, not %d", what, len(g), len(w))
	}
}
