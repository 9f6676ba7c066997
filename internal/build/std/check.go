package std

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Result is whether a hook delivers what it is for.
type Result struct {
	Status
	Works bool
}

//go:embed testdata/canary.go testdata/canary_test.go
var canaries embed.FS

// Check builds, in a directory of its own below dir, programs that do what the hooks are to
// tell of, runs them, and looks into what they recorded. goTool is the go command, and
// module the directory of this module's source, which is what the programs record with.
func Check(ctx context.Context, goTool, module, dir string) ([]Result, error) {
	b := builder{ctx: ctx, tool: goTool, module: module}
	goroot, err := b.env("GOROOT")
	if err != nil {
		return nil, err
	}
	version, err := b.env("GOVERSION")
	if err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp(dir, "canary"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	modules, err := b.env("GOMODCACHE")
	if err != nil {
		return nil, err
	}
	if root, err := Root(goroot, modules, b.dir); err != nil {
		return nil, err
	} else if root != goroot {
		goroot, b.tool = root, filepath.Join(root, "bin", "go")
		b.more = []string{"GOROOT=" + root, "GOTOOLCHAIN=local"}
	}
	files, linked, hooks, err := Patches(goroot, version, nil)
	if err != nil {
		return nil, err
	}
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
				r.Why = "it did not tell: " + strings.Join(missing, "; ")
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// Root is goroot by a path that an overlay may replace files of. The go command refuses those
// below the cache of modules, where it has the toolchains that it fetched: then Root is a link
// in dir. Builds are to run its bin/go, with GOROOT=root and GOTOOLCHAIN=local.
func Root(goroot, modules, dir string) (root string, err error) {
	if rel, err := filepath.Rel(modules, goroot); err != nil || modules == "" || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return goroot, nil
	}
	root = filepath.Join(dir, filepath.Base(goroot))
	if was, err := os.Readlink(root); err == nil && was == goroot {
		return root, nil
	}
	if err := os.Symlink(goroot, root); err != nil {
		return "", fmt.Errorf("%w: the standard library lies in the cache of modules, where nothing can be replaced; install this Go version elsewhere", err)
	}
	return root, nil
}

// builder builds the programs.
type builder struct {
	more              []string // variables of the environment
	ctx               context.Context
	tool, module, dir string
}

func (b *builder) env(name string) (string, error) {
	out, err := exec.CommandContext(b.ctx, b.tool, "env", name).Output()
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
	for _, name := range []string{"canary.go", "canary_test.go"} {
		if all["program/"+name], err = canaries.ReadFile("testdata/" + name); err != nil {
			return err
		}
	}
	mod, err := os.ReadFile(filepath.Join(b.module, "go.mod"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(mod), "\n")
	all["program/go.mod"] = []byte("module canary\n" + requirements + "\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => " + b.module + "\n")
	if all["program/go.sum"], err = os.ReadFile(filepath.Join(b.module, "go.sum")); err != nil {
		return err
	}
	for p, text := range all {
		p = filepath.Join(b.dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run builds and runs both programs. That the tests among them fail is meant.
func (b *builder) run() (*told, error) {
	overlay := "-overlay=" + filepath.Join(b.dir, "overlay.json")
	program, tests := filepath.Join(b.dir, "canary"), filepath.Join(b.dir, "canary.test")
	if err := b.goCommand("build", "-mod=mod", overlay, "-o", program, "."); err != nil {
		return nil, err
	}
	if err := b.goCommand("test", "-mod=mod", "-vet=off", overlay, "-c", "-o", tests, "."); err != nil {
		return nil, err
	}
	t := &told{}
	for i, c := range [][]string{{program}, {tests}, {tests, "-test.run=^$", "-test.bench=.", "-test.benchtime=3x"}} {
		path := filepath.Join(b.dir, fmt.Sprint("trace", i, ".scope"))
		run := exec.CommandContext(b.ctx, c[0], c[1:]...)
		run.Dir, run.Env = b.dir, append(os.Environ(), "CANARY_TRACE="+path, "SCOPEVIEW=")
		if out, err := run.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", c[0], err, out)
		}
		if err := t.read(path); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (b *builder) goCommand(args ...string) error {
	c := exec.CommandContext(b.ctx, b.tool, args...)
	c.Dir = filepath.Join(b.dir, "program")
	c.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), b.more...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w; the hooks do not build: %s", b.tool, args[0], err, out)
	}
	return nil
}
