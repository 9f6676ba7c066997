package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
)

// build is the input and the output of the compilations.
type build struct {
	Options
	names   map[string]string // of the packages in the build, by import path
	mains   []string          // the commands' import paths
	flagged []string          // the packages compiled with flags
	wanted  *wanted
	with    *said // with the profile
	without *said
}

func newBuild(ctx context.Context, o Options, hot []pgo.Edge) (*build, error) {
	if len(o.Packages) == 0 {
		o.Packages = []string{"."}
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err == nil {
		o.Profile, err = filepath.Abs(o.Profile)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the packages to build: %w", err)
	}
	b := &build{Options: o, names: map[string]string{}, wanted: newWanted(hot)}
	if err := b.list(ctx); err != nil {
		return nil, err
	}
	flagged := map[string]bool{}
	for _, e := range hot {
		for _, f := range []string{e.Caller, e.Callee} {
			for _, p := range b.packages(f) {
				flagged[p] = true
			}
		}
	}
	for p := range flagged {
		b.flagged = append(b.flagged, p)
	}
	slices.Sort(b.flagged)
	return b, nil
}

// packages returns the import paths of the packages that a function may be in: several for a
// function of main, none if nothing imports its package.
func (b *build) packages(function string) []string {
	path, _ := split(function)
	if path == "main" {
		return b.mains
	}
	if _, ok := b.names[path]; !ok {
		return nil
	}
	return []string{path}
}

// list determines which packages are built.
func (b *build) list(ctx context.Context) error {
	args := append(append([]string{"list"}, b.Flags...), "-pgo=off", "-deps", "-f", "{{.ImportPath}} {{.Name}}")
	cmd := b.command(ctx, args)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return b.failed(ctx, err, problem.String())
	}
	for line := range strings.Lines(out.String()) {
		path, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		b.names[path] = name
		if name == "main" {
			b.mains = append(b.mains, path)
		}
	}
	return nil
}

func (b *build) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append(append(args, "--"), b.Packages...)...)
	cmd.Dir = b.Dir
	return cmd
}

// run compiles with the profile, then without.
func (b *build) run(ctx context.Context) (err error) {
	b.with, b.without = newSaid(b.Dir, b.wanted), newSaid(b.Dir, b.wanted)
	if len(b.flagged) == 0 {
		return nil
	}
	if err = b.compile(ctx, b.with, "-pgo="+b.Profile, "-m=2 -d=pgodebug=3"); err == nil {
		err = b.compile(ctx, b.without, "-pgo=off", "-m=2")
	}
	return err
}

// compile runs the compiler by the go command, and parses its output. It runs go build, though
// that links: go list -export ignores profiles if a package is not in the build cache.
func (b *build) compile(ctx context.Context, s *said, profile, flags string) error {
	args := append(append([]string{"build"}, b.Flags...), profile, "-o", os.DevNull)
	for _, p := range b.flagged {
		args = append(args, "-gcflags="+p+"="+flags)
	}
	cmd := b.command(ctx, args)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	read := make(chan error, 1)
	go func() {
		err := s.read(r)
		r.CloseWithError(err)
		read <- err
	}()
	err := cmd.Run()
	w.Close()
	if problem := <-read; problem != nil {
		return fmt.Errorf("reading the compiler's output: %w", problem)
	}
	if err != nil {
		return b.failed(ctx, err, "")
	}
	return nil
}

// failed returns the error for a failed go command, with the command's output if there is
// some, or else with the output of a go build without compiler flags.
func (b *build) failed(ctx context.Context, err error, words string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("running the compiler needs the go command: %w", err)
	}
	if words == "" {
		out, _ := b.command(ctx, append(append([]string{"build"}, b.Flags...), "-pgo="+b.Profile, "-o", os.DevNull)).CombinedOutput()
		words = string(out)
	}
	lines := strings.Split(strings.TrimSpace(words), "\n")
	if len(lines) > 5 {
		lines = append(lines[:5], "…")
	}
	return fmt.Errorf("the packages %s don't build in %s: %w:\n%s", strings.Join(b.Packages, " "), b.Dir, err, strings.Join(lines, "\n"))
}
