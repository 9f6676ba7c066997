package ab

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Build is one of the two builds.
type Build struct {
	Name     string `json:"name" head:"build" says:"'A' or 'B'"`
	Profile  string `json:"profile" says:"its file, or 'off'"`
	Took     int64  `json:"build_ns" head:"build time" unit:"ns" says:"time that the go command took"`
	Packages int    `json:"packages" unit:"count"`
	// Compiled counts the packages that go build compiled; the others were in its cache. It is null
	// with Test, because go test does not report them.
	Compiled *int  `json:"compiled" unit:"count" says:"packages that were not in the build cache; null: not known"`
	Size     int64 `json:"size" unit:"bytes" says:"of the executable"`

	path     string
	contents map[string]string // hashes of the compiler's output, by package
}

// built makes both builds below dir. home is the directory to run them in.
func built(ctx context.Context, o *Options, dir string) (r *Result, home string, err error) {
	if home, err = homeOf(ctx, o); err != nil {
		return nil, "", err
	}
	profile := o.Profile
	if profile == "" {
		profile = filepath.Join(home, "default.pgo")
		if _, err := os.Stat(profile); err != nil {
			return nil, "", fmt.Errorf("package %s has no profile of its own: %w; name the one to build with", o.Package, err)
		}
	}
	r = &Result{Package: o.Package, Test: o.Test, Args: append([]string{}, o.Args...), Runs: o.Runs}
	for i, profile := range []string{o.Against, profile} {
		b, err := build(ctx, o, names[i], profile, dir)
		if err != nil {
			return nil, "", err
		}
		r.Builds = append(r.Builds, b)
	}
	r.Changed = changed(r.Builds[0].contents, r.Builds[1].contents)
	r.Identical = r.Changed == 0
	if !o.Test {
		home = o.Dir
	}
	return r, home, nil
}

// homeOf returns the directory of the package. It fails unless the pattern matches exactly one.
func homeOf(ctx context.Context, o *Options) (string, error) {
	out, _, err := goTool(ctx, o.Dir, slices.Concat([]string{"list", "-f", "{{.Name}} {{.Dir}}"}, o.Flags, []string{"--", o.Package})...)
	if err != nil {
		return "", fmt.Errorf("finding package %s: %w", o.Package, err)
	}
	name, dir, _ := strings.Cut(strings.TrimSpace(out), " ")
	switch {
	case strings.Contains(dir, "\n"):
		return "", fmt.Errorf("%s is %d packages; name one", o.Package, strings.Count(dir, "\n")+1)
	case name != "main" && !o.Test:
		return "", fmt.Errorf("package %s is %s, not a program: name a package main, or build its tests", o.Package, name)
	}
	return dir, nil
}

// build makes one build below dir.
func build(ctx context.Context, o *Options, name, profile, dir string) (*Build, error) {
	b := &Build{Name: name, Profile: profile, path: filepath.Join(dir, name, "program.exe")}
	flag := "-pgo=off"
	if profile != Off {
		path, err := filepath.Abs(profile)
		if err != nil {
			return nil, fmt.Errorf("finding the profile %s: %w", profile, err)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("the profile of build %s: %w", name, err)
		}
		flag = "-pgo=" + path
	}
	args, listed := []string{"build", "-v"}, []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.BuildID}}", flag}
	if o.Test {
		args, listed = []string{"test", "-c"}, append(listed, "-test")
	}
	if err := os.Mkdir(filepath.Dir(b.path), 0o700); err != nil {
		return nil, fmt.Errorf("creating a directory for build %s: %w", name, err)
	}
	begin := time.Now()
	_, compiled, err := goTool(ctx, o.Dir, slices.Concat(args, o.Flags, []string{flag, "-o", b.path, "--", o.Package})...)
	if err != nil {
		return nil, fmt.Errorf("building %s with %s: %w", o.Package, flag, err)
	}
	b.Took = int64(time.Since(begin))
	if n := len(compiled); !o.Test {
		b.Compiled = &n
	}
	info, err := os.Stat(b.path)
	if err != nil {
		return nil, fmt.Errorf("building package %s produced no executable: %w", o.Package, err)
	}
	b.Size = info.Size()
	list, _, err := goTool(ctx, o.Dir, slices.Concat(listed, o.Flags, []string{"--", o.Package})...)
	if err != nil {
		return nil, fmt.Errorf("listing the packages of build %s: %w", name, err)
	}
	b.contents = contents(list)
	b.Packages = len(b.contents)
	return b, nil
}

// contents reads the hash of the compiler's output for each package. A build ID holds the hash of
// the inputs before its last slash, and that of the output after it. For a package that also exists
// in a test variant, path [tests], it reads the variant's.
func contents(list string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(list) {
		path, id, _ := strings.Cut(strings.TrimSpace(line), "\t")
		path, _, tests := strings.Cut(path, " [")
		if _, has := m[path]; path != "unsafe" && (tests || !has) { // unsafe has nothing in it
			m[path] = id[strings.LastIndexByte(id, '/')+1:]
		}
	}
	return m
}

// changed counts the packages for which the compiler's output differs.
func changed(a, b map[string]string) (n int) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for pkg := range all {
		if a[pkg] != b[pkg] {
			n++
		}
	}
	return n
}

// goTool runs the go command in a directory. It returns the standard output, and the packages
// that -v lists as compiled.
func goTool(ctx context.Context, dir string, args ...string) (out string, compiled []string, err error) {
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second // to remove its own files
	err = c.Run()
	var said []string
	for line := range strings.Lines(stderr.String()) {
		if line = strings.TrimSpace(line); strings.ContainsAny(line, " \t") {
			said = append(said, line)
		} else if line != "" {
			compiled = append(compiled, line)
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case err != nil:
		return "", nil, fmt.Errorf("go %s: %w: %s", args[0], err, strings.Join(said, "\n"))
	}
	return stdout.String(), compiled, nil
}
