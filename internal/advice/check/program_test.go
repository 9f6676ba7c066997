package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// patience is the maximum time of a program.
const patience = 2 * time.Minute

// built has the tool, built once, and the directory for programs.
var built struct{ dir, tool string }

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "scopeview-advice-")
	if err != nil {
		panic(err)
	}
	built.dir, built.tool = dir, filepath.Join(dir, "scopeview")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// tool builds the tool, unless that was done.
func tool(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs ", err)
	}
	if _, err := os.Stat(built.tool); err != nil {
		goes(t, "../../..", "build", "-buildvcs=false", "-o", built.tool, "./cmd/scopeview")
	}
}

// goes runs a go command that must succeed.
func goes(t *testing.T, dir string, args ...string) {
	t.Helper()
	command(t, dir, nil, "go", args...)
}

// command runs a command that must succeed, and returns what it prints.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(append(os.Environ(), "SCOPEVIEW=", "GOWORK=off", "SCOPEVIEW_CACHE="+filepath.Join(built.dir, "cache")), env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// program is one of the three programs of a diagnostic, as its own module.
type program struct{ dir, main, text string }

// source creates a module from one of the programs.
func source(t *testing.T, id, which string) *program {
	t.Helper()
	p := &program{dir: filepath.Join(built.dir, id, which)}
	p.main = filepath.Join(p.dir, "main.go")
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", id, which))); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	text := filetest.Read(t, p.main)
	p.text = string(text)
	p.module(t, p.dir)
	return p
}

// module makes a directory a module. It may use packages of scopeview, as custom containers
// do.
func (p *program) module(t *testing.T, dir string) {
	t.Helper()
	const ours = "github.com/scopeview/scopeview"
	text := "module example.com/program\n\ngo 1.25\n"
	uses := strings.Contains(p.text, strconv.Quote(ours)[:len(ours)+1])
	if uses {
		here, err := filepath.Abs("../../..")
		if err != nil {
			t.Fatal(err)
		}
		text += "\nrequire " + ours + " v0.0.0\n\nreplace " + ours + " => " + strconv.Quote(here) + "\n"
	}
	write(t, filepath.Join(dir, "go.mod"), text)
	if uses {
		goes(t, dir, "mod", "tidy")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	filetest.Write(t, path, []byte(text))
}

// flags returns the flags of a counting build for a rule.
func flags(r *advice.Rule) []string {
	list := []string{"--advise=" + r.Group}
	if slices.Contains(r.Kinds, row.Line) || slices.Contains(r.Kinds, row.Scan) || slices.Contains(r.Kinds, row.Mutex) {
		list = append(list, "--memory")
	}
	return list
}

// counted builds a program with flags for advice, runs it, and returns its output and the
// advice.
func (p *program) counted(t *testing.T, flags []string) (out string, r *advice.Report) {
	t.Helper()
	bin, path := filepath.Join(p.dir, "counted"), filepath.Join(p.dir, "advice")
	command(t, p.dir, nil, built.tool, append(append([]string{"build"}, flags...), "-o", bin, ".")...)
	out = command(t, p.dir, []string{"SCOPEVIEW_ADVISE=" + path}, bin)
	r = report(t, path+".raw")
	for _, n := range append(r.Notes, r.Lost...) {
		t.Logf("%s: %s", p.dir, n)
	}
	return out, r
}

// report returns the advice of a raw file.
func report(t *testing.T, raw string) *advice.Report {
	t.Helper()
	data, err := advice.Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	params := advice.DefaultParams()
	params.Count = 0
	return advice.Of(data, params)
}

// plain builds a program unchanged, except for printing how many bytes it allocates.
func (p *program) plain(t *testing.T) string {
	t.Helper()
	dir := p.dir + "-plain"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const main = "\nfunc main() {"
	if strings.Count(p.text, main) != 1 {
		t.Fatalf("%s has no func main() { that begins a line", p.main)
	}
	write(t, filepath.Join(dir, "main.go"), strings.Replace(p.text, main, "\nfunc program() {", 1))
	write(t, filepath.Join(dir, "measured.go"), measured)
	p.module(t, dir)
	bin := filepath.Join(dir, "plain")
	goes(t, dir, "build", "-o", bin, ".")
	return bin
}

// measured is the main function of a measured program.
const measured = `package main

import (
	"os"
	"runtime"
	"strconv"
)

func main() {
	program()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_ = os.WriteFile(os.Getenv("ALLOCATED"), []byte(strconv.FormatUint(m.TotalAlloc, 10)), 0o600)
}
`

// took is the cost of a plain run.
type took struct{ cpu, wall, bytes float64 }

// run runs a plain build.
func run(ctx context.Context, bin string) (out string, k took, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, bin)
	var text bytes.Buffer
	path := bin + ".allocated"
	c.Dir, c.Stdout, c.Env = filepath.Dir(bin), &text, append(os.Environ(), "ALLOCATED="+path)
	o, err := runs.Once(c)
	if err != nil {
		return "", k, fmt.Errorf("a run of %s failed: %w", bin, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", k, err
	}
	k = took{cpu: float64(o.User + o.System), wall: float64(o.Wall)}
	k.bytes, err = strconv.ParseFloat(string(b), 64)
	return text.String(), k, err
}

// advised returns a report's advice of a diagnostic: the sums of the findings, and one of
// their texts.
func advised(rule *advice.Rule, r *advice.Report) (of advice.Judgement, ok bool) {
	for _, f := range r.Findings {
		if f.ID == rule.ID {
			of.NS, of.Bytes = of.NS+float64(f.NS), of.Bytes+float64(f.Bytes)
			if !ok {
				of.Advice, of.Stoppers = f.Advice+" at "+f.Site, f.Stoppers
			}
			ok = true
		}
	}
	return of, ok
}

// TestExample: the program of examples/containers gets its intended advice, and once fixed
// it does not.
func TestExample(t *testing.T) {
	tool(t)
	dir, bin := filepath.Join("..", "..", "..", "examples", "containers"), filepath.Join(built.dir, "example")
	command(t, dir, nil, built.tool, "build", "--advise="+advice.Containers, "-o", bin, ".")
	for _, c := range []struct {
		args []string
		want []string // expected advice and container
	}{
		{nil, []string{"custom-inefficient-hash Table", "custom-too-small Ring", "custom-too-small Table"}},
		{[]string{"-mended"}, nil},
	} {
		path := filepath.Join(built.dir, "example-advice")
		command(t, dir, []string{"SCOPEVIEW_ADVISE=" + path}, bin, c.args...)
		var got []string
		for _, f := range report(t, path+".raw").Findings {
			if strings.HasPrefix(f.ID, "custom-") {
				got = append(got, f.ID+" "+f.Type)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q: advised is %q, want %q", c.args, got, c.want)
		}
	}
}
