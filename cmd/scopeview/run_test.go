package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/long"
	"github.com/scopeview/scopeview/internal/trace"
)

// asTool is the environment variable that makes the test program act as the tool, for tests that
// need a process.
const asTool = "SCOPEVIEW_TEST_TOOL"

// launcher is a directory with a program, and the environment to build it with recording.
type launcher struct {
	t   *testing.T
	dir string
	env []string
}

// launching creates the files of a txtar-like text: "-- name --", and the contents.
func launching(t *testing.T, text string) *launcher {
	t.Helper()
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("builds programs with the go command, on systems with signals")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command: ", err)
	}
	l := &launcher{t: t, dir: t.TempDir()}
	heads := partHead.FindAllStringSubmatchIndex(text, -1)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		path := filepath.Join(l.dir, filepath.FromSlash(text[h[2]:h[3]]))
		filetest.Write(t, path, []byte(text[h[1]:end]))
	}
	l.env = append(os.Environ(), asTool+"=1", "SCOPEVIEW_CACHE="+launchCache(t), "GOFLAGS="+goflags("-buildvcs=false"))
	return l
}

// goflags adds a flag to those with which the tests' programs are built.
func goflags(flag string) string { return strings.TrimSpace(os.Getenv("GOFLAGS") + " " + flag) }

// launchCache returns the cache of all tests of this run, so that the recorder is built once.
func launchCache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprint("scopeview-launch-", os.Getpid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tool runs the tool in the directory.
func (l *launcher) tool(args ...string) result { return l.with(nil, "", args...) }

func (l *launcher) with(env []string, stdin string, args ...string) result {
	l.t.Helper()
	return l.process(append(slices.Clone(l.env), env...), stdin, os.Args[0], args...)
}

// process runs a command in the directory.
func (l *launcher) process(env []string, stdin, name string, args ...string) result {
	l.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.dir, env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		l.t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// files returns the names and contents of all files of the directory.
func (l *launcher) files() string {
	l.t.Helper()
	var b strings.Builder
	if err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, text)
		return err
	}); err != nil {
		l.t.Fatal(err)
	}
	return b.String()
}

// tracePath matches the tool's message with the path of a trace.
var tracePath = regexp.MustCompile(`(?m)^scopeview: (\S+\.scope)$`)

// scopes returns the names of a trace's scopes, with their counts.
func (l *launcher) scopes(said string) map[string]int {
	l.t.Helper()
	m := tracePath.FindStringSubmatch(said)
	if m == nil {
		l.t.Fatalf("no trace is named in %q", said)
	}
	tr, err := trace.OpenFile(m[1])
	if err != nil {
		l.t.Fatal(err)
	}
	defer tr.Close()
	names := map[string]int{}
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindTask {
			names[tr.Name(e.Name)]++
		}
		return true
	}); err != nil {
		l.t.Fatal(err)
	}
	return names
}

const smallProgram = `-- go.mod --
module example.com/small

go 1.22
-- main.go --
package main

import (
	"bufio"
	"fmt"
	"os"

	"example.com/small/store"
)

func main() {
	dir, _ := os.Getwd()
	fmt.Println(dir, len(os.Args), os.Args[1:])
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(store.Double(in.Text()))
	}
	if len(os.Args) > 1 && os.Args[1] == "panic" {
		store.Fail()
	}
	os.Exit(len(os.Args))
}
-- store/store.go --
package store

import "strings"

func Double(s string) string {
	return strings.ToLower(strings.Repeat(strings.TrimRight(s, "!"), 2))
}

func Fail() {
	defer func() { println(strings.Repeat("deferred", 1)) }()
	panic(strings.ToUpper("failed"))
}
`

// TestRunIsWhatTheProgramIs: output, input, arguments, directory and exit code equal those of the
// plain program, and no file in its directory changes.
func TestRunIsWhatTheProgramIs(t *testing.T) {
	l := launching(t, smallProgram)
	before := l.files()
	plain := filepath.Join(t.TempDir(), "small")
	if r := l.process(l.env, "", "go", "build", "-o", plain, "."); r.code != 0 {
		t.Fatal(r)
	}
	for _, args := range [][]string{nil, {"a b", "-c"}, {"panic"}} {
		want := l.process(l.env, "one\ntwo!\n", plain, args...)
		got := l.with(nil, "one\ntwo!\n", append([]string{"run", "."}, args...)...)
		if got.out != want.out || got.code != want.code {
			t.Errorf("%q: got\n%s, want\n%s", args, got, want)
		}
		said := got.err
		if i := strings.Index(said, "scopeview: "); i >= 0 {
			said = said[:i]
		}
		if addresses := regexp.MustCompile(`(\+|0x|fp=|sp=|pc=)[0-9a-fx]+|goroutine \d+`); addresses.ReplaceAllString(said, "") != addresses.ReplaceAllString(want.err, "") {
			t.Errorf("%q: on standard error\n%s, want\n%s", args, said, want.err)
		}
		if names := l.scopes(got.err); names["store.Double"] != 2 || names["main.main"] != 1 {
			t.Errorf("%q: recorded %v", args, names)
		}
	}
	if after := l.files(); after != before {
		t.Errorf("files were changed:\n%s\nwant\n%s", after, before)
	}
}

// TestRunWhatIsBuilt tests the ways to select the package of go run.
func TestRunWhatIsBuilt(t *testing.T) {
	const tagged = `-- tagged.go --
//go:build special

package main

import "strings"

func init() {
	for range 2 {
		println(strings.Repeat("special", 1))
	}
}
`
	const workspace = `-- go.work --
go 1.22

use (
	./a
	./b
)
-- a/go.mod --
module example.com/a

go 1.22
-- a/main.go --
package main

import "example.com/b"

func main() { b.Work() }
-- b/go.mod --
module example.com/b

go 1.22
-- b/b.go --
package b

import "strings"

func Work() {
	for i := range 3 {
		println(strings.ToLower(strings.Repeat("b", i)))
	}
}
`
	const vendored = `-- go.mod --
module example.com/v

go 1.22

require example.com/dep v1.0.0

replace example.com/dep => ./dep
-- main.go --
package main

import "example.com/dep"

func main() { dep.Work() }
-- dep/go.mod --
module example.com/dep
-- dep/dep.go --
package dep

import "strings"

func Work() {
	for i := 0; i < 3; i++ {
		println(strings.ToLower(strings.Repeat("b", i)))
	}
}
-- vendor/modules.txt --
# example.com/dep v1.0.0 => ./dep
## explicit
example.com/dep
# example.com/dep => ./dep
-- vendor/example.com/dep/dep.go --
package dep

import "strings"

func Work() {
	for i := 0; i < 3; i++ {
		println(strings.ToLower(strings.Repeat("b", i)))
	}
}
`
	const single = `-- one.go --
package main

func main() { work() }
-- two.go --
package main

import "strings"

func work() {
	for i := range 3 {
		println(strings.ToLower(strings.Repeat("b", i)))
	}
}
-- other.go --
package main

func main() {}
`
	const replaced = `-- overlay.json --
{"Replace": {"store/store.go": "store.txt"}}
-- store.txt --
package store

import "strings"

func Double(s string) string {
	for range 2 {
		s = strings.ToLower(strings.Repeat(s, 1))
	}
	return "overlaid " + s
}

func Fail() {}
`
	for _, c := range []struct {
		name, text, args string
		env              []string
		want             map[string]int
		said             string
	}{
		{"race and trimpath", smallProgram, "run -race -trimpath . x", nil, map[string]int{"main.main": 1, "store.Double": 1}, ""},
		{"tags", smallProgram + tagged, "run -tags special .", nil, map[string]int{"main.main": 1, "store.Double": 1, "main.init.0": 1}, "special"},
		{"tags by GOFLAGS", smallProgram + tagged, "run .", []string{"GOFLAGS=" + goflags("-tags=special")}, map[string]int{"main.main": 1, "store.Double": 1, "main.init.0": 1}, "special"},
		{"arguments", smallProgram, "run --args .", nil, map[string]int{"main.main": 1, "store.Double": 1}, ""},
		{"another directory", smallProgram, "run -C store/.. .", nil, map[string]int{"main.main": 1, "store.Double": 1}, ""},
		{"packages chosen", smallProgram, "run --trace ./store .", nil, map[string]int{"store.Double": 1}, ""},
		{"packages left out", smallProgram, "run --trace -./store .", nil, map[string]int{"main.main": 1}, ""},
		{"a workspace", workspace, "run ./a", nil, map[string]int{"main.main": 1, "b.Work": 1}, ""},
		{"a vendor directory", vendored, "run --trace ./... .", nil, map[string]int{"main.main": 1, "dep.Work": 1}, ""},
		{"files outside of a module", single, "run one.go two.go", nil, map[string]int{"main.main": 1, "main.work": 1}, ""},
		{"an overlay", smallProgram + replaced, "run -overlay overlay.json .", nil, map[string]int{"main.main": 1, "store.Double": 1}, "overlaid in"},
		{"an overlay by GOFLAGS", smallProgram + replaced, "run .", []string{"GOFLAGS=" + goflags("-overlay=overlay.json")}, map[string]int{"main.main": 1, "store.Double": 1}, "overlaid in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "race and trimpath" {
				long.Skip(t, "compiles the standard library once more")
				if !cgoWorks(t) {
					t.Skip("the race detector needs cgo")
				}
			}
			l := launching(t, c.text)
			before := l.files()
			r := l.with(c.env, "in\n", strings.Fields(c.args)...)
			got := l.scopes(r.err)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("recorded %v, want %v; it said %s", got, c.want, r)
			}
			if !strings.Contains(r.out+r.err, c.said) {
				t.Errorf("said %s, want %q in it", r, c.said)
			}
			if after := l.files(); after != before {
				t.Errorf("files were changed:\n%s\nwant\n%s", after, before)
			}
		})
	}
}

func cgoWorks(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("go", "env", "CGO_ENABLED", "CC").Output()
	f := strings.Fields(string(out))
	if err != nil || len(f) != 2 || f[0] != "1" {
		return false
	}
	_, err = exec.LookPath(f[1])
	return err == nil
}

// TestRunBad: an error message, exit code 2, and no files left.
func TestRunBad(t *testing.T) {
	const broken = `-- broken/broken.go --
package main

func main() {
	var unused, other int
	_ = other
}
-- syntax/syntax.go --
package main

func main() {
`
	l := launching(t, smallProgram+broken)
	file := filepath.Join(t.TempDir(), "file")
	filetest.Write(t, file, nil)
	before := l.files()
	for _, c := range []struct {
		args, want string
		env        []string
	}{
		{"run", "scopeview run ./cmd/NAME", nil},
		{"run ./broken", "# example.com/small/broken\nbroken/broken.go:4:6: declared and not used: unused\n", nil},
		{"build -o x ./broken", "# example.com/small/broken\nbroken/broken.go:4:6: declared and not used: unused\n", nil},
		{"run ./syntax", "syntax/syntax.go:4:1: syntax error", nil},
		{"run ./store", "package example.com/small/store is not a main package", nil},
		{"run ./none", "directory not found", nil},
		{"run example.com/x@latest", "clone its repository", nil},
		{"build -buildmode=c-shared .", "-buildmode=c-shared can't record", nil},
		{"build -buildmode plugin .", "-buildmode=plugin can't record", nil},
		{"run -overlay=a -overlay=b .", "-overlay is given 2 times", nil},
		{"run -overlay=a .", "no such file", nil},
		{"run --trace none/... .", "no package of this build matches", nil},
		{"run --budget", "flag needs an argument", nil},
		{"run --budget 0% .", "--budget 0%", nil},
		{"run .", "SCOPEVIEW_CACHE can name another directory", []string{"SCOPEVIEW_CACHE=" + file}},
	} {
		r := l.with(c.env, "", strings.Fields(c.args)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("scopeview %s: %s, want %q and exit code 2", c.args, r, c.want)
		}
	}
	if after := l.files(); after != before {
		t.Errorf("files were changed:\n%s\nwant\n%s", after, before)
	}
}
