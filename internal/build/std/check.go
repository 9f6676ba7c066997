package std

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/newfile"
)

// Result is the result of testing a hook.
type Result struct {
	Status
	Works bool
}

//go:embed testdata/canary.go testdata/canary_test.go testdata/clobber testdata/through
var canaries embed.FS

// Check tests the hooks: in a directory below dir, it builds programs that cause the hooks'
// events, runs them, and reads their recordings. goTool is the go command, env additional
// environment variables, and module the directory of this module's source, which the
// programs record with.
func Check(ctx context.Context, goTool string, env []string, module, dir string) ([]Result, error) {
	b := builder{ctx: ctx, tool: goTool, module: module, environ: append(os.Environ(), env...)}
	goroot, err := b.env("GOROOT")
	if err != nil {
		return nil, err
	}
	version, err := b.env("GOVERSION")
	if err != nil {
		return nil, err
	}
	files, linked, hooks, err := Patches(goroot, version, append(slices.Clip(Groups), Memory), nil)
	if err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp(dir, "canary"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	if err := b.write(goroot, files, linked); err != nil {
		return nil, err
	}
	said, err := b.run()
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, s := range hooks {
		r := Result{Status: s}
		if r.OK {
			missing := said.missing(s.Name)
			if r.Works = len(missing) == 0; !r.Works {
				r.Why = "it did not record: " + strings.Join(missing, "; ")
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// builder builds the programs.
type builder struct {
	ctx               context.Context
	tool, module, dir string
	environ           []string
}

func (b *builder) env(name string) (string, error) {
	c := exec.CommandContext(b.ctx, b.tool, "env", name)
	c.Env = b.environ
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s env %s: %w; is it a go command?", b.tool, name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// write writes the overlay and the programs.
func (b *builder) write(goroot string, files map[string][]byte, linked []byte) error {
	replace := map[string]string{}
	all := map[string][]byte{"linked.go": linked}
	replace[filepath.Join(b.module, "scope", "hooks", "linked.go")] = filepath.Join(b.dir, "linked.go")
	for p, text := range files {
		all[p] = text
		replace[filepath.Join(goroot, filepath.FromSlash(p))] = filepath.Join(b.dir, filepath.FromSlash(p))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	all["overlay.json"] = overlay
	err = fs.WalkDir(canaries, "testdata", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all["program"+strings.TrimPrefix(p, "testdata")], err = canaries.ReadFile(p)
		return err
	})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(b.module, "go.mod"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(mod), "\n")
	all["program/go.mod"] = []byte("module canary\n" + requirements + "\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => " + b.module + "\n")
	// A module without requirements has no go.sum.
	if all["program/go.sum"], err = os.ReadFile(filepath.Join(b.module, "go.sum")); err != nil && !os.IsNotExist(err) {
		return err
	}
	for p, text := range all {
		p = filepath.Join(b.dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return err
		}
		if err := newfile.Write(p, text); err != nil {
			return err
		}
	}
	return nil
}

// run builds and runs both programs. The tests among them are meant to fail.
func (b *builder) run() (*records, error) {
	overlay := "-overlay=" + filepath.Join(b.dir, "overlay.json")
	program, tests := filepath.Join(b.dir, "canary"), filepath.Join(b.dir, "canary.test")
	// With cgo Go does not detect deadlocks. Loads and stores are reported.
	if err := b.goCommand("build", "-mod=mod", "-tags=netgo,osusergo", "-gcflags=canary=-race -d=checkptr=0", overlay, "-o", program, "."); err != nil {
		return nil, err
	}
	if err := b.goCommand("test", "-mod=mod", "-vet=off", overlay, "-c", "-o", tests, "."); err != nil {
		return nil, err
	}
	t := &records{}
	for i, c := range [][]string{{program}, {tests}, {tests, "-test.run=^$", "-test.bench=.", "-test.benchtime=3x"}} {
		path := filepath.Join(b.dir, fmt.Sprint("trace", i, ".scope"))
		run := exec.CommandContext(b.ctx, c[0], c[1:]...)
		raw := filepath.Join(b.dir, fmt.Sprint("advice", i))
		run.Dir, run.Env = b.dir, append(os.Environ(), "CANARY_TRACE="+path, "SCOPEVIEW=", "SCOPEVIEW_PROPAGATE=1", "SCOPEVIEW_ADVISE="+raw, "SCOPEVIEW_ADVISE_SHARE=1")
		if out, err := run.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", c[0], err, out)
		}
		if _, err := t.read(path); err != nil {
			return nil, err
		}
		if err := t.readRaw(raw + ".raw"); err != nil {
			return nil, err
		}
	}
	for _, end := range []string{"return", "exit", "deadlock", "profiles"} {
		if err := b.end(t, program, end); err != nil {
			return nil, err
		}
	}
	return t, b.unwind(t, overlay)
}

// end runs a program that only ends, in one way, and reports whether that closed the
// recording requested by the environment.
func (b *builder) end(t *records, program, how string) error {
	path := filepath.Join(b.dir, how+".scope")
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	run := exec.CommandContext(ctx, program)
	run.Dir, run.Env = b.dir, append(os.Environ(), "CANARY_END="+how, "SCOPEVIEW="+path)
	out, err := run.CombinedOutput()
	if err != nil && how != "deadlock" { // without the hook a deadlock does not end the program
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	closed, err := t.read(path)
	if err != nil {
		return err
	}
	if closed {
		t.lines = append(t.lines, "closed by "+how)
	}
	return nil
}

// unwind runs programs, with states, in which assembly or C changes the frame pointer. They
// must not crash.
func (b *builder) unwind(t *records, overlay string) error {
	for _, name := range []string{"clobber", "through"} {
		if name == "through" && !b.compilesC() {
			t.lines = append(t.lines, "task main.recovered is not tried: there is no C compiler")
			continue
		}
		program, path := filepath.Join(b.dir, name), filepath.Join(b.dir, name+".scope")
		if err := b.goCommand("build", "-mod=mod", overlay, "-o", program, "./"+name); err != nil {
			return err
		}
		run := exec.CommandContext(b.ctx, program)
		run.Dir, run.Env = b.dir, append(os.Environ(), "SCOPEVIEW="+path, "SCOPEVIEW_STATES=1", "GODEBUG=")
		if run.Run() != nil {
			continue // it crashed before its last scope
		}
		if _, err := t.read(path); err != nil {
			return err
		}
	}
	return nil
}

// compilesC reports whether the go command can build programs with C code here.
func (b *builder) compilesC() bool {
	on, err := b.env("CGO_ENABLED")
	if err != nil || on != "1" {
		return false
	}
	cc, err := b.env("CC")
	if err != nil {
		return false
	}
	_, err = exec.LookPath(cc)
	return err == nil
}

func (b *builder) goCommand(args ...string) error {
	c := exec.CommandContext(b.ctx, b.tool, args...)
	c.Dir = filepath.Join(b.dir, "program")
	c.Env = append(slices.Clip(b.environ), "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w; the hooks do not build: %s", b.tool, args[0], err, out)
	}
	return nil
}
