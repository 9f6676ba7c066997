package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runnerPackage is the package built for each revision.
const runnerPackage = "github.com/scopeview/scopeview/bench/hot/runner"

// revision is a checkout with the harness of this one.
type revision struct {
	name string
	dir  string // of its bench
}

// revisions exports base below the harness's directory and replaces its harness by this one,
// so that the measuring code is the same.
func (b *bench) revisions(base string) (old, current revision, err error) {
	root, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return old, current, err
	}
	commit, err := output("", "git", "rev-parse", "--verify", "--end-of-options", base+"^{commit}")
	if err != nil {
		return old, current, err
	}
	dir := filepath.Join(b.dir, "base")
	tar := dir + ".tar"
	if err := os.Mkdir(dir, 0o700); err != nil {
		return old, current, fmt.Errorf("no directory for %s: %w", base, err)
	}
	if _, err := output(root, "git", "archive", "--format=tar", "-o", tar, commit); err != nil {
		return old, current, err
	}
	if _, err := output("", "tar", "-xf", tar, "-C", dir); err != nil {
		return old, current, err
	}
	theirs, ours := filepath.Join(dir, "bench"), filepath.Join(root, "bench")
	if err := os.RemoveAll(theirs); err != nil {
		return old, current, fmt.Errorf("the harness of %s can't be replaced: %w", base, err)
	}
	if err := os.CopyFS(theirs, os.DirFS(ours)); err != nil {
		return old, current, fmt.Errorf("the harness can't be copied: %w", err)
	}
	name := fmt.Sprintf("%s (%.10s)", base, commit)
	return revision{name, theirs}, revision{"the working tree", ours}, nil
}

// buildPair builds the runner of both. layout is the seed of the linker's random order of
// functions.
func (b *bench) buildPair(old, current revision, tag string, layout int) (bins [2]string, err error) {
	// The old revision's requirements may differ from those of this harness.
	mod := [2]string{"-mod=mod", "-mod=readonly"}
	for i, r := range []revision{old, current} {
		bins[i] = filepath.Join(b.dir, fmt.Sprintf("runner-%d-%s", i, tag))
		_, err := output(r.dir, "go", "build", mod[i], "-buildvcs=false", "-trimpath", "-tags", tag,
			fmt.Sprintf("-ldflags=-randlayout=%d", layout), "-o", bins[i], runnerPackage)
		if err != nil {
			return bins, fmt.Errorf("the runner can't be built against %s: %w", r.name, err)
		}
	}
	return bins, nil
}

// output runs a command in a directory ("": this one).
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
