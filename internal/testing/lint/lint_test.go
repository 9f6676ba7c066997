// Package lint runs staticcheck, unparam and deadcode on the module above. They belong to a
// module of their own, so that users of ours do not depend on them, and are pinned in its
// go.mod.
package lint

import (
	"bytes"
	"errors"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../../.."

// TestLint compares what the tools find with known.txt. With -short, deadcode is left out: it
// analyses each of the builds, which takes most of the time.
func TestLint(t *testing.T) {
	b, err := os.ReadFile("known.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, used := []*regexp.Regexp{}, map[*regexp.Regexp]bool{}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			known = append(known, regexp.MustCompile(line))
		}
	}
	for _, f := range findings(t, root) {
		i := slices.IndexFunc(known, func(r *regexp.Regexp) bool { return r.MatchString(f) })
		if i < 0 {
			t.Error(f)
			continue
		}
		used[known[i]] = true
	}
	for _, r := range known {
		if !used[r] && !testing.Short() {
			t.Errorf("known.txt: nothing is like %s any more", r)
		}
	}
}

// TestTools: each tool finds what is for it, and one that is broken does not pass for one
// that finds nothing.
func TestTools(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m.go": `package main

import "fmt"

func main() {
	fmt.Println(twice(1, 2), twice(3, 4))
}

func twice(a, b int) int {
	fmt.Println(a)
	return 2 * a
}

type T struct{}

func (T) Dead() {}

func unused() {}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(findings(t, dir), "\n")
	wanted := []string{"m.go:18:6: func unused is unused (U1000)", "m.go:9:15: twice - b is unused"}
	if !testing.Short() {
		wanted = append(wanted, "m.go:16:10: unreachable func: T.Dead")
	}
	for _, want := range wanted {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// findings returns what the tools say of the module in dir, a line each. They run at once:
// each has stretches that keep one processor busy.
func findings(t *testing.T, dir string) []string {
	runs := []func() []string{
		func() []string { return tool(t, dir, nil, "staticcheck", "-checks", "inherit,-ST*", "./...") },
		func() []string { return tool(t, dir, nil, "unparam", "-tests=true", "./...") },
	}
	unreachable := make([][]string, len(builds))
	for i, b := range builds {
		if testing.Short() {
			break
		}
		runs = append(runs, func() []string {
			env := []string{"GOOS=" + b.os, "GOARCH=" + b.arch, "CGO_ENABLED=0"}
			unreachable[i] = tool(t, dir, env, "deadcode", "-test", "-tags", b.tags, "./...")
			return nil
		})
	}
	found := make([][]string, len(runs))
	var all sync.WaitGroup
	turns := make(chan bool, min(2, runtime.NumCPU())) // each takes a gigabyte
	for i, run := range runs {
		all.Go(func() {
			turns <- true
			defer func() { <-turns }()
			found[i] = run()
		})
	}
	all.Wait()
	return append(slices.Concat(found...), dead(t, dir, unreachable)...)
}

// tool runs a tool in dir and returns its output by line.
func tool(t *testing.T, dir string, env []string, name string, args ...string) []string {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Errorf("building %s: %v", name, err)
		return nil
	}
	cmd := exec.Command(strings.TrimSpace(string(path)), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) || bad.Len() > 0 && out.Len() == 0 && err != nil {
		t.Errorf("%s: %v\n%s", name, err, bad.String())
		return nil
	}
	var list []string
	for line := range strings.Lines(out.String() + bad.String()) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// builds are the builds that deadcode examines.
var builds = []struct{ os, arch, tags string }{
	{"linux", "amd64", ""},
	{"linux", "amd64", "scope_go,scope_testpoint"},
	{"linux", "amd64", "scope_pure"},
	{"linux", "arm64", ""},
	{"darwin", "arm64", ""},
	{"windows", "amd64", ""},
}

// dead returns the functions that are unreachable in all builds that have their file.
func dead(t *testing.T, dir string, unreachable [][]string) (list []string) {
	said := map[string][]int{}
	for i := range builds {
		for _, f := range unreachable[i] {
			said[f] = append(said[f], i)
		}
	}
	for f, in := range said {
		path, _, _ := strings.Cut(f, ":")
		built := 0
		for _, b := range builds {
			ctx := build.Default
			ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.BuildTags = b.os, b.arch, false, strings.Split(b.tags, ",")
			if ok, err := ctx.MatchFile(filepath.Join(dir, filepath.Dir(path)), filepath.Base(path)); err != nil {
				t.Error(err)
			} else if ok {
				built++
			}
		}
		if built == len(in) {
			list = append(list, f)
		}
	}
	slices.Sort(list)
	return list
}

// TestScopes: scopeview vet finds nothing in this module. With -short, it is left out: it analyses
// all that the packages import.
func TestScopes(t *testing.T) {
	if testing.Short() {
		t.Skip("analyses all packages that record, and what they import")
	}
	self := filepath.Join(t.TempDir(), "scopeview")
	for _, args := range [][]string{{"go", "build", "-o", self, "./cmd/scopeview"}, append([]string{self, "vet"}, users(t)...)} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v\n%s", args[:2], err, out)
		}
	}
}

// users lists the packages of this module that depend on package scope, or whose tests do: other
// packages can't contain such mistakes.
func users(t *testing.T) (list []string) {
	t.Helper()
	const format = `{{$of := .ForTest}}{{if not $of}}{{$of = .ImportPath}}{{end}}{{range .Deps}}{{if eq . "github.com/scopeview/scopeview/scope"}}{{$of}}{{"\n"}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-test", "-f", format, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		list = append(list, strings.TrimSuffix(path, ".test"))
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) < 20 {
		t.Fatalf("only these depend on package scope: %v", list)
	}
	return list
}
