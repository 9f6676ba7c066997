package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/release"
)

// companion is the program with the commands that need large libraries: Parquet's, and those of
// object stores. The tool itself does not link them.
const companion = "scopeview-fleet"

// companion returns a function that passes the arguments, flags included, to a command of the
// companion.
func (c *call) companion(command string) func() error {
	return func() error {
		path, err := findCompanion(c.context())
		if err != nil {
			if slices.Contains(c.args, "-h") || slices.Contains(c.args, "--help") {
				return c.cmd.Help()
			}
			return err
		}
		x := exec.CommandContext(c.context(), path, append([]string{command}, c.args...)...)
		x.Stdin, x.Stdout, x.Stderr = os.Stdin, c.s.out, c.s.err
		x.Cancel = func() error { return x.Process.Signal(os.Interrupt) }
		var failed *exec.ExitError
		if err := x.Run(); errors.As(err, &failed) && failed.ExitCode() > 0 {
			return &exit{failed.ExitCode(), nil} // the companion has printed the reason
		} else if err != nil {
			return fmt.Errorf("running %s: %w", path, err)
		}
		return nil
	}
}

// findCompanion finds the companion of this version, beside this program or in PATH.
func findCompanion(ctx context.Context) (string, error) {
	var path string
	if self, err := os.Executable(); err == nil {
		path, _ = exec.LookPath(filepath.Join(filepath.Dir(self), companion))
	}
	if path == "" {
		var err error
		if path, err = exec.LookPath(companion); err != nil {
			return "", fmt.Errorf("%s is neither beside scopeview nor in PATH: %s", companion, installs())
		}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	if its, own := strings.TrimSpace(string(out)), release.Of(); its != own {
		return "", fmt.Errorf("%s has version %s, scopeview %s: %s", path, its, own, installs())
	}
	return path, nil
}

// installs returns the command that installs the companion.
func installs() string {
	if v := release.Of(); strings.HasPrefix(v, "v") {
		return "go install github.com/scopeview/scopeview/fleet/cmd/" + companion + "@" + v + " installs it"
	}
	return "make fleet builds both in a checkout of scopeview, into bin/"
}

func newParquet(c *call) func() error { return c.companion("parquet") }
