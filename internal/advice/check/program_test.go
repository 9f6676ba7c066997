package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/runs"
)

// patience is how long a program may run: one that hangs is not waited for.
const patience = 2 * time.Minute

// built is the tool, made once, and where programs are built.
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

// tool builds the tool, if that was not done yet.
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

// goes has the go command do something that it can.
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

// program is one of the three programs of a diagnostic, as a module of its own.
type program struct{ dir, main string }

// source makes a module of one of the programs.
func source(t *testing.T, id, which string) *program {
	t.Helper()
	p := &program{dir: filepath.Join(built.dir, id, which)}
	p.main = filepath.Join(p.dir, "main.go")
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", id, which))); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.dir, "go.mod"), module)
	return p
}

// module is the go.mod of each program. It may use packages of scopeview, as custom containers do.
var module = func() string {
	text := "module example.com/program\n\ngo 1.25\n"
	if here, err := filepath.Abs("../../.."); err == nil {
		text += "\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => " + strconv.Quote(here) + "\n"
	}
	return text
}()

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// counted builds a program for advice, runs it, and returns what it prints and leaves.
func (p *program) counted(t *testing.T, group string) (out string, r []row.Run) {
	t.Helper()
	bin, path := filepath.Join(p.dir, "counted"), filepath.Join(p.dir, "advice")
	command(t, p.dir, nil, built.tool, "build", "--advise="+group, "-o", bin, ".")
	out = command(t, p.dir, []string{"SCOPEVIEW_ADVISE=" + path}, bin)
	f, err := os.Open(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, notes, err := row.Read(f)
	if err != nil || len(notes) > 0 || len(r) != 1 {
		t.Fatalf("%s: %d runs, notes %q, error %v", path, len(r), notes, err)
	}
	return out, r
}

// plain builds a program as it is, but for what tells how many bytes it allocates.
func (p *program) plain(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.main)
	if err != nil {
		t.Fatal(err)
	}
	dir := p.dir + "-plain"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(text, []byte("\nfunc main() {")) != 1 {
		t.Fatalf("%s has no func main() { that begins a line", p.main)
	}
	write(t, filepath.Join(dir, "main.go"), strings.Replace(string(text), "\nfunc main() {", "\nfunc program() {", 1))
	write(t, filepath.Join(dir, "measured.go"), measured)
	write(t, filepath.Join(dir, "go.mod"), module)
	bin := filepath.Join(dir, "plain")
	goes(t, dir, "build", "-mod=mod", "-o", bin, ".")
	return bin
}

// measured is the function main of a program that is measured.
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

// took is what a plain run takes.
type took struct{ cpu, wall, bytes float64 }

// run runs a program that was built plain.
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

// advised is the best of what a rule finds, and whether that is advice.
func advised(rule *advice.Rule, all []row.Run) (best advice.Judgement, ok bool) {
	for i := range all {
		for j := range all[i].Rows {
			r := advice.Row{Row: all[i].Rows[j], Runs: 1, NS: float64(all[i].NS)}
			if !judges(rule, r.Kind) {
				continue
			}
			if d := rule.Judge(&r, advice.BuiltIn()); (d.NS > least || d.Bytes > leastBytes) && (!ok || d.NS > best.NS || d.NS == best.NS && d.Bytes > best.Bytes) {
				best, ok = d, true
			}
		}
	}
	return best, ok
}

const (
	least      = 5e6
	leastBytes = 1 << 20
)

func judges(rule *advice.Rule, k row.Kind) bool {
	for _, of := range rule.Kinds {
		if of == k {
			return true
		}
	}
	return false
}
